#include "matrix_market/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "text/plain_lines.hpp"

namespace spmvpack::sources {
namespace {

/// The result of parsing a piece of the text.
template <class T>
struct Piece {
  TextPiece source;           ///< its buffer is kept only if the text may be needed again
  std::uint64_t entries = 0;  ///< up to the error, if any
  Triplets<T> block;
  Rounding rounding;
  std::optional<LineError> error;
  std::exception_ptr failure;  ///< from reading the text, or out of memory
};

[[noreturn]] void refuse_index(const char* p, const char* what, std::uint64_t count) {
  throw LineError{
      p, errc::bad_input, fmt::format("found {}, expected a {} index from 1 to {}", found_at(p), what, count), {}};
}

/// Reads a 1-based index and makes it 0-based.
inline const char* read_index(const char* p, std::uint64_t count, const char* what, std::uint32_t& index) {
  std::uint64_t value = 0;
  const char* const after = read_digits(p, value);
  if (after == p || !ends_token(*after) || value - 1 >= count) [[unlikely]]
    refuse_index(p, what, count);
  index = static_cast<std::uint32_t>(value - 1);
  return after;
}

/// Skips the end of a line, which must come next.
inline const char* end_line(const char* p) {
  p = skip_blanks(p);
  const char* const after = after_line_end(p);
  if (after == nullptr) [[unlikely]]
    throw not_line_end(p);
  return after;
}

/// The first character of the next line that holds an entry, or `end`.
inline const char* skip_to_entry(const char* p, const char* end) {
  for (;;) {
    if (p == end) return end;
    p = skip_blanks(p);
    if (*p == '%')
      p += std::string_view(p, static_cast<std::size_t>(end - p)).find('\n') + 1;
    else if (const char* const after = after_line_end(p))
      p = after;
    else
      return p;
  }
}

/// The entry after the first `n` entries of a piece.
const char* entry_after(std::string_view text, std::uint64_t n) {
  const char *p = text.data(), *const end = p + text.size();
  for (p = skip_to_entry(p, end); n > 0; --n) {
    p += std::string_view(p, static_cast<std::size_t>(end - p)).find('\n') + 1;
    p = skip_to_entry(p, end);
  }
  return p;
}

/// Whether values are rounded from f64.
template <class T>
constexpr bool is_narrow = value_type_of<T> == ValueType::f32 || value_type_of<T> == ValueType::c64;

/// An entry as given on its line, with 0-based indices.
template <class T>
struct Entry {
  std::uint32_t row = 0, col = 0;
  T value = T{1};
  /// If T is narrow and the field real or complex: the value in f64.
  std::conditional_t<is_complex_type<T>, std::complex<double>, double> wide = 1;
};

/// Reads the real and the imaginary part of a value.
template <class T>
const char* read_complex(const char* p, const char* end, const MatrixMarketHeader& header,
                         Entry<std::complex<T>>& entry) {
  T real = 0, imaginary = 0;
  double wide_real = 0, wide_imaginary = 0;
  const char* const imaginary_text = skip_blanks(read_real(p, end, real, wide_real));
  p = read_real(imaginary_text, end, imaginary, wide_imaginary);
  if (header.symmetry == Symmetry::hermitian && header.coordinate && entry.row == entry.col && wide_imaginary != 0)
    throw LineError{imaginary_text, errc::bad_input, "an imaginary part on the diagonal of a hermitian matrix",
                    "the diagonal is real: make the part 0, or declare the matrix general"};
  entry.value = {real, imaginary};
  entry.wide = {wide_real, wide_imaginary};
  return p;
}

/// Reads any line that holds an entry and returns what follows it. `end` is the end of the text.
template <class T, bool coordinate, Field field>
const char* read_entry(const char* p, const char* end, const MatrixMarketHeader& header, Entry<T>& entry) {
  if constexpr (coordinate) {
    p = skip_blanks(read_index(p, header.rows, "row", entry.row));
    const char* const col_text = p;
    p = read_index(p, header.cols, "column", entry.col);
    if (header.symmetry != Symmetry::general && entry.row < entry.col)
      throw LineError{col_text, errc::bad_input,
                      fmt::format("an entry above the diagonal of a {} matrix", to_string(header.symmetry)),
                      "store the lower triangle only, or declare the matrix general"};
    if (header.symmetry == Symmetry::skew_symmetric && entry.row == entry.col)
      throw LineError{col_text, errc::bad_input, "an entry on the diagonal of a skew-symmetric matrix",
                      "the diagonal is zero and is not stored"};
    if constexpr (field != Field::pattern) p = skip_blanks(p);
  }
  if constexpr (field == Field::integer) {
    if (header.is_unsigned && *p == '-')
      throw LineError{
          p, errc::bad_input,
          fmt::format("found {}, expected an integer without a sign, as the field is unsigned-integer", found_at(p)),
          "declare the field integer"};
    p = read_integer(p, entry.value);
  }
  if constexpr (field == Field::real) p = read_real(p, end, entry.value, entry.wide);
  if constexpr (field == Field::complex) p = read_complex(p, end, header, entry);
  return end_line(p);
}

/// A fast version for plain lines of a coordinate file; null if the line is not plain, or wrong.
template <class T, Field field>
SPMVPACK_INLINE const char* read_plain_entry(const char* p, const MatrixMarketHeader& header, Entry<T>& entry) {
  std::uint64_t row = 0, col = 0;
  const char* const after = read_plain_line<field>(p, row, col, entry.wide);
  if (after == nullptr || row - 1 >= header.rows || col - 1 >= header.cols) return nullptr;
  if (header.symmetry != Symmetry::general && (row < col || (row == col && header.symmetry != Symmetry::symmetric)))
    return nullptr;
  if constexpr (field == Field::integer)
    if (header.is_unsigned && std::signbit(entry.wide)) return nullptr;
  entry.row = static_cast<std::uint32_t>(row - 1);
  entry.col = static_cast<std::uint32_t>(col - 1);
  if constexpr (std::is_same_v<T, double>) {
    entry.value = entry.wide;
  } else if constexpr (field != Field::pattern) {
    if (!round_again(entry.wide, entry.value)) return nullptr;
    if (field == Field::integer && static_cast<double>(entry.value) != entry.wide) return nullptr;
  }
  return after;
}

/// Where the entries of a piece go.
template <class T>
struct Output {
  std::uint32_t *rows = nullptr, *cols = nullptr;
  T* values = nullptr;
  std::uint64_t entries = 0;
  Rounding rounding;
};

template <bool coordinate, Field field, class T>
SPMVPACK_INLINE void store(const Entry<T>& entry, const MatrixMarketHeader& header, Output<T>& to) {
  const std::uint64_t n = to.entries++;
  if constexpr (coordinate) {
    to.rows[n] = entry.row;
    to.cols[n] = entry.col;
  }
  if constexpr (field != Field::pattern) to.values[n] = entry.value;
  if constexpr ((field == Field::real || field == Field::complex) && is_narrow<T>) {
    const bool is_mirrored = coordinate && header.symmetry != Symmetry::general && entry.row != entry.col;
    const bool rounded = to.rounding.count(entry.value, entry.wide, is_mirrored ? 2 : 1);
    if constexpr (!coordinate) to.rows[n] = rounded;
  }
}

/// Stores the entries of plain lines; returns the start of the first line that is not plain.
template <Field field, class T>
SPMVPACK_INLINE const char* parse_plain_lines(const char* p, const char* end, const MatrixMarketHeader& header,
                                              Output<T>& output) {
  Output<T> to = output;  // in registers
  while (p != end) {
    Entry<T> entry;
    const char* const after = read_plain_entry<T, field>(p, header, entry);
    if (after == nullptr) [[unlikely]]
      break;
    p = after;
    store<true, field>(entry, header, to);
  }
  output = to;
  return p;
}
template <Field field, class T>
SPMVPACK_TARGET_V3 const char* parse_plain_lines_v3(const char* p, const char* end, const MatrixMarketHeader& header,
                                                    Output<T>& output) {
  return parse_plain_lines<field>(p, end, header, output);
}
template <Field field, class T>
const char* parse_plain_lines_generic(const char* p, const char* end, const MatrixMarketHeader& header,
                                      Output<T>& output) {
  return parse_plain_lines<field>(p, end, header, output);
}

template <class T, bool coordinate, Field field>
void parse_lines(const MatrixMarketHeader& header, Piece<T>& piece) {
  Output<T> output{piece.block.rows.data(), piece.block.cols.data(), piece.block.values.data(), 0, {}};
  const char *const begin = piece.source.text.data(), *const end = begin + piece.source.text.size(), *p = begin;
  try {
    while ((p = skip_to_entry(p, end)) != end) {
      Entry<T> entry;
      p = read_entry<T, coordinate, field>(p, end, header, entry);
      store<coordinate, field>(entry, header, output);
      if constexpr (coordinate && field != Field::complex) {
        const auto parse_plain = use_v3() ? parse_plain_lines_v3<field, T> : parse_plain_lines_generic<field, T>;
        if (p - begin >= plain_bytes_before) p = parse_plain(p, end, header, output);
      }
    }
  } catch (LineError& e) {
    piece.error = std::move(e);
  }
  piece.entries = output.entries;
  piece.rounding = output.rounding;
}

template <class T>
void parse(const MatrixMarketHeader& header, Arena& arena, Piece<T>& piece) {
  const std::uint64_t lines = piece.source.lines;
  const bool has_rows = header.coordinate || is_narrow<T>;
  piece.block = {arena, has_rows ? lines : 0, header.coordinate ? lines : 0,
                 header.field == Field::pattern ? 0 : lines};

  if constexpr (is_complex_type<T>) {
    header.coordinate ? parse_lines<T, true, Field::complex>(header, piece)
                      : parse_lines<T, false, Field::complex>(header, piece);
  } else if (header.field == Field::pattern) {
    parse_lines<T, true, Field::pattern>(header, piece);
  } else if (header.field == Field::integer) {
    header.coordinate ? parse_lines<T, true, Field::integer>(header, piece)
                      : parse_lines<T, false, Field::integer>(header, piece);
  } else {
    header.coordinate ? parse_lines<T, true, Field::real>(header, piece)
                      : parse_lines<T, false, Field::real>(header, piece);
  }
  const auto truncate = [&](auto& span) { span = span.first(std::min<std::size_t>(span.size(), piece.entries)); };
  truncate(piece.block.rows);
  truncate(piece.block.cols);
  truncate(piece.block.values);
}

/// Whether row counters for every thread are small compared with the text. They save a pass over its lines.
bool can_count_rows(const MatrixMarketHeader& header, std::uint64_t file_bytes, std::uint64_t threads) {
  constexpr std::uint64_t text_per_counter = 8 * sizeof(std::uint32_t);
  return header.coordinate && header.entries <= std::numeric_limits<std::uint32_t>::max() &&
         header.rows <= file_bytes / text_per_counter / threads;
}

/// Puts the pieces back into the order of the text, and makes the checks that depend on all pieces before.
template <class T>
class EntryCollector {
 public:
  EntryCollector(const TextBatches& text, const MatrixMarketHeader& header, const TextOptions& options,
                 MatrixMarketEntries<T>& result)
      : text_(&text), header_(&header), options_(&options), result_(&result), first_line_(text.line()) {}

