// The libraries' side of bench_host_peers.py: MKL's inspector-executor and AOCL-Sparse, each from a library that is
// loaded by name, so that neither headers nor libraries are needed to build this.
//
//     library_times mkl|aocl LIBRARY ARRAYS SECONDS COLUMNS
//
// Threads are those of MKL_NUM_THREADS and OMP_NUM_THREADS. Prints, as JSON, the version, and the times without
// mkl_sparse_optimize() or aoclsparse_optimize() and with. Of several columns, X and Y are row-major.

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "peers/warm_times.hpp"

namespace spmvpack::peers {
namespace {

/// Tells a library that it pays to look at the matrix.
constexpr int expected_calls = 1'000'000;
/// Numbers from a version's text on: "2026.2".
std::string number_in(std::string_view text) {
  const std::string_view from = text.substr(std::min(text.find_first_of("0123456789"), text.size()));
  return std::string(from.substr(0, from.find_first_not_of("0123456789.")));
}

class Library {
 public:
  explicit Library(const char* path) : library_(::dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
  }
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(::dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("the library has no ") + name);
  }
  static void check(int status, const char* what) {
    if (status != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(status));
  }

 private:
  void* library_;
};

/// As Intel's documentation of the C interface has it (oneMKL developer reference, "Inspector-Executor Sparse BLAS").
class Mkl : Library {
 public:
  explicit Mkl(const char* path) : Library(path) {
    find(create_, "mkl_sparse_d_create_csr");
    find(hint_, "mkl_sparse_set_mv_hint");
    find(hint_columns_, "mkl_sparse_set_mm_hint");
    find(optimize_, "mkl_sparse_optimize");
    find(multiply_, "mkl_sparse_d_mv");
    find(multiply_columns_, "mkl_sparse_d_mm");
    find(destroy_, "mkl_sparse_destroy");
    find(version_, "mkl_get_version_string");
  }

  [[nodiscard]] std::string version() const {
    std::array<char, 200> buffer{};
    version_(buffer.data(), static_cast<int>(buffer.size()) - 1);  // which does not end it
    const std::string_view text(buffer.data()), before = "Version ";
    return number_in(text.substr(std::min(text.find(before), text.size())));
  }

  [[nodiscard]] Times times(const Arrays& a, std::uint64_t columns, double seconds, bool optimize) const {
    constexpr int zero_based = 0, not_transposed = 10, general = 20, row_major = 101;
    constexpr Description description{general, 0, 0};
    const int k = static_cast<int>(columns);
    Handle matrix = nullptr;
    check(create_(&matrix, zero_based, static_cast<int>(a.rows), static_cast<int>(a.cols), a.row_ptr, a.row_ptr + 1,
                  a.col_idx, a.values),
          "mkl_sparse_d_create_csr");
    if (optimize) {
      check(columns == 1 ? hint_(matrix, not_transposed, description, expected_calls)
                         : hint_columns_(matrix, not_transposed, description, row_major, k, expected_calls),
            "mkl_sparse_set_hint");
      check(optimize_(matrix), "mkl_sparse_optimize");
    }
    const std::vector<double> x = a.columns_of_x(columns);
    const Times result = warm_times(a, columns, seconds, [&](double* y) {
      check(columns == 1
                ? multiply_(not_transposed, 1, matrix, description, x.data(), 0, y)
                : multiply_columns_(not_transposed, 1, matrix, description, row_major, x.data(), k, k, 0, y, k),
            "mkl_sparse_d_multiply");
    });
    check(destroy_(matrix), "mkl_sparse_destroy");
    return result;
  }

