/// spmvpack verify: checks a container, and compares it with a matrix.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/program_options/value_semantic.hpp>
#include <optional>

#include "commands/command.hpp"
#include "output.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace verify_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()("against", po::value<std::string>()->value_name("A.mtx"),
                        "also compare with this matrix, bit for bit");
}

std::string details() {
  return "Reads every byte of A.spmvc and checks the tables, the checksum of every block,\n"
         "the structure of every part, and that the matrix has the digest in the header.\n"
         "A^T, if A.spmvc has it, is compared with A's transpose, bit for bit. For a\n"
         "rank's share, the lists of ghosts and rows are also checked.\n"
         "--against takes any source that 'encode' accepts; its values are first rounded\n"
         "to the container's value type. A.spmvc may be -, for standard input.\n\n"
         "Example:\n"
         "  spmvpack verify A.spmvc --against A.mtx.gz\n";
}

/// The value of an entry, if there is one.
template <class T>
std::optional<T> value_at(const CsrView& a, std::uint64_t row, std::uint64_t col) {
  const std::uint32_t *begin = a.col_idx() + a.row_ptr(row), *const end = a.col_idx() + a.row_ptr(row + 1);
  begin = std::lower_bound(begin, end, col);
  if (begin == end || *begin != col) return std::nullopt;
  return a.values<T>()[begin - a.col_idx()];
}

template <class T>
bool same_bits(const std::optional<T>& a, const std::optional<T>& b) {
  const auto bits = [](const std::optional<T>& value) { return std::bit_cast<bits_of<T>>(value.value_or(T{})); };
  return a.has_value() == b.has_value() && bits(a) == bits(b);
}

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? value_text(*value) : "absent";
}

/// How many entries of `a` and `b`, which have the same sizes and values T, differ, and the first of them. If the
/// source `b` is `mirrored`, its file has no entries above the diagonal: one there is counted only if the one that it
/// mirrors, which the file has, is the same.
template <class T>
std::string different_entries(const CsrView& a, const CsrView& b, bool mirrored) {
  constexpr std::uint64_t most = 5;
  std::uint64_t count = 0;
  std::string shown;
  for (std::uint64_t i = 0; i < a.rows(); ++i) {
    std::uint64_t ka = a.row_ptr(i), kb = b.row_ptr(i);
    const std::uint64_t end_a = a.row_ptr(i + 1), end_b = b.row_ptr(i + 1);
    while (ka < end_a || kb < end_b) {
      const std::uint64_t col_a = ka < end_a ? a.col_idx()[ka] : a.cols();
      const std::uint64_t col_b = kb < end_b ? b.col_idx()[kb] : b.cols();
      const std::uint64_t j = std::min(col_a, col_b);
      const auto va = col_a == j ? std::optional(a.values<T>()[ka++]) : std::nullopt;
      const auto vb = col_b == j ? std::optional(b.values<T>()[kb++]) : std::nullopt;
      if (same_bits(va, vb)) continue;
      if (mirrored && j > i && !same_bits(value_at<T>(a, j, i), value_at<T>(b, j, i))) continue;
      if (count++ < most)
        shown +=
            fmt::format("{}({}, {}) is {}, not {}", shown.empty() ? "" : "; ", i + 1, j + 1, text_of(va), text_of(vb));
    }
  }
  return fmt::format("{} {}: {}{}", counted(count, "entry", "entries"), count == 1 ? "differs" : "differ", shown,
                     count > most ? "; ..." : "");
}

/// How `a` differs from the matrix of `source`, in words. It does.
std::string difference(const CsrView& a, const SourceMatrix& source) {
  const CsrView b = source.matrix;
  if (a.rows() != b.rows() || a.cols() != b.cols())
    return fmt::format("it is {} x {}, the other is {} x {}", a.rows(), a.cols(), b.rows(), b.cols());
  std::string text;
  dispatch_any(a.value_type(),
               [&]<class T>(T) { text = different_entries<T>(a, b, source.symmetry != Symmetry::general); });
  return text;
}

std::string parts_text(std::span<const PartInfo> parts) {
  return parts.size() == 1 ? "1 part, layout " + parts[0].layout : counted(parts.size(), "part");
}

std::string_view rounded_text(ValueType type) {
  return type == ValueType::f32 ? " rounded to f32" : type == ValueType::c64 ? " rounded to c64" : "";
}

void run(const Invocation& invocation) {
  if (invocation.options.count("against") != 0) refuse_same_input(invocation.argument, invocation.text("against"));
  const Container container = sources::open_container(invocation.argument, invocation.memory_limit);
  const auto load = invocation.common<LoadOptions>();
  container.check_blocks(load);
  const CsrMatrix matrix = unpack(container, load);
  const bool transpose = !container.parts(format::Role::transpose).empty();
  if (transpose) static_cast<void>(unpack(container, load, format::Role::transpose));
  const std::shared_ptr<const Share> share = read_share(container, load);
  static_cast<void>(container.provenance());
  std::uint64_t blocks = 0;
  for (const SectionInfo& section : container.sections()) blocks += section.block_count;

  std::string text = fmt::format(
      "{}: ok\n"
      "  checksums  header, tables and {} of {}\n"
      "  structure  {}\n"
      "  digest     {}\n",
      escape(container.name(), 4096), counted(blocks, "block"), counted(container.sections().size(), "section"),
      parts_text(container.parts(format::Role::a)), container.facts().digest.to_string());
  if (share)
    text += fmt::format("  share      {}; {}\n", to_text(share->facts), counted(share->ghosts.size(), "ghost"));
  if (transpose)
    text += fmt::format("  transpose  {}: A^T bit for bit\n", parts_text(container.parts(format::Role::transpose)));

  if (invocation.options.count("against") != 0) {
    const std::string& other = invocation.text("against");
    auto options = invocation.common<sources::SourceOptions>();
    options.value_type = container.facts().value_type;
    const SourceMatrix source = sources::read_matrix(other, options);
    print_warnings(source);
    if (!equal_bits(matrix, source.matrix, invocation.threads))
      throw Error(errc::mismatch, fmt::format("not the matrix in {}: {}", other, difference(matrix, source)),
                  container.name(), "encode it again from its source");
    text += fmt::format("  matrix     {}, bit for bit as in {}{}\n", counted(matrix.nnz(), "nonzero"),
                        escape(other, 4096), rounded_text(matrix.value_type()));
  }
  if (!invocation.quiet) print(text);
}

}  // namespace
}  // namespace verify_parts

const Command verify_command{"verify",
                             "A.spmvc [--against A.mtx] [options]",
                             "check a container, and compare it with a matrix",
                             "A.spmvc",
                             verify_parts::add_options,
                             verify_parts::details,
                             verify_parts::run};

}  // namespace spmvpack::tools