  /// Any thread may call it. Returns the buffer of the piece if its text is no longer needed.
  Array<char> add(Piece<T> piece) {
    // Every entry is a line: while there are no more lines than entries announced, this piece has none too many.
    const bool may_be_beyond = piece.source.first_line - first_line_ + piece.source.lines > header_->entries;
    Array<char> spare;
    if (!piece.error && !may_be_beyond) spare = std::move(piece.source.buffer);
    // Pieces are handed out in order: the file's first error is in this one, or in one that some thread already has.
    if (piece.error || piece.failure) stop();
    const std::lock_guard lock(guard_);
    const std::uint64_t number = piece.source.number;
    waiting_.emplace(number, std::move(piece));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == accepted_ && !failure_; ++accepted_) {
      try {
        accept(next->second);
      } catch (...) {
        failure_ = std::current_exception();
        stop();
      }
      next = waiting_.erase(next);
    }
    return spare;
  }
  /// No more pieces are needed.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// Throws the first error of the file, or an error if entries are missing.
  void finish() const {
    if (failure_) std::rethrow_exception(failure_);
    if (entries_ < header_->entries)
      text_->fail(errc::bad_input,
                  fmt::format("the file ends after {} of the {} entries that {}", entries_, header_->entries,
                              header_->coordinate ? "its size line announces" : "an array of its size has"),
                  "correct the size line, or is the file truncated?");
  }