 private:
  using Handle = void*;
  struct Description {
    int type, mode, diagonal;
  };
  int (*create_)(Handle*, int, int, int, std::uint32_t*, std::uint32_t*, std::uint32_t*, double*) = nullptr;
  int (*hint_)(Handle, int, Description, int) = nullptr;
  int (*hint_columns_)(Handle, int, Description, int, int, int) = nullptr;
  int (*optimize_)(Handle) = nullptr;
  int (*multiply_)(int, double, Handle, Description, const double*, double, double*) = nullptr;
  int (*multiply_columns_)(int, double, Handle, Description, int, const double*, int, int, double, double*,
                           int) = nullptr;
  int (*destroy_)(Handle) = nullptr;
  void (*version_)(char*, int) = nullptr;
};

/// As AMD's documentation of the C interface has it (AOCL-Sparse API guide, "Level 2" and "Level 3").
class Aocl : Library {
 public:
  explicit Aocl(const char* path) : Library(path) {
    find(create_, "aoclsparse_create_dcsr");
    find(describe_, "aoclsparse_create_mat_descr");
    find(hint_, "aoclsparse_set_mv_hint");
    find(optimize_, "aoclsparse_optimize");
    find(multiply_, "aoclsparse_dmv");
    find(multiply_columns_, "aoclsparse_dcsrmm");
    find(destroy_, "aoclsparse_destroy");
    find(version_, "aoclsparse_get_version");
  }

  [[nodiscard]] std::string version() const { return number_in(version_()); }

  [[nodiscard]] Times times(const Arrays& a, std::uint64_t columns, double seconds, bool optimize) const {
    constexpr int zero_based = 0, not_transposed = 111, row_major = 0;
    constexpr double one = 1, zero = 0;
    const int k = static_cast<int>(columns);
    Handle matrix = nullptr, description = nullptr;
    check(describe_(&description), "aoclsparse_create_mat_descr");
    check(create_(&matrix, zero_based, static_cast<int>(a.rows), static_cast<int>(a.cols), static_cast<int>(a.nnz),
                  a.row_ptr, a.col_idx, a.values),
          "aoclsparse_create_dcsr");
    if (optimize) {
      check(hint_(matrix, not_transposed, description, expected_calls), "aoclsparse_set_mv_hint");
      check(optimize_(matrix), "aoclsparse_optimize");
    }
    const std::vector<double> x = a.columns_of_x(columns);
    bool cleared = false;
    const Times result = warm_times(a, columns, seconds, [&](double* y) {
      if (!std::exchange(cleared, true)) std::fill_n(y, a.rows * columns, 0.0);  // csrmm multiplies NaN by a beta of 0
      check(columns == 1
                ? multiply_(not_transposed, &one, matrix, description, x.data(), &zero, y)
                : multiply_columns_(not_transposed, 1, matrix, description, row_major, x.data(), k, k, 0, y, k),
            "aoclsparse_multiply");
    });
    check(destroy_(&matrix), "aoclsparse_destroy");
    return result;
  }

 private:
  using Handle = void*;
  int (*create_)(Handle*, int, int, int, int, std::uint32_t*, std::uint32_t*, double*) = nullptr;
  int (*describe_)(Handle*) = nullptr;
  int (*hint_)(Handle, int, Handle, int) = nullptr;
  int (*optimize_)(Handle) = nullptr;
  int (*multiply_)(int, const double*, Handle, Handle, const double*, const double*, double*) = nullptr;
  int (*multiply_columns_)(int, double, Handle, Handle, int, const double*, int, int, double, double*, int) = nullptr;
  int (*destroy_)(Handle*) = nullptr;
  const char* (*version_)() = nullptr;
};

template <class Peer>
void measure_library(const char* library, const Arrays& a, double seconds, std::uint64_t columns) {
  const Peer peer(library);
  const Times plain = peer.times(a, columns, seconds, false), optimized = peer.times(a, columns, seconds, true);
  std::printf("{\"version\": \"%s\", \"plain\": {%s}, \"optimized\": {%s}}\n", peer.version().c_str(),
              plain.json().c_str(), optimized.json().c_str());
}

}  // namespace
}  // namespace spmvpack::peers

int main(int argc, char** argv) try {
  using namespace spmvpack::peers;
  const std::string_view name = argc == 6 ? argv[1] : "";
  if (name != "mkl" && name != "aocl") {
    std::fputs("usage: library_times mkl|aocl LIBRARY ARRAYS SECONDS COLUMNS\n", stderr);
    return 2;
  }
  const Arrays a(argv[3]);
  const auto run = name == "mkl" ? &measure_library<Mkl> : &measure_library<Aocl>;
  run(argv[2], a, std::atof(argv[4]), std::strtoul(argv[5], nullptr, 10));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "library_times: %s\n", e.what());
  return 1;
}
