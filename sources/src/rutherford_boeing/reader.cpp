#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rutherford_boeing/fortran_field.hpp"
#include "rutherford_boeing/header.hpp"
#include "source/real_parts.hpp"
#include "source/source_name.hpp"
#include "source/text_readers.hpp"
#include "source/text_source.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/matrix/triplets.hpp"
#include "spmvpack/sources/rutherford_boeing.hpp"
#include "text/number_text.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {
namespace {

constexpr const char* need = "the matrix with its list of entries";

/// A task's share of a batch: whole lines, the first of which is line `first_line` of the list, from 0.
struct ColumnPiece {
  std::string_view text;
  std::uint64_t lines = 0, first_line = 0;
  Rounding rounding;
  bool is_unseparated = false;  ///< the numbers of some line are not those between its blanks
  std::optional<LineError> error;
  bool is_misfit = false;  ///< the error is at columns of a number that hold none
};

/// Splits the batch into pieces and assigns each its lines of the list, starting with line `done`.
std::vector<ColumnPiece> cut(std::string_view batch, const FixedColumnList& list, std::uint64_t done,
                             const TextOptions& options) {
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(options.chunk_bytes, 1);
  std::vector<ColumnPiece> pieces(div_up(batch.size(), chunk_bytes));
  parallel_for(pieces.size(), options.threads, [&](std::uint64_t i) {
    const std::size_t begin = line_start(batch, i * chunk_bytes);
    pieces[i].text = batch.substr(begin, line_start(batch, (i + 1) * chunk_bytes) - begin);
    pieces[i].lines = count_lines(pieces[i].text);
  });
  for (ColumnPiece& piece : pieces) {
    piece.first_line = done;
    const std::uint64_t wanted = list.lines() - done;
    if (piece.lines > wanted) {  // the next list starts in this piece
      std::size_t end = 0;
      for (std::uint64_t i = 0; i < wanted; ++i) end = piece.text.find('\n', end) + 1;
      piece.text = piece.text.substr(0, end);
      piece.lines = wanted;
    }
    done += piece.lines;
  }
  return pieces;
}

using Fields = std::span<const FortranFormat::Field>;

/// Calls f(line, fields, k) for every line of the piece, where `fields` are for its numbers of the list, from number k
/// on.
template <class F>
void each_line(const ColumnPiece& piece, const FixedColumnList& list, F&& f) {
  std::uint64_t number = piece.first_line, k = list.format.numbers_before(number);
  for (std::string_view rest = piece.text; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    line = without_line_end(line);
    Fields fields = list.format.fields(number);
    if (fields.size() > list.count - k) fields = fields.first(list.count - k);
    f(line, fields, k);
    k += fields.size();
  }
}

/// Throws unless the columns [begin, end) are blank.
void require_blanks(std::string_view line, std::size_t begin, std::size_t end, const char* expected) {
  const std::size_t more = line.find_first_not_of(' ', begin);
  if (more < std::min(end, line.size())) [[unlikely]]
    throw LineError{line.data() + more,
                    errc::bad_input,
                    fmt::format("found {}, expected {}", found_at(line.data() + more), expected),
                    {}};
}

/// Calls f(k, field, format, piece.rounding) for every number k of the piece, where the format says that it is.
template <class F>
void read_by_columns(ColumnPiece& piece, const FixedColumnList& list, F&& f) {
  FortranField field;
  bool is_reading = false;
  try {
    each_line(piece, list, [&](std::string_view line, Fields fields, std::uint64_t k) {
      std::size_t at = 0;
      const char* touching = nullptr;  // a number that follows another without a blank
      bool is_ragged = false;          // some number ends before its columns
      for (const FortranFormat::Field& format : fields) {
        if (at != format.column) require_blanks(line, at, format.column, "blanks, as the format skips this column");
        const std::string_view columns = line.substr(std::min<std::size_t>(format.column, line.size()), format.width);
        field.take(columns, list.what);
        is_reading = true;
        f(k++, field, format, piece.rounding);
        is_reading = false;
        if (field.begin() == columns.data() && at != 0 && line[format.column - 1] != ' ') touching = columns.data();
        if (field.has_blank()) piece.is_unseparated = true;
        at = format.column + format.width;
        const auto end = static_cast<std::size_t>(field.end() - line.data());
        is_ragged |= end != at && end + format.blanks != at;
      }
      require_blanks(line, std::min(at, line.size()), line.size(), "the end of the line");
      if (touching == nullptr) return;
      piece.is_unseparated = true;
      // Programs of fixed columns fill them to the end. Those of narrower ones have their numbers cut here.
      if (is_ragged)
        throw LineError{touching, errc::bad_input,
                        "this number touches the one before it, and others of the line end before their columns do: it "
                        "cannot be told whether the columns are those of the header's format",
                        "write the numbers to the ends of their columns, or the file as Matrix Market"};
    });
  } catch (LineError& e) {
    piece.error = std::move(e);
    piece.is_misfit = is_reading && !(list.integers ? field.is_integer() : field.is_real());
  }
}

/// The same for numbers that blanks or tabs separate. Each line must have as many as the format says, whatever their
/// columns.
template <class F>
void read_by_blanks(ColumnPiece& piece, const FixedColumnList& list, F&& f) {
  constexpr const char* blanks = " \t";
  const auto take = [](std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    const std::string_view token = rest.substr(0, rest.find_first_of(blanks));
    rest.remove_prefix(token.size());
    return token;
  };
  FortranField field;
  try {
    each_line(piece, list, [&](std::string_view line, Fields fields, std::uint64_t k) {
      std::size_t found = 0;
      for (std::string_view rest = line; !take(rest).empty();) ++found;
      if (found != fields.size())
        throw LineError{line.data(),
                        errc::bad_input,
                        fmt::format("between blanks stand {}, expected {} {}", found, fields.size(), list.name),
                        {}};
      std::string_view rest = line;
      for (FortranFormat::Field format : fields) {
        const std::string_view token = take(rest);
        if (token.size() > FortranFormat::max_width)
          throw LineError{token.data(),
                          errc::bad_input,
                          fmt::format("found {} characters, expected {}", token.size(), list.what),
                          {}};
        field.take(token, list.what);
        if (format.kind == 'F') format.kind = 'E';  // what wrote the number had another format, of unknown scale
        f(k++, field, format, piece.rounding);
      }
    });
  } catch (LineError& e) {
    piece.error = std::move(e);
  }
}

/// Reads the pieces of a batch while the next one is fetched; the first error, or null.
template <class F>
const ColumnPiece* read_pieces(TextBatches& text, std::vector<ColumnPiece>& pieces, const FixedColumnList& list,
                               const TextOptions& options, F&& f) {
  parallel_for(pieces.size() + 1, options.threads, [&](std::uint64_t i) {
    if (i == 0)
      text.read_ahead();
    else if (list.misfit.empty())
      read_by_columns(pieces[i - 1], list, f);
    else
      read_by_blanks(pieces[i - 1], list, f);
  });
  const auto failed =
      std::find_if(pieces.begin(), pieces.end(), [](const ColumnPiece& piece) { return piece.error.has_value(); });
  return failed == pieces.end() ? nullptr : &*failed;
}

[[noreturn]] void fail(const TextBatches& text, const FixedColumnList& list, LineError e) {
  if (e.remedy.empty() && list.misfit.empty())
    e.remedy = fmt::format("are the {} in other columns than the header's format {} says, or is the line damaged?",
                           list.name, list.format.text());
  else if (e.remedy.empty())
    e.remedy = fmt::format(
        "from {} on, the {} are in other columns than the header's format {} says, and here they are "
        "not separated by blanks either: correct the format, or the lines",
        list.misfit, list.name, list.format.text());
  text.fail(e);
}

/// Reads a list, in parallel; grow(n) is called before the numbers below n. Where columns of a number hold none, as
/// many numbers as the format says may stand between blanks instead. That is so only if it is so on every line: those
/// that have been read by columns are the same numbers then, and no field of the list is in columns of another.
template <class Grow, class F>
Rounding read_list(TextBatches& text, FixedColumnList& list, const TextOptions& options, Grow&& grow, F&& f) {
  Rounding rounding;
  bool is_unseparated = false;
  for (std::uint64_t done = 0; done < list.lines();) {
    if (text.text().empty())
      text.fail(errc::bad_input,
                fmt::format("the file ends, expected {}, number {} of {}", list.what,
                            list.format.numbers_before(done) + 1, list.count),
                "is the file truncated?");
    std::vector<ColumnPiece> pieces = cut(text.text(), list, done, options);
    std::uint64_t lines = 0;
    std::size_t bytes = 0;
    for (const ColumnPiece& piece : pieces) {
      lines += piece.lines;
      bytes += piece.text.size();
    }
    grow(std::min(list.count, list.format.numbers_before(done + lines)));
    const ColumnPiece* failed = read_pieces(text, pieces, list, options, f);
    if (failed != nullptr && failed->is_misfit && !is_unseparated) {
      const LineError misfit = *failed->error;
      list.misfit = text.position(misfit.at);
      pieces = cut(text.text(), list, done, options);
      failed = read_pieces(text, pieces, list, options, f);
      const std::string_view batch = text.text();
      const std::size_t line_end = batch.find('\n', static_cast<std::size_t>(misfit.at - batch.data()));
      if (failed != nullptr && failed->error->at <= batch.data() + line_end) {
        list.misfit.clear();
        fail(text, list, misfit);
      }
    }
    if (failed != nullptr) fail(text, list, *failed->error);
    for (const ColumnPiece& piece : pieces) {
      rounding.add(piece.rounding);
      is_unseparated |= piece.is_unseparated;
    }
    done += lines;
    text.skip(bytes, lines);
    report_progress(options.progress, "read", text.file_position(), text.file_size());
  }
  return rounding;
}

/// Makes `array` hold `size` of at most `count` elements: memory grows with the text that is really there, not with
/// what the header announces. `others` are the bytes of other arrays.
template <class T>
void grow_array(Array<T>& array, std::uint64_t size, std::uint64_t count, std::uint64_t others,
                const TextOptions& options) {
  if (size <= array.size()) return;
  const std::uint64_t larger_size = std::min(count, std::max(size, 2 * array.size()));
  require_memory((array.size() + larger_size) * sizeof(T) + others, options.memory_limit, need);
  Array<T> larger(larger_size);
  std::copy(array.begin(), array.end(), larger.begin());
  array = std::move(larger);
}

/// Throws Error(errc::bad_input) at number k of a list.
[[noreturn]] void fail_at(const TextBatches& text, const FixedColumnList& list, std::uint64_t k, std::string what,
                          std::string remedy) {
  const std::uint64_t line = list.format.line_of(k);
  std::string place = fmt::format("{}:{}", text.name(), list.first_line + line);
  if (list.misfit.empty())
    place += fmt::format(":{}", list.format.fields(line)[k - list.format.numbers_before(line)].column + 1);
  throw Error(errc::bad_input, std::move(what), std::move(place), std::move(remedy));
}

void check_pointers(const TextBatches& text, const FixedColumnList& list, const Array<std::uint64_t>& pointers,
                    std::uint64_t entries) {
  if (pointers[0] != 1)
    fail_at(text, list, 0, fmt::format("the first column pointer is {}, expected 1", pointers[0]), "");
  const auto* const falling = std::is_sorted_until(pointers.begin(), pointers.end());
  if (falling != pointers.end())
    fail_at(text, list, static_cast<std::uint64_t>(falling - pointers.begin()),
            fmt::format("column pointer {} after {}: a column cannot end before it starts", *falling, falling[-1]), "");
  const std::uint64_t last = pointers[pointers.size() - 1];
  if (last != entries + 1)
    fail_at(text, list, list.count - 1,
            fmt::format("the last column pointer is {}, expected {}, one more than the entries", last, entries + 1),
            "");
}

/// Assigns every entry its column. Entries of a symmetric matrix must be in its lower triangle.
void fill_columns(const TextBatches& text, const RutherfordBoeingHeader& header, const Array<std::uint64_t>& pointers,
                  std::span<const std::uint32_t> rows, std::span<std::uint32_t> cols, int threads) {
  const bool general = header.symmetry == Symmetry::general, skew = header.symmetry == Symmetry::skew_symmetric;
  constexpr std::uint64_t columns_per_task = 1 << 14;
  parallel_pieces(header.cols, columns_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t col = begin; col < end; ++col) {
      for (std::uint64_t k = pointers[col] - 1; k < pointers[col + 1] - 1; ++k) {
        cols[k] = static_cast<std::uint32_t>(col);
        if (general || rows[k] > col) continue;
        if (rows[k] < col)
          fail_at(text, header.indices, k,
                  fmt::format("row {} in column {}: an entry above the diagonal of a {} matrix",
                              rows[k] + std::uint64_t{1}, col + 1, to_string(header.symmetry)),
                  "store the lower triangle only, or declare the matrix unsymmetric");
        if (skew)
          fail_at(text, header.indices, k, "an entry on the diagonal of a skew-symmetric matrix",
                  "the diagonal is zero and is not stored");
      }
    }
  });
}

