#pragma once
// A stream of mutants: of the golden files, of what encode() makes, and of earlier mutants that were accepted, so that
// they get further and further from what any writer does. The same for a seed, on every machine.
//
// Environment: SPMVPACK_TEST_MUTANTS, how many; SPMVPACK_TEST_SEED; SPMVPACK_TEST_KEEP, a directory for the file of the
// latest one, which may have crashed, and of those that fail.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "catch.hpp"
#include "dealt.hpp"
#include "golden_files.hpp"
#include "matrices.hpp"
#include "mutator.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test::hostile {

/// A number of the environment.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What is known of a file once the host has loaded it, or has not.
struct Judged {
  std::optional<Container> container;
  std::optional<host_loader::HostMatrix> host;
  errc code = errc::corrupt;  ///< if there is no matrix
  std::string message;
};

inline Judged judge(const std::vector<std::byte>& file) {
  constexpr std::uint64_t enough = std::uint64_t{64} << 20U;
  Judged j;
  try {
    j.container = Container::open(memory_source(file), "mutant", enough);
    j.host = host_loader::HostMatrix::load(*j.container, {.threads = 1, .memory_limit = enough});
  } catch (const Error& e) {
    j.code = e.code();
    j.message = e.what();
    // Files cause no other errors.
    REQUIRE((e.code() == errc::corrupt || e.code() == errc::unsupported || e.code() == errc::too_large ||
             e.code() == errc::out_of_memory));
  }
  return j;
}

class Mutants {
 public:
  static constexpr std::size_t most_bytes = 24'000;  ///< of a file that is mutated
  static constexpr std::uint64_t most_rows = 20'000;

  explicit Mutants(std::uint64_t seed) : mutator_(seed) {
    for (const GoldenFile& file : golden_files("accept"))
      if (std::filesystem::file_size(file.path) <= most_bytes) add(Container::open(file.path));
    // Few rows of many lengths and many rows of few, with values of all kinds.
    for (const int values : {0, 1, 3}) {
      std::mt19937_64 rng(static_cast<std::uint64_t>(values));
      const CsrMatrix a = from_rows<double>(70, 70, rng, values, [&](std::uint64_t row) {
        std::vector<std::uint32_t> columns(row == 20 ? 60 : row % 5 == 0 ? 0 : 1 + rng() % 6);
        for (std::uint32_t& c : columns) c = static_cast<std::uint32_t>(rng() % 70);
        return columns;
      });
      for (const Variant& variant : every_variant())
        if (suits(a, variant)) add(encode(a, variant.layout, variant.settings).bytes);
      const SourceMatrix source{clone(a), Field::real, Symmetry::general, {}};
      add(encode(source, dealt(3), {.transpose = true, .threads = 1}).bytes);
    }
  }

