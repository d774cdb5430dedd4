#include "source/real_parts.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/value_text.hpp"

namespace spmvpack::sources {
namespace {

template <class T>
void take(SourceMatrix& source, const std::string& where, int threads) {
  constexpr std::uint64_t piece = 1U << 16;
  CsrMatrix& m = source.matrix;
  const auto& from = std::get<Array<std::complex<T>>>(m.values);
  Array<T> to(from.size());
  std::atomic<std::uint64_t> first{from.size()};  // with an imaginary part
  parallel_pieces(from.size(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t k = begin; k < end; ++k) {
      to[k] = from[k].real();
      if (from[k].imag() == 0) continue;
      for (std::uint64_t seen = first; k < seen && !first.compare_exchange_weak(seen, k);) {
      }
      return;
    }
  });
  if (const std::uint64_t k = first; k != from.size())
    throw Error(errc::bad_input,
                fmt::format("row {}, column {}: the value {} has an imaginary part", m.view().row_of(k) + 1,
                            m.col_idx[k] + std::uint64_t{1}, value_text(from[k])),
                where, fmt::format("read the matrix as {}", to_string(value_type_of<std::complex<T>>)));
  m.values = std::move(to);
  source.field = Field::real;
  if (source.symmetry == Symmetry::hermitian) source.symmetry = Symmetry::symmetric;
}

}  // namespace

ValueType type_to_read(Field field, std::optional<ValueType> wanted, const std::string& where) {
  if (field != Field::complex) {
    if (wanted && holds_complex(*wanted))
      throw Error(errc::usage, fmt::format("the file holds {} values, not {}", to_string(field), to_string(*wanted)),
                  where, "read them as f64 or f32");
    return wanted.value_or(ValueType::f64);
  }
  return complex_type_of(wanted.value_or(ValueType::c128));
}

void take_real_parts(SourceMatrix& source, const std::string& where, int threads) {
  source.matrix.value_type() == ValueType::c64 ? take<float>(source, where, threads)
                                               : take<double>(source, where, threads);
}

}  // namespace spmvpack::sources
