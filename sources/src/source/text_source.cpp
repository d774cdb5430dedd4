#include "source/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "npz/reader.hpp"
#include "rutherford_boeing/header.hpp"
#include "source/archive.hpp"
#include "source/inflate.hpp"
#include "source/source_name.hpp"
#include "spmvpack/container/base/text.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {

std::shared_ptr<ByteStream> open_text(const std::shared_ptr<ByteStream>& file) {
  std::shared_ptr<ByteStream> text = inflate(file);
  if (!is_tar(*text) && (!is_zip(*text) || is_npz(*text))) return text;
  MemberChoice choice;
  if (file->rewind()) {
    text.reset();  // its window or dictionary may be large
    choice = find_member(inflate(file), std::string(base_name(without_archive_ending(file->name()))));
    file->rewind();
    text = inflate(file);
  }
  return open_member(text, choice);
}

TextFormat format_of(ByteStream& text) {
  constexpr std::size_t enough = 1024;  // for the lines of a Rutherford-Boeing header
  const std::string_view start = text.peek(enough);
  // The Matrix Market reader has the best errors for an empty text or a faulty banner.
  if (start.empty() || start.starts_with('%')) return TextFormat::matrix_market;
  if (is_rutherford_boeing(start)) return TextFormat::rutherford_boeing;
  if (is_zip(text))
    throw Error(errc::unsupported, "a zip archive in an archive, and not a sparse matrix of SciPy", text.name(),
                "extract the matrix, and give that");
  const std::string line(start.substr(0, start.find('\n')));
  if (start.size() < enough) {  // if there is damage, that is a better error than the text before it
    std::string rest(enough, '\0');
    while (text.read(rest) != 0) continue;
  }
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // invisible in a message
  if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF"))
    throw Error(errc::bad_input,
                fmt::format("text in UTF-16 (it begins with {})", line[0] == '\xFF' ? "FF FE" : "FE FF"),
                text.name() + ":1:1", "convert it: iconv -f UTF-16 -t UTF-8");
  if (line.starts_with(byte_order_mark))
    throw Error(errc::bad_input, "a byte order mark (EF BB BF) before the text", text.name() + ":1:1",
                "remove it: tail -c +4");
  throw Error(
      errc::bad_input,
      fmt::format("found '{}', expected a matrix: neither the banner '%%MatrixMarket' nor a Harwell-Boeing or "
                  "Rutherford-Boeing header",
                  escape(line, 40)),
      text.name() + ":1:1",
      "give a Matrix Market, Harwell-Boeing or Rutherford-Boeing file, plain, .gz, .zst, .bz2, .xz or in a tar or "
      "zip archive, a sparse matrix of SciPy (.npz), or a container (.spmvc)");
}

}  // namespace spmvpack::sources
