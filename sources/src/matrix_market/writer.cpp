#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <complex>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/sources/matrix_market.hpp"

namespace spmvpack::sources {
namespace {

constexpr std::uint64_t entries_per_piece = 1U << 14, pieces_per_thread = 8;
/// Room for two indices and the longest double: any line except one with an integer beyond 64 bits.
constexpr std::size_t line_bytes = 64;

/// The shortest text of a value that reads back to the same bits; integers in full.
template <class T>
void append_value(fmt::memory_buffer& out, T value, Field field) {
  const std::size_t size = out.size();
  out.reserve(size + line_bytes);
  char *const begin = out.data() + size, *end = begin;
  if (std::isnan(value)) {
    const std::string_view nan = std::signbit(value) ? "-nan" : "nan";
    end = std::copy(nan.begin(), nan.end(), begin);
  } else if (field != Field::integer) {
    end = std::to_chars(begin, begin + line_bytes, value).ptr;
  } else if (value != 0 && std::fabs(value) < T{0x1p63}) {
    end = std::to_chars(begin, begin + line_bytes, static_cast<std::int64_t>(value)).ptr;
  } else {
    fmt::format_to(std::back_inserter(out), "{:.0f}", value);  // all digits; -0 keeps its sign
    return;
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
}

template <class T>
void append_value(fmt::memory_buffer& out, std::complex<T> value, Field field) {
  append_value(out, value.real(), field);
  out.push_back(' ');
  append_value(out, value.imag(), field);
}

void append_index(fmt::memory_buffer& out, std::uint64_t index, char after) {
  const std::size_t size = out.size();
  out.reserve(size + line_bytes);
  char* const end = std::to_chars(out.data() + size, out.data() + size + line_bytes, index + 1).ptr;
  *end = after;
  out.resize(static_cast<std::size_t>(end + 1 - out.data()));
}

/// Calls f(row, k) for the entries k in [begin, end).
template <class F>
void for_entries(const CsrView& a, std::uint64_t begin, std::uint64_t end, F&& f) {
  std::uint64_t row = a.row_of(begin);
  for (std::uint64_t k = begin; k < end; ++k) {
    while (a.row_ptr(row + 1) <= k) ++row;
    f(row, k);
  }
}

template <class T>
void check_real_field(const CsrView& a, Field field, int threads) {
  if (field == Field::real) return;
  const T* const values = a.values<T>();
  parallel_pieces(a.nnz(), entries_per_piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t k = begin; k < end; ++k) {
      const T v = values[k];
      if (field == Field::pattern ? v == 1 : std::isfinite(v) && v == std::trunc(v)) continue;
      throw Error(errc::bad_input,
                  fmt::format("the value {} in row {}, column {} of a matrix whose field is {}", v, a.row_of(k) + 1,
                              a.col_idx()[k] + std::uint64_t{1}, to_string(field)),
                  {}, "declare the field real");
    }
  });
}

/// Throws unless the field allows the values.
template <class T>
void check_field(const CsrView& a, Field field, int threads) {
  if constexpr (is_complex_type<T>) {
    if (field == Field::complex) return;
    throw Error(errc::bad_input, fmt::format("complex values of a matrix whose field is {}", to_string(field)), {},
                "declare the field complex");
  } else {
    if (field != Field::complex) return check_real_field<T>(a, field, threads);
    throw Error(errc::bad_input, "real values of a matrix whose field is complex", {}, "declare the field real");
  }
}

/// Throws unless every entry has, to the bit, the mirror image that the symmetry requires.
void check_symmetry(const CsrView& a, Symmetry symmetry, int threads) {
  if (symmetry == Symmetry::general) return;
  const auto refuse = [&](const std::string& what) {
    throw Error(errc::bad_input, fmt::format("{} of a matrix whose symmetry is {}", what, to_string(symmetry)), {},
                "declare it general");
  };
  if (a.rows() != a.cols()) refuse(fmt::format("{} rows and {} columns", a.rows(), a.cols()));
  if (const std::uint64_t k = first_without_mirror(a, symmetry, threads); k != a.nnz())
    refuse(fmt::format("the entry in row {}, column {}", a.row_of(k) + 1, a.col_idx()[k] + std::uint64_t{1}));
}

/// The lines of the entries [begin, end); for a symmetric matrix, only those in the lower triangle.
template <class T>
void append_entries(fmt::memory_buffer& out, const CsrView& a, const SourceMatrix& source, std::uint64_t begin,
                    std::uint64_t end) {
  const std::uint32_t* const cols = a.col_idx();
  const T* const values = a.values<T>();
  for_entries(a, begin, end, [&](std::uint64_t row, std::uint64_t k) {
    if (source.symmetry != Symmetry::general && cols[k] > row) return;
    append_index(out, row, ' ');
    append_index(out, cols[k], source.field == Field::pattern ? '\n' : ' ');
    if (source.field == Field::pattern) return;
    append_value(out, values[k], source.field);
    out.push_back('\n');
  });
}

/// The number of entries on and below the diagonal.
std::uint64_t count_lower(const CsrView& a, int threads) {
  std::atomic<std::uint64_t> lower{0};
  parallel_pieces(a.nnz(), entries_per_piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t n = 0;
    for_entries(a, begin, end, [&](std::uint64_t row, std::uint64_t k) { n += a.col_idx()[k] <= row; });
    lower += n;
  });
  return lower;
}