  /// The next mutant's file, if it can be written; of all kinds of containers by turns.
  std::optional<std::vector<std::byte>> next() {
    ++number_;
    auto kind = seeds_.begin();
    std::advance(kind, static_cast<std::ptrdiff_t>(number_ % seeds_.size()));
    const std::vector<MutableContainer>& all = kind->second;
    const std::size_t n = all.size(), of_children = n - n_of_seeds_.at(kind->first);
    // Half of them are mutants of mutants.
    const std::size_t i =
        of_children != 0 && mutator_.pick(2) == 0 ? n - 1 - mutator_.pick(of_children) : mutator_.pick(n);
    mutant_ = all[i];
    mutator_.mutate(*mutant_);
    return write();
  }
  /// The file with as many entries as the check has found, if that was all that it found wrong.
  std::optional<std::vector<std::byte>> with_entries_as_found(const std::string& message) {
    unsigned long long found = 0, said = 0;
    std::size_t part = 0;
    const std::size_t at = message.find(" entries, the part table says ");
    if (at == std::string::npos) return std::nullopt;
    const std::size_t begin = message.rfind(' ', at - 1);
    if (std::sscanf(message.c_str() + begin + 1, "%llu entries, the part table says %llu", &found, &said) != 2)
      return std::nullopt;
    if (const std::size_t named = message.find("part "); named != std::string::npos)
      part = std::strtoull(message.c_str() + named + 5, nullptr, 10);
    MutablePart& p = mutant_->parts.at(part);
    p.info.nnz += found - said;
    if (p.info.role == format::Role::a) mutant_->facts.nnz += found - said;
    return write();
  }
  /// The latest mutant has been accepted, and may be mutated again.
  void keep() {
    std::vector<MutableContainer>& all = seeds_[mutant_->kind()];
    const std::size_t of_seeds = n_of_seeds_[mutant_->kind()];
    if (all.size() < of_seeds + most_children)
      all.push_back(std::move(*mutant_));
    else
      all[of_seeds + mutator_.pick(most_children)] = std::move(*mutant_);
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::string kind() const { return mutant_->kind(); }

 private:
  static constexpr std::size_t most_children = 200;

  void add(const std::vector<std::byte>& file) { add(open(file)); }
  void add(const Container& c) {
    if (c.parts().empty()) return;
    MutableContainer seed(c);
    ++n_of_seeds_[seed.kind()];
    seeds_[seed.kind()].push_back(std::move(seed));
  }
  [[nodiscard]] std::optional<std::vector<std::byte>> write() const {
    if (mutant_->facts.rows > most_rows || mutant_->facts.cols > most_rows) return std::nullopt;
    try {
      std::vector<std::byte> file = mutant_->write();
      if (file.size() > most_bytes) return std::nullopt;
      return file;
    } catch (const Error&) {  // of what no reader would take
      return std::nullopt;
    }
  }

  Mutator mutator_;
  std::map<std::string, std::vector<MutableContainer>> seeds_;  ///< by their kind: what is there first, then mutants
  std::map<std::string, std::size_t> n_of_seeds_;
  std::optional<MutableContainer> mutant_;
  std::uint64_t number_ = 0;
};

/// Writes a mutant where the environment says, if it does.
inline void keep_file(const std::vector<std::byte>& file, const std::string& name) {
  const char* const directory = std::getenv("SPMVPACK_TEST_KEEP");  // NOLINT(concurrency-mt-unsafe)
  if (directory == nullptr) return;
  std::ofstream out(std::filesystem::path(directory) / (name + ".spmvc"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

/// Calls visit(file, judged), which says what is wrong, for so many mutants. Those that the host accepts are mutated
/// again.
template <class Visit>
void each_mutant(std::uint64_t count, Visit&& visit) {
  const std::uint64_t seed = number_from("SPMVPACK_TEST_SEED", 1);
  count = number_from("SPMVPACK_TEST_MUTANTS", count);
  Mutants mutants(seed);
  std::map<std::string, std::array<std::uint64_t, 2>> verdicts;  // by kind: refused, accepted
  while (mutants.number() < count) {
    std::optional<std::vector<std::byte>> file = mutants.next();
    if (!file) continue;
    const std::string name = fmt::format("mutant {} of seed {}, {}", mutants.number(), seed, mutants.kind());
    INFO(name);
    keep_file(*file, "latest");
    Judged judged = judge(*file);
    if (!judged.host)
      if (auto again = mutants.with_entries_as_found(judged.message)) {
        file = std::move(again);
        keep_file(*file, "latest");
        judged = judge(*file);
      }
    ++verdicts[mutants.kind()][judged.host ? 1 : 0];
    if (const std::string wrong = visit(*file, judged); !wrong.empty()) {
      keep_file(*file, fmt::format("mutant_{}_{}", seed, mutants.number()));
      FAIL_CHECK(wrong);
    }
    if (judged.host) mutants.keep();
  }
  for (const auto& [kind, n] : verdicts) {
    INFO(kind << ": " << n[0] << " refused, " << n[1] << " accepted");
    CHECK(n[1] * 8 > n[0]);
  }
}

}  // namespace spmvpack::test::hostile