 private:
  void accept(Piece<T>& piece) {
    if (piece.failure) std::rethrow_exception(piece.failure);
    const std::uint64_t missing = header_->entries - entries_;
    if (piece.entries > missing || (piece.error && piece.entries == missing))
      text_->fail(piece.source,
                  {entry_after(piece.source.text, missing), errc::bad_input,
                   fmt::format("more entries than the {} that {}", header_->entries,
                               header_->coordinate ? "the size line announces" : "an array of this size has"),
                   "correct the size line, or is the file damaged?"});
    if (piece.error) text_->fail(piece.source, *piece.error);
    entries_ += piece.entries;
    result_->rounding.add(piece.rounding);
    if (piece.entries != 0) result_->list.blocks.push_back(std::move(piece.block));
    // The size line is not trusted: memory grows with the lines that are really there.
    bytes_ += piece.source.lines * (8 + (header_->field == Field::pattern ? 0 : sizeof(T)));
    require_memory(bytes_, options_->memory_limit, "the list of entries");
  }

  const TextBatches* text_;
  const MatrixMarketHeader* header_;
  const TextOptions* options_;
  MatrixMarketEntries<T>* result_;
  std::uint64_t first_line_;
  std::mutex guard_;
  std::map<std::uint64_t, Piece<T>> waiting_;  ///< parsed, but earlier pieces are still missing
  std::uint64_t accepted_ = 0, entries_ = 0, bytes_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

template <class T>
MatrixMarketEntries<T> read_entries(TextBatches& text, const MatrixMarketHeader& header,
                                    const MatrixMarketOptions& options) {
  MatrixMarketEntries<T> result;
  Arena arena;
  EntryCollector<T> collector(text, header, options, result);
  const auto caller = std::this_thread::get_id();
  // One task per thread takes pieces as long as there are any, so no thread waits for another.
  const auto tasks = static_cast<std::uint64_t>(thread_count(options.threads));
  const bool count_rows = can_count_rows(header, text.file_size(), tasks);
  std::vector<Array<std::uint32_t>>& degrees = result.list.degrees;
  degrees.resize(count_rows ? tasks : 0);
  parallel_for(tasks, options.threads, [&](std::uint64_t task) {
    if (count_rows) degrees[task] = Array<std::uint32_t>(header.rows, 0);
    Array<char> buffer;
    while (!collector.stopped()) {
      Piece<T> piece;
      piece.source.buffer = std::move(buffer);
      try {
        if (!text.take(piece.source)) return;
        parse(header, arena, piece);
        if (header.coordinate)
          note_rows(piece.block, header.symmetry, count_rows ? std::span(degrees[task]) : std::span<std::uint32_t>());
      } catch (...) {
        piece.failure = std::current_exception();
      }
      const std::uint64_t position = piece.source.file_position;
      buffer = collector.add(std::move(piece));
      if (std::this_thread::get_id() != caller) continue;
      try {
        report_progress(options.progress, "read", position, text.file_size());
      } catch (...) {
        collector.stop();
        throw;
      }
    }
  });
  collector.finish();
  report_progress(options.progress, "read", text.file_position(), text.file_size());
  return result;
}

#define SPMVPACK_INSTANTIATE(T) \
  template MatrixMarketEntries<T> read_entries(TextBatches&, const MatrixMarketHeader&, const MatrixMarketOptions&);
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::sources