/// Skips what follows the lists: nothing, or right-hand sides. It is read so that a compressed file's checksums are
/// verified.
void read_rest(TextBatches& text, const RutherfordBoeingHeader& header) {
  while (!text.text().empty()) {
    const std::string_view batch = text.text();
    const std::size_t more = batch.find_first_not_of(" \r\n");
    if (more != std::string_view::npos && !header.right_hand_sides)
      text.fail({batch.data() + more, errc::bad_input,
                 fmt::format("found {}, expected the end of the file", found_at(batch.data() + more)),
                 "is the file damaged?"});
    text.advance(count_lines(batch));
  }
}

/// Reads the values into `block`, whose rows and columns are known.
template <class T>
Rounding read_values(TextBatches& text, RutherfordBoeingHeader& header, Triplets<T>& block,
                     const TextOptions& options) {
  const bool general = header.symmetry == Symmetry::general;
  const auto weight = [&](std::uint64_t k) { return general || block.rows[k] == block.cols[k] ? 1U : 2U; };
  if constexpr (is_complex_type<T>) {
    using Part = typename T::value_type;
    // The parts of a value may be read by two threads: what is rounded is counted afterwards.
    Array<bool> rounded(sizeof(Part) == sizeof(float) ? header.values.count : 0);
    Rounding rounding = read_list(
        text, header.values, options, [](std::uint64_t) {},
        [&](std::uint64_t k, FortranField& field, const FortranFormat::Field& format, Rounding& of_piece) {
          double wide = 0;
          const Part part = field.real<Part>(format, wide);
          if (k % 2 != 0 && header.symmetry == Symmetry::hermitian && weight(k / 2) == 1 && part != 0)
            throw LineError{field.begin(), errc::bad_input, "an imaginary part on the diagonal of a hermitian matrix",
                            "the diagonal is real: make the part 0, or declare the matrix unsymmetric"};
          reinterpret_cast<Part*>(block.values.data())[k] = part;
          if constexpr (value_type_of<T> == ValueType::c64) rounded[k] = of_piece.count(part, wide, 0);
        });
    for (std::uint64_t k = 0; 2 * k < rounded.size(); ++k)
      if (rounded[2 * k] || rounded[2 * k + 1]) rounding.rounded += weight(k);
    return rounding;
  } else {
    return read_list(
        text, header.values, options, [](std::uint64_t) {},
        [&](std::uint64_t k, FortranField& field, const FortranFormat::Field& format, Rounding& of_piece) {
          if (header.field == Field::integer) {
            block.values[k] = field.integer<T>();
          } else {
            double wide = 0;
            block.values[k] = field.real<T>(format, wide);
            if constexpr (value_type_of<T> == ValueType::f32) of_piece.count(block.values[k], wide, weight(k));
          }
        });
  }
}

