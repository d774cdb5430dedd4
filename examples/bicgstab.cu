// What a faster multiply is worth to a solver: BiCGSTAB, or CG, on cuBLAS, with spmvpack's multiply and with cuSPARSE's
// CSR and COO (the comparison of figure 5 in Aliaga et al., Euro-Par 2020 Workshops).
//
//     example_bicgstab A.spmvc [cg|bicgstab] [ITERATIONS]
//
// First a fixed number of iterations (500) with each multiply: time, GFLOP/s, ratio. Then A x = b is solved to a
// relative residual of 1e-10, b being A times a known x; the residual is computed again on the host. Exit code 1 if it
// does not get there.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace {

#define REQUIRE(call)                                                        \
  do {                                                                       \
    if (static_cast<int>(call) != 0) {                                       \
      std::fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
      std::exit(1);                                                          \
    }                                                                        \
  } while (0)

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) {
    void* p = nullptr;
    REQUIRE(cudaMalloc(&p, std::max<std::size_t>(n, 1) * sizeof(T)));
    data_ = {static_cast<T*>(p), [](T* q) { cudaFree(q); }};
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    REQUIRE(cudaMemcpy(data_.get(), from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] T* get() const { return data_.get(); }
  [[nodiscard]] std::vector<T> host() const {
    std::vector<T> to(n_);
    REQUIRE(cudaMemcpy(to.data(), data_.get(), n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  std::size_t n_;
  std::shared_ptr<T> data_;
};

/// y = A x
using Multiply = std::function<void(const double* x, double* y)>;

/// cuSPARSE's multiply with one format.
class Cusparse {
 public:
  Cusparse(const spmvpack::CsrMatrix& a, bool coo)
      : rows_(static_cast<std::int64_t>(a.rows)),
        cols_(static_cast<std::int64_t>(a.cols)),
        algorithm_(coo ? CUSPARSE_SPMV_COO_ALG1 : CUSPARSE_SPMV_CSR_ALG2),
        rows_of_(row_array(a, coo)),
        col_idx_(std::vector<std::int32_t>(a.col_idx.begin(), a.col_idx.end())),
        values_(std::vector<double>(std::get<0>(a.values).begin(), std::get<0>(a.values).end())),
        x_(a.cols),
        y_(a.rows) {
    const auto nnz = static_cast<std::int64_t>(a.nnz());
    REQUIRE(cusparseCreate(&handle_));
    if (coo)
      REQUIRE(cusparseCreateCoo(&matrix_, rows_, cols_, nnz, rows_of_.get(), col_idx_.get(), values_.get(),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    else
      REQUIRE(cusparseCreateCsr(&matrix_, rows_, cols_, nnz, rows_of_.get(), col_idx_.get(), values_.get(),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    REQUIRE(cusparseCreateDnVec(&in_, cols_, x_.get(), CUDA_R_64F));
    REQUIRE(cusparseCreateDnVec(&out_, rows_, y_.get(), CUDA_R_64F));
    std::size_t bytes = 0;
    REQUIRE(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, in_, &zero, out_,
                                    CUDA_R_64F, algorithm_, &bytes));
    buffer_ = std::make_unique<DeviceArray<char>>(bytes);
    REQUIRE(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, in_, &zero, out_,
                                    CUDA_R_64F, algorithm_, buffer_->get()));
  }
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  ~Cusparse() {
    cusparseDestroyDnVec(out_);
    cusparseDestroyDnVec(in_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }

  void operator()(const double* x, double* y) const {
    REQUIRE(cusparseDnVecSetValues(in_, const_cast<double*>(x)));
    REQUIRE(cusparseDnVecSetValues(out_, y));
    REQUIRE(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, in_, &zero, out_, CUDA_R_64F,
                         algorithm_, buffer_->get()));
  }

 private:
  static constexpr double one = 1, zero = 0;
  /// Row pointers, or the row of each entry.
  static std::vector<std::int32_t> row_array(const spmvpack::CsrMatrix& a, bool coo) {
    if (!coo) return {a.row_ptr.begin(), a.row_ptr.end()};
    std::vector<std::int32_t> rows;
    for (std::size_t r = 0; r < a.rows; ++r)
      rows.insert(rows.end(), a.row_ptr[r + 1] - a.row_ptr[r], static_cast<int>(r));
    return rows;
  }

  std::int64_t rows_, cols_;
  cusparseSpMVAlg_t algorithm_;
  DeviceArray<std::int32_t> rows_of_, col_idx_;
  DeviceArray<double> values_, x_, y_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t in_ = nullptr, out_ = nullptr;
  std::unique_ptr<DeviceArray<char>> buffer_;
};

/// The vector operations of a solver.
class Blas {
 public:
  explicit Blas(int n) : n_(n) { REQUIRE(cublasCreate(&handle_)); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas() { cublasDestroy(handle_); }
  double dot(const double* x, const double* y) {
    ++operations;
    double r = 0;
    REQUIRE(cublasDdot(handle_, n_, x, 1, y, 1, &r));
    return r;
  }
  double norm(const double* x) { return std::sqrt(dot(x, x)); }
  /// y += a x
  void add(double a, const double* x, double* y) {
    ++operations;
    REQUIRE(cublasDaxpy(handle_, n_, &a, x, 1, y, 1));
  }
  /// y = x + a y
  void scale_add(double a, const double* x, double* y) {
    REQUIRE(cublasDscal(handle_, n_, &a, y, 1));
    add(1, x, y);
  }
  void copy(const double* x, double* y) { REQUIRE(cublasDcopy(handle_, n_, x, 1, y, 1)); }
  std::uint64_t operations = 0;  ///< of 2 n flops each

 private:
  cublasHandle_t handle_ = nullptr;
  int n_;
};

struct Outcome {
  int iterations = 0;
  double residual = 0;  ///< relative, by the recurrence
};

/// Solves A x = b from x = 0, until the residual is below `tolerance` times b, or after `most` iterations.
Outcome cg(const Multiply& multiply, Blas& blas, std::size_t n, const double* b, double* x, double tolerance,
           int most) {
  DeviceArray<double> r(n), p(n), q(n);
  REQUIRE(cudaMemset(x, 0, n * sizeof(double)));
  blas.copy(b, r.get());
  blas.copy(b, p.get());
  double rr = blas.dot(r.get(), r.get());
  const double goal = tolerance * std::sqrt(rr), norm_b = std::sqrt(rr);
  Outcome o;
  while (o.iterations < most && std::sqrt(rr) > goal) {
    multiply(p.get(), q.get());
    const double alpha = rr / blas.dot(p.get(), q.get());
    blas.add(alpha, p.get(), x);
    blas.add(-alpha, q.get(), r.get());
    const double next = blas.dot(r.get(), r.get());
    blas.scale_add(next / rr, r.get(), p.get());
    rr = next;
    ++o.iterations;
  }
  o.residual = std::sqrt(rr) / norm_b;
  return o;
}

Outcome bicgstab(const Multiply& multiply, Blas& blas, std::size_t n, const double* b, double* x, double tolerance,
                 int most) {
  DeviceArray<double> r(n), shadow(n), p(n), v(n), t(n);
  REQUIRE(cudaMemset(x, 0, n * sizeof(double)));
  REQUIRE(cudaMemset(p.get(), 0, n * sizeof(double)));
  REQUIRE(cudaMemset(v.get(), 0, n * sizeof(double)));
  blas.copy(b, r.get());
  blas.copy(b, shadow.get());
  double rho = 1, alpha = 1, omega = 1, norm_r = blas.norm(r.get());
  const double norm_b = norm_r, goal = tolerance * norm_b;
  Outcome o;
  while (o.iterations < most && norm_r > goal) {
    const double next = blas.dot(shadow.get(), r.get()), beta = next / rho * (alpha / omega);
    rho = next;
    blas.add(-omega, v.get(), p.get());  // p = r + beta (p - omega v)
    blas.scale_add(beta, r.get(), p.get());
    multiply(p.get(), v.get());
    alpha = rho / blas.dot(shadow.get(), v.get());
    blas.add(-alpha, v.get(), r.get());
    multiply(r.get(), t.get());
    omega = blas.dot(t.get(), r.get()) / blas.dot(t.get(), t.get());
    blas.add(alpha, p.get(), x);
    blas.add(omega, r.get(), x);
    blas.add(-omega, t.get(), r.get());
    norm_r = blas.norm(r.get());
    ++o.iterations;
  }
  o.residual = norm_r / norm_b;
  return o;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string method = argc > 2 ? argv[2] : "bicgstab";
  if (argc < 2 || argc > 4 || (method != "cg" && method != "bicgstab")) {
    std::fprintf(stderr, "usage: example_bicgstab A.spmvc [cg|bicgstab] [ITERATIONS]\n");
    return 2;
  }
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 500;
  const auto solve = method == "cg" ? cg : bicgstab;

  const spmvpack::Container container = spmvpack::Container::open(argv[1]);
  const spmvpack::CsrMatrix csr = spmvpack::unpack(container);
  if (csr.rows != csr.cols || csr.nnz() >= 1U << 31U || csr.value_type() != spmvpack::ValueType::f64) {
    std::fprintf(stderr, "example_bicgstab: a square f64 matrix of fewer than 2^31 nonzeros, please\n");
    return 1;
  }
  const std::size_t n = csr.rows;
  spmvpack::gpu_loader::DeviceLoadOptions options;
  options.cache_share = spmvpack::gpu_loader::solver_cache_share;  // one multiply after the other
  const spmvpack::gpu_loader::DeviceMultiplier ours(
      spmvpack::gpu_loader::DeviceMatrix::load(container, nullptr, options));
  const Cusparse cusparse_csr(csr, false), cusparse_coo(csr, true);
  const Multiply with_ours = [&](const double* x, double* y) {
    ours.multiply<double>(1.0, {x, n}, 0.0, {y, n}, nullptr);
  };

  // A solution that everybody knows.
  std::vector<double> known(n);
  std::mt19937_64 rng(1);
  for (double& v : known) v = std::uniform_real_distribution<double>(0.5, 1.5)(rng);
  const DeviceArray<double> device_known(known), b(n), x(n);
  with_ours(device_known.get(), b.get());
  Blas blas(static_cast<int>(n));

  std::printf("%s, %d iterations on %zu unknowns, %llu nonzeros\n", method.c_str(), iterations, n,
              static_cast<unsigned long long>(csr.nnz()));
  const double multiplies = method == "cg" ? 1 : 2;
  double our_time = 0;
  struct {
    const char* name;
    Multiply multiply;
  } const all[] = {
      {"spmvpack", with_ours}, {"cuSPARSE CSR", std::ref(cusparse_csr)}, {"cuSPARSE COO", std::ref(cusparse_coo)}};
  for (const auto& [name, multiply] : all) {
    std::vector<float> times;
    double flops = 0;
    for (int run = 0; run < 6; ++run) {  // the first warms up
      cudaEvent_t begin, end;
      REQUIRE(cudaEventCreate(&begin));
      REQUIRE(cudaEventCreate(&end));
      blas.operations = 0;
      REQUIRE(cudaEventRecord(begin));
      const Outcome o = solve(multiply, blas, n, b.get(), x.get(), 0, iterations);
      REQUIRE(cudaEventRecord(end));
      REQUIRE(cudaEventSynchronize(end));
      float ms = 0;
      REQUIRE(cudaEventElapsedTime(&ms, begin, end));
      if (run != 0) times.push_back(ms / static_cast<float>(std::max(o.iterations, 1)));
      flops = (multiplies * 2.0 * static_cast<double>(csr.nnz()) * o.iterations +
               2.0 * static_cast<double>(n) * static_cast<double>(blas.operations)) /
              std::max(o.iterations, 1);
      REQUIRE(cudaEventDestroy(begin));
      REQUIRE(cudaEventDestroy(end));
    }
    std::sort(times.begin(), times.end());
    const double ms = times[times.size() / 2];
    if (our_time == 0) our_time = ms;
    std::printf("  %-12s  %8.1f us an iteration, %6.1f GFLOP/s, spmvpack is %.2fx\n", name, 1e3 * ms, flops / ms * 1e-6,
                ms / our_time);
  }

  constexpr double tolerance = 1e-10;
  const Outcome o = solve(with_ours, blas, n, b.get(), x.get(), tolerance, 100000);
  const std::vector<double> found = x.host(), rhs = b.host();
  std::vector<double> residual = rhs;
  spmvpack::host_loader::HostMatrix::load(container).multiply<double>(-1.0, found, 1.0, residual);
  double norm_r = 0, norm_b = 0, error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    norm_r += residual[i] * residual[i];
    norm_b += rhs[i] * rhs[i];
    error = std::max(error, std::abs(found[i] - known[i]));
  }
  const double relative = std::sqrt(norm_r / norm_b);
  std::printf("solved in %d iterations: relative residual %.1e (on the host %.1e), largest error %.1e\n", o.iterations,
              o.residual, relative, error);
  return o.residual <= tolerance && relative <= 10 * tolerance ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "example_bicgstab: %s\n", e.what());
  return 1;
}
