#include "bench/device_memory.hpp"
#include "commands/encoding_on_gpu.hpp"

namespace spmvpack::tools {

CsrOnGpu::CsrOnGpu(const CsrMatrix& a) : row_ptr_(bench::upload(a.row_ptr)), col_idx_(bench::upload(a.col_idx)) {
  csr_.rows = a.rows;
  csr_.cols = a.cols;
  csr_.nonzeros = a.nnz();
  csr_.row_ptr = row_ptr_.get();
  csr_.col_idx = col_idx_.get();
  csr_.value_type = a.value_type();
  std::visit([&](const auto& values) { values_ = bench::upload(values); }, a.values);
  csr_.values = values_.get();
}

}  // namespace spmvpack::tools