/// Calls append(text, begin, end) for pieces of [0, n) in parallel and writes the texts in order.
template <class F>
void write_pieces(TextOutput& sink, std::uint64_t n, int threads, const ProgressCallback& progress, F&& append) {
  const std::uint64_t batch = static_cast<std::uint64_t>(thread_count(threads)) * pieces_per_thread * entries_per_piece;
  std::vector<fmt::memory_buffer> texts(batch / entries_per_piece);
  for (std::uint64_t begin = 0; begin < n; begin += batch) {
    const std::uint64_t end = std::min(n, begin + batch);
    parallel_pieces(end - begin, entries_per_piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      append(texts[first / entries_per_piece], begin + first, begin + last);
    });
    for (fmt::memory_buffer& text : texts) {
      sink.write({text.data(), text.size()});
      text.clear();
    }
    report_progress(progress, "write", end, n);
  }
}

}  // namespace

void write_matrix_market(const std::string& path, const SourceMatrix& source, bool overwrite, int threads,
                         const ProgressCallback& progress) {
  const CsrView a = source.matrix;
  if (source.field == Field::pattern && source.symmetry == Symmetry::skew_symmetric)
    throw Error(errc::bad_input, "a pattern has no signs and cannot be skew-symmetric", {}, "declare it symmetric");
  if (source.symmetry == Symmetry::hermitian && source.field != Field::complex)
    throw Error(errc::bad_input, fmt::format("a {} matrix cannot be hermitian", to_string(source.field)), {},
                "declare it symmetric");
  dispatch_any(a.value_type(), [&](auto type) { check_field<decltype(type)>(a, source.field, threads); });
  check_symmetry(a, source.symmetry, threads);

  TextOutput sink(path, overwrite);
  std::string head =
      fmt::format("%%MatrixMarket matrix coordinate {} {}\n", to_string(source.field), to_string(source.symmetry));
  for (const std::string& comment : source.provenance.comments) {
    head += '%';
    for (const char c : comment) head += c == '\n' ? std::string("\n%") : std::string(1, c);
    head += '\n';
  }
  const std::uint64_t entries = source.symmetry == Symmetry::general ? a.nnz() : count_lower(a, threads);
  sink.write(head + fmt::format("{} {} {}\n", a.rows(), a.cols(), entries));
  dispatch_any(a.value_type(), [&](auto type) {
    write_pieces(sink, a.nnz(), threads, progress,
                 [&](fmt::memory_buffer& out, std::uint64_t begin, std::uint64_t end) {
                   append_entries<decltype(type)>(out, a, source, begin, end);
                 });
  });
  sink.commit();
}

template <class T>
void write_vector(const std::string& path, std::span<const T> vector, bool overwrite) {
  TextOutput sink(path, overwrite);
  sink.write(fmt::format("%%MatrixMarket matrix array {} general\n{} 1\n", to_string(field_of(value_type_of<T>)),
                         vector.size()));
  write_pieces(sink, vector.size(), 0, {}, [&](fmt::memory_buffer& out, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      append_value(out, vector[i], Field::real);
      out.push_back('\n');
    }
  });
  sink.commit();
}

#define SPMVPACK_INSTANTIATE(T) template void write_vector(const std::string&, std::span<const T>, bool);
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::sources
