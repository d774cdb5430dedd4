#include "spmvpack/container/layouts/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::csr {
namespace {

bool wide(const PartView& part) { return part.type_of("row_ptr") == format::ElementType::u64; }

}  // namespace

CsrView view(const PartView& part) {
  return dispatch(part.info().value_type, [&]<class T>(T) {
    const auto columns = part.get<std::uint32_t>("col_idx");
    const auto values = part.get<T>("values");
    return wide(part) ? CsrView(part.rows(), part.cols(), part.get<std::uint64_t>("row_ptr"), columns, values)
                      : CsrView(part.rows(), part.cols(), part.get<std::uint32_t>("row_ptr"), columns, values);
  });
}

void check_shape(const PartView& part) {
  const std::uint64_t nnz = part.info().nnz;
  part.require(wide(part) == (nnz >= wide_from), "row_ptr",
               [&] { return fmt::format("row pointers of the wrong width for {} nonzeros", nnz); });
  const auto count = [&](std::string_view name, std::uint64_t found, std::uint64_t expected) {
    part.require(found == expected, name, [&] { return fmt::format("{} elements, expected {}", found, expected); });
  };
  if (wide(part))
    count("row_ptr", part.get<std::uint64_t>("row_ptr").size(), part.rows() + 1);
  else
    count("row_ptr", part.get<std::uint32_t>("row_ptr").size(), part.rows() + 1);
  count("col_idx", part.get<std::uint32_t>("col_idx").size(), nnz);
  dispatch(part.info().value_type, [&]<class T>(T) { count("values", part.get<T>("values").size(), nnz); });
  for (const std::uint64_t param : part.info().params)
    part.require(param == 0, {}, [&] { return fmt::format("parameter {}, expected 0", param); });
  const std::uint64_t workspace = part.info().workspace_bytes, merge = merge_workspace(nnz, part.info().value_type);
  part.require(workspace == 0 || workspace == merge, {},
               [&] { return fmt::format("workspace of {} bytes, expected 0 or {}", workspace, merge); });
}

void check(const PartView& part, int threads) {
  check_shape(part);
  try {
    view(part).check(threads);
  } catch (const Error& e) {
    part.fail(e.what(), "row_ptr or col_idx");
  }
}

CsrMatrix unpack(const PartView& part, int threads) {
  const CsrView a = view(part);
  CsrMatrix m = allocate_csr(a.rows(), a.cols(), a.nnz(), a.value_type());
  constexpr std::uint64_t piece = 1U << 18;
  parallel_pieces(a.rows() + 1, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) m.row_ptr[r] = a.row_ptr(r);
  });
  dispatch(a.value_type(), [&]<class T>(T) {
    auto& values = std::get<Array<T>>(m.values);
    parallel_pieces(a.nnz(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::copy(a.col_idx() + begin, a.col_idx() + end, m.col_idx.data() + begin);
      std::memcpy(values.data() + begin, a.values<T>() + begin, (end - begin) * sizeof(T));
    });
  });
  return m;
}

}  // namespace spmvpack::layouts::csr
