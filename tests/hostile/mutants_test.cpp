// Containers that somebody made: what the host's check accepts, it multiplies as the entries are that unpacking finds,
// the same on any number of threads and in several columns, and within its vectors. gpu_mutants_test.cpp holds a GPU
// against the host.

#include "mutants.hpp"

#include "columns.hpp"
#include "expected.hpp"
#include "products.hpp"

namespace spmvpack::test::hostile {
namespace {

using host_loader::HostMatrix;

/// A vector whose memory ends with it, so that a sanitizer sees who reads past it; NaN where nothing is set.
template <class V>
class ExactVector {
 public:
  explicit ExactVector(const std::vector<V>& from) : size_(from.size()), memory_(new V[size_]) {
    std::copy(from.begin(), from.end(), memory_.get());
  }
  [[nodiscard]] std::span<V> span() { return {memory_.get(), size_}; }
  [[nodiscard]] std::vector<V> get() const { return {memory_.get(), memory_.get() + size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<V[]> memory_;  // NOLINT(*-avoid-c-arrays): of exactly this size
};

template <class V>
std::vector<V> multiply(const HostMatrix& a, Operation operation, V alpha, const std::vector<V>& x, V beta,
                        const std::vector<V>& y0, int threads) {
  ExactVector<V> of_x(x), of_y(y0);
  a.multiply<V>(alpha, of_x.span(), beta, of_y.span(), threads, describe<V>(operation));
  return of_y.get();
}

/// Whether each of several columns becomes y, except for which NaN a NaN is, and nothing else changes.
template <class V>
bool columns_are_alike(const HostMatrix& a, Operation operation, V alpha, const std::vector<V>& x, V beta,
                       const std::vector<V>& y0, const std::vector<V>& y, const Storage& storage) {
  StoredColumns<V> all_x({x, x, x}, x.size(), storage), all_y({y0, y0, y0}, y0.size(), storage);
  const StoredColumns<V> expected({y, y, y}, y.size(), storage);
  a.multiply<V>(alpha, all_x.view(), beta, all_y.view(), 1, describe<V>(operation));
  return same_bits_or_nan(all_y.memory, expected.memory);
}

template <class V>
std::string wrong_product(const Entries& entries, const HostMatrix& a) {
  for (const Operation operation : {Operation::none, Operation::transpose}) {
    if (operation == Operation::transpose && !a.has_transpose()) continue;
    const bool plain = operation == Operation::none;
    const std::uint64_t rows = plain ? a.facts().rows : a.facts().cols, cols = plain ? a.facts().cols : a.facts().rows;
    const std::vector<V> x = random_vector<V>(cols, 3), y0 = random_vector<V>(rows, 4),
                         nothing(rows, std::numeric_limits<V>::quiet_NaN());
    const Products expected = entries.products(operation, x);
    for (const bool adds : {false, true}) {
      const V alpha = adds ? V(-2.5) : V(1), beta = adds ? V(0.75) : V(0);
      const std::vector<V>& before = adds ? y0 : nothing;
      const std::vector<V> y = multiply(a, operation, alpha, x, beta, before, 1);
      const std::string how = fmt::format("{}, f{}, beta {}: ", plain ? "A" : "A^T", 8 * sizeof(V), beta);
      if (const std::string found = expected.difference(y, alpha, beta, y0); !found.empty()) return how + found;
      if (!adds && !same_bits(y, multiply(a, operation, alpha, x, beta, before, 3)))
        return how + "other bits by three threads";
      for (const std::size_t of : {1U, 2U})
        if (!columns_are_alike(a, operation, alpha, x, beta, before, y, storages.at(of)))
          return fmt::format("{}other bits of several columns in {}", how, storages.at(of).name);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("mutants that are accepted multiply on the host as their entries do") {
  each_mutant(sanitized ? 700 : 3000, [](const std::vector<std::byte>& /*file*/, const Judged& judged) {
    if (!judged.host) return std::string();
    const Entries entries(*judged.container);
    std::string wrong = wrong_product<double>(entries, *judged.host);
    if (wrong.empty() && judged.host->facts().value_type == ValueType::f32)
      wrong = wrong_product<float>(entries, *judged.host);
    return wrong;
  });
}

}  // namespace spmvpack::test::hostile