template <class T>
SourceMatrix read_as(TextBatches& text, RutherfordBoeingHeader& header, const TextOptions& options) {
  Array<std::uint64_t> pointers;
  read_list(
      text, header.pointers, options,
      [&](std::uint64_t n) { grow_array(pointers, n, header.pointers.count, 0, options); },
      [&](std::uint64_t k, const FortranField& field, const FortranFormat::Field&, Rounding&) {
        pointers[k] = field.index(1, header.indices.count + 1, header.pointers.what);
      });
  check_pointers(text, header.pointers, pointers, header.indices.count);

  Array<std::uint32_t> rows;
  read_list(
      text, header.indices, options,
      [&](std::uint64_t n) { grow_array(rows, n, header.indices.count, 8 * pointers.size(), options); },
      [&](std::uint64_t k, const FortranField& field, const FortranFormat::Field&, Rounding&) {
        rows[k] = static_cast<std::uint32_t>(field.index(1, header.rows, header.indices.what) - 1);
      });

  // All announced entries have been read.
  const std::uint64_t entries = rows.size();
  const std::uint64_t values = header.field == Field::pattern ? 0 : entries;
  require_memory(8 * pointers.size() + 12 * entries + values * sizeof(T), options.memory_limit, need);
  TripletList<T> list;
  Arena arena;
  Triplets<T>& block = list.blocks.emplace_back(arena, entries, entries, values);
  std::copy(rows.begin(), rows.end(), block.rows.begin());
  rows = {};
  fill_columns(text, header, pointers, block.rows, block.cols, options.threads);
  pointers = {};

  const Rounding rounding = read_values(text, header, block, options);
  read_rest(text, header);

  SourceMatrix source = assemble_source({header.rows, header.cols, header.indices.count, header.field, header.symmetry},
                                        std::move(list), {options.threads, options.memory_limit, text.name()});
  state_rounding(rounding, source.provenance);
  for (const FixedColumnList* const read : {&header.pointers, &header.indices, &header.values})
    if (!read->misfit.empty())
      source.warnings.push_back(
          fmt::format("{}: the {} are in other columns than the header's format {} says; each line has as many numbers "
                      "between blanks as it should, and these are read",
                      read->misfit, read->name, read->format.text()));
  return source;
}

}  // namespace

SourceMatrix read_rutherford_boeing(const std::string& path, const TextOptions& options) {
  return read_rutherford_boeing(open_text(open_stream(path)), path, options);
}

SourceMatrix read_rutherford_boeing(std::shared_ptr<ByteStream> bytes, const std::string& path,
                                    const TextOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  const MemoryScope memory(limited.memory_limit, "reading " + bytes->name());
  TextBatches text(std::move(bytes), limited);
  RutherfordBoeingHeader header = read_rutherford_boeing_header(text);
  const ValueType type = type_to_read(header.field, options.value_type, text.name());
  SourceMatrix source = dispatch_any(type, [&](auto zero) { return read_as<decltype(zero)>(text, header, limited); });
  if (type != options.value_type.value_or(type)) take_real_parts(source, text.name(), limited.threads);
  source.provenance.source = base_name(path);
  if (!header.title.empty()) source.provenance.comments = {" " + header.title};
  return source;
}

}  // namespace spmvpack::sources
