// A child that is forked after threads have run, as Python's multiprocessing forks its workers, works as its parent
// does.

#include <spmvpack/spmvpack.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

constexpr int threads = 4;

CsrMatrix random_square() {
  Entries entries;
  std::mt19937_64 rng(7);
  for (int k = 0; k < 40000; ++k)
    entries[{static_cast<std::uint32_t>(rng() % 3000), static_cast<std::uint32_t>(rng() % 3000)}] =
        random_value<double>(rng, 3);
  return make_csr(3000, 3000, entries);
}

std::vector<double> product(const HostMatrix& a, const std::vector<double>& x, int with_threads) {
  std::vector<double> y(a.facts().rows);
  a.multiply<double>(1, x, 0, std::span(y), with_threads);
  return y;
}

/// Encodes, loads and multiplies on threads of this process.
std::vector<double> all_of_it(const CsrMatrix& a, const std::vector<double>& x) {
  MemorySink sink;
  encoder::encode(a, {.transpose = true, .threads = threads}, sink);
  const Array<std::byte> bytes = sink.take();
  return product(HostMatrix::load(open({bytes.begin(), bytes.end()}), {.threads = threads}), x, threads);
}

/// The same in C.
std::vector<double> all_of_it_in_c(const CsrMatrix& a, const std::vector<double>& x) {
  const spmvpack_csr csr{a.rows,           a.cols,           a.nnz(),
                         a.row_ptr.data(), a.col_idx.data(), std::get<Array<double>>(a.values).data(),
                         SPMVPACK_I64,     SPMVPACK_I32,     SPMVPACK_F64};
  spmvpack_container* container = nullptr;
  spmvpack_host_matrix* matrix = nullptr;
  std::vector<double> y(a.rows);
  const double one = 1, zero = 0;
  const bool ok = spmvpack_encode(&csr, nullptr, &container) == SPMVPACK_OK &&
                  spmvpack_host_load(container, threads, &matrix) == SPMVPACK_OK &&
                  spmvpack_host_multiply(matrix, SPMVPACK_F64, &one, x.data(), &zero, y.data(), threads) == SPMVPACK_OK;
  spmvpack_host_free(matrix);
  spmvpack_close(container);
  return ok ? y : std::vector<double>();
}

/// Whether a forked child that runs `work` says that it went well; one that hangs is ended.
template <class F>
bool goes_well_in_a_child(F&& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(120);
    bool ok = false;
    try {
      ok = work();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the exit code says it
    }
    _exit(ok ? 0 : 1);  // nothing of Catch's
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a child that is forked before any thread has run has all threads") {
  CHECK(goes_well_in_a_child([] { return !lost_threads_in_fork() && thread_count(threads) == threads; }));
}

TEST_CASE("a child that is forked after threads have run encodes, loads and multiplies, on one thread") {
  const CsrMatrix a = random_square();
  const auto x = random_vector<double>(a.cols, 3);
  const HostMatrix loaded = HostMatrix::load(open(encode(a, "csr").bytes));
  const std::vector<double> y = product(loaded, x, threads), encoded = all_of_it(a, x), in_c = all_of_it_in_c(a, x);
  REQUIRE(in_c.size() == y.size());
  const auto work = [&] {
    return lost_threads_in_fork() && thread_count(threads) == 1 && same_bits(product(loaded, x, threads), y) &&
           same_bits(all_of_it(a, x), encoded) && same_bits(all_of_it_in_c(a, x), in_c);
  };
  CHECK(goes_well_in_a_child(work));
  CHECK(goes_well_in_a_child([&] { return goes_well_in_a_child(work); }));  // a child's child, too
  CHECK(!lost_threads_in_fork());
  CHECK(thread_count(threads) == threads);
  CHECK(same_bits(product(loaded, x, threads), y));
}

// The allocators of sanitizers keep the lock that the other thread held in the child, where nobody gives it back.
TEST_CASE("a child that is forked while another thread multiplies goes on multiplying") {
  if (sanitized) {
    WARN("skipped under a sanitizer");
    return;
  }
  const CsrMatrix a = random_square();
  const auto x = random_vector<double>(a.cols, 3);
  const HostMatrix loaded = HostMatrix::load(open(encode(a, "csr").bytes));
  const std::vector<double> y = product(loaded, x, 1);
  std::atomic<int> multiplied{0};
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      product(loaded, x, threads);
      ++multiplied;
    }
  });
  while (multiplied == 0) std::this_thread::yield();
  bool well = true;
  for (int i = 0; i < 20; ++i)
    well = well && goes_well_in_a_child([&] { return same_bits(product(loaded, x, threads), y); });
  done = true;
  other.join();
  CHECK(well);
}

}  // namespace spmvpack::test
