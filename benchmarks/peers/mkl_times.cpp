// MKL's side of bench_host_peers.py: its inspector-executor (mkl_sparse_?_mv), from a library that is loaded by name,
// so that neither its headers nor the library itself are needed to build this.
//
//     mkl_times LIBRARY ARRAYS SECONDS
//
// Threads are those of MKL_NUM_THREADS. Prints, as JSON, the version, and the times without mkl_sparse_optimize() and
// with.

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "peers/warm_times.hpp"

namespace spmvpack::peers {
namespace {

// As Intel's documentation of the C interface has them (oneMKL developer reference, "Inspector-Executor Sparse BLAS").
using Handle = void*;
struct Description {
  int type, mode, diagonal;
};
constexpr int success = 0, zero_based = 0, not_transposed = 10, general = 20;
/// Tells the library that it pays to look at the matrix.
constexpr int expected_calls = 1'000'000;

class Mkl {
 public:
  explicit Mkl(const char* path) : library_(::dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
    find(create_, "mkl_sparse_d_create_csr");
    find(set_mv_hint_, "mkl_sparse_set_mv_hint");
    find(optimize_, "mkl_sparse_optimize");
    find(multiply_, "mkl_sparse_d_mv");
    find(destroy_, "mkl_sparse_destroy");
    find(version_, "mkl_get_version_string");
  }

  /// Such as "2026.2".
  [[nodiscard]] std::string version() const {
    std::array<char, 200> buffer{};
    version_(buffer.data(), static_cast<int>(buffer.size()) - 1);  // which does not end it
    const std::string text(buffer.data());
    constexpr std::string_view before = "Version ";
    const std::size_t found = text.find(before), begin = found == std::string::npos ? 0 : found + before.size();
    return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
  }

  [[nodiscard]] Times times(const Arrays& a, double seconds, bool optimize) const {
    constexpr Description description{general, 0, 0};
    Handle matrix = nullptr;
    check(create_(&matrix, zero_based, static_cast<int>(a.rows), static_cast<int>(a.cols), a.row_ptr, a.row_ptr + 1,
                  a.col_idx, a.values),
          "create_csr");
    if (optimize) {
      check(set_mv_hint_(matrix, not_transposed, description, expected_calls), "set_mv_hint");
      check(optimize_(matrix), "optimize");
    }
    const Times result = warm_times(
        a, seconds, [&](double* y) { check(multiply_(not_transposed, 1, matrix, description, a.x, 0, y), "mv"); });
    check(destroy_(matrix), "destroy");
    return result;
  }

 private:
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("the library has no ") + name);
  }
  static void check(int status, const char* what) {
    if (status != success) throw std::runtime_error(std::string("mkl_sparse_") + what + ": " + std::to_string(status));
  }

  void* library_;
  int (*create_)(Handle*, int, int, int, std::uint32_t*, std::uint32_t*, std::uint32_t*, double*) = nullptr;
  int (*set_mv_hint_)(Handle, int, Description, int) = nullptr;
  int (*optimize_)(Handle) = nullptr;
  int (*multiply_)(int, double, Handle, Description, const double*, double, double*) = nullptr;
  int (*destroy_)(Handle) = nullptr;
  void (*version_)(char*, int) = nullptr;
};

}  // namespace
}  // namespace spmvpack::peers

int main(int argc, char** argv) try {
  using namespace spmvpack::peers;
  if (argc != 4) {
    std::fputs("usage: mkl_times LIBRARY ARRAYS SECONDS\n", stderr);
    return 2;
  }
  const Arrays a(argv[2]);
  const Mkl mkl(argv[1]);
  const double seconds = std::atof(argv[3]);
  const Times plain = mkl.times(a, seconds, false), optimized = mkl.times(a, seconds, true);
  std::printf("{\"version\": \"%s\", \"plain\": {%s}, \"optimized\": {%s}}\n", mkl.version().c_str(),
              plain.json().c_str(), optimized.json().c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "mkl_times: %s\n", e.what());
  return 1;
}
