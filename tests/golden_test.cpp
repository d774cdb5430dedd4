// Every golden file in this process: loaded, or refused with the code that its text file names. tests/format_test.py
// compares what they hold, and runs the command on some.

#include <cmath>

#include "catch.hpp"
#include "containers.hpp"
#include "products.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

std::vector<std::filesystem::path> golden(const std::string& kind) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SPMVPACK_TEST_GOLDEN "/" + kind))
    if (entry.path().extension() == ".spmvc") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  REQUIRE(paths.size() > 40);
  return paths;
}

/// What loading a whole file ends with: 0, or the exit code that the command has for it.
int verdict(const std::filesystem::path& path) {
  try {
    const Container container = Container::open(path);
    container.check_blocks();
    unpack(container);
    if (!container.parts(format::Role::transpose).empty()) unpack(container, {}, format::Role::transpose);
    (void)container.provenance();
  } catch (const Error& e) {
    switch (e.code()) {
      case errc::bad_input:
        return 3;
      case errc::corrupt:
        return 4;
      case errc::unsupported:
        return 5;
      default:
        return -1;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("every golden file to accept is accepted") {
  for (const std::filesystem::path& path : golden("accept")) {
    INFO(path.stem());
    CHECK(verdict(path) == 0);
  }
}

TEST_CASE("every golden file to accept multiplies as its entries do") {
  int multiplied = 0;
  for (const std::filesystem::path& path : golden("accept")) {
    const Container container = Container::open(path);
    if (std::max(container.facts().rows, container.facts().cols) > 1'000'000) continue;
    const CsrMatrix a = unpack(container);
    dispatch(a.value_type(), [&]<class A>(A) {
      const auto& values = std::get<Array<A>>(a.values);
      if (!std::all_of(values.begin(), values.end(), [](A value) { return std::isfinite(value); })) return;
      INFO(path.stem());
      const auto x = random_vector<double>(a.cols, 5);
      std::vector<double> y(a.rows);
      host_loader::HostMatrix::load(container).multiply<double>(1, x, 0, y, 2);
      require_correct<A>(a, x, y);
      ++multiplied;
    });
  }
  CHECK(multiplied > 200);
}

TEST_CASE("every golden file to reject is rejected, for what it is") {
  for (const std::filesystem::path& path : golden("reject")) {
    INFO(path.stem());
    int expected = 0;
    std::ifstream(std::filesystem::path(path).replace_extension(".txt")) >> expected;
    REQUIRE(expected != 0);
    CHECK(verdict(path) == expected);
  }
}

}  // namespace spmvpack::test
