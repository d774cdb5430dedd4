#include "check.hpp"

#include <fmt/format.h>

#include <string>

namespace spmvpack::gpu_encoder {
namespace {

/// An index out of range as the caller knows it: the arrays may be of signed numbers.
std::string as_given(std::uint64_t index, bool is_64_bit) {
  const std::int64_t as_signed =
      is_64_bit ? static_cast<std::int64_t>(index) : static_cast<std::int32_t>(static_cast<std::uint32_t>(index));
  return as_signed < 0 ? fmt::format("{} ({} if unsigned)", as_signed, index) : fmt::to_string(index);
}

std::string place(std::uint64_t row) { return fmt::format("row {}", row); }

}  // namespace

void refuse_first_pointer(std::uint64_t pointer, bool wide) {
  throw Error(errc::bad_input, fmt::format("row_ptr[0] is {}, expected 0", as_given(pointer, wide)));
}

void refuse_last_pointer(const Csr& a, std::uint64_t pointer, bool wide) {
  throw Error(errc::bad_input,
              fmt::format("row_ptr[{}] is {}, expected the {} nonzeros", a.rows, as_given(pointer, wide), a.nnz));
}

void refuse_pointers(const Csr& a, std::uint64_t row, std::uint64_t begin, std::uint64_t end, bool wide) {
  throw Error(errc::bad_input,
              fmt::format("row pointers {} and {} are not increasing up to {}", as_given(begin, wide),
                          as_given(end, wide), a.nnz),
              place(row));
}

void refuse_column(const Csr& a, std::uint64_t row, std::uint32_t column) {
  throw Error(errc::bad_input, fmt::format("column {} of a matrix with {} columns", as_given(column, false), a.cols),
              place(row));
}

void refuse_order(std::uint64_t row, std::uint32_t column, std::uint32_t before, const char* remedy) {
  throw Error(errc::bad_input, fmt::format("column {} after column {}", column, before), place(row), remedy);
}

}  // namespace spmvpack::gpu_encoder
