// Our side of bench_host_peers.py.
//
//     layout_times suite                                 names of the suite's small matrices, a line each
//     layout_times arrays SOURCE OUT                     writes the matrix for the programs that measure
//     (warm_times.hpp) layout_times multiply ARRAYS STRATEGY THREADS SECONDS COLUMNS [NAME=VALUE...]
//                                                        encodes it, multiplies on the host, prints the times as JSON
//
// SOURCE: a file, 'suite NAME', or 'generate WORDS' as one argument: a matrix that `spmvpack generate WORDS` makes.

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "bench/reference.hpp"
#include "bench/scratch.hpp"
#include "bench/suite.hpp"
#include "peers/warm_times.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::peers {
namespace {

SourceMatrix source_of(const std::string& source) {
  constexpr std::string_view suite = "suite ", generate = "generate ";
  if (source.starts_with(suite))
    return bench::make_member(bench::find_member(bench::suite(), source.substr(suite.size())));
  if (source.starts_with(generate))
    return bench::make_member({"", "", std::string_view(source).substr(generate.size())});
  return sources::read_matrix(source, {.value_type = ValueType::f64});
}

void list_suite() {
  for (const bench::SuiteMember& m : bench::suite())
    if (m.added || m.name.ends_with("-small")) fmt::print("{}\n", m.name);
}

template <class T>
void write(std::ofstream& out, std::span<const T> section) {
  const auto bytes = std::as_bytes(section);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const std::string padding(section_bytes(bytes.size()) - bytes.size(), '\0');
  out << padding;
}

void write_arrays(const std::string& source, const std::string& path) {
  const CsrMatrix a = source_of(source).matrix;
  if (a.nnz() >> 31U != 0)
    throw Error(errc::unsupported, "the libraries to compare with take less than 2^31 nonzeros", source);
  const auto& values = std::get<Array<double>>(a.values);
  const std::vector<std::uint64_t> counts{a.rows, a.cols, a.nnz()};
  const std::vector<std::uint32_t> row_ptr(a.row_ptr.begin(), a.row_ptr.end());
  const std::vector<double> x = bench::make_x<double>(a.cols, 1);
  std::vector<double> expected(a.rows), bound(a.rows);
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    constexpr double unit = std::numeric_limits<double>::epsilon() / 2, more_terms = 4;
    long double sum = 0, size = 0;
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const long double product = static_cast<long double>(values[k]) * x[a.col_idx[k]];
      sum += product;
      size += std::fabs(product);
    }
    expected[r] = static_cast<double>(sum);
    bound[r] = (static_cast<double>(a.row_ptr[r + 1] - a.row_ptr[r]) + more_terms) * unit * static_cast<double>(size) +
               std::numeric_limits<double>::min();
  }
  std::ofstream out(path, std::ios::binary);
  write<std::uint64_t>(out, counts);
  write<std::uint32_t>(out, row_ptr);
  write<std::uint32_t>(out, {a.col_idx.data(), a.col_idx.size()});
  write<double>(out, {values.data(), values.size()});
  for (const auto* const vector : std::array{&x, &std::as_const(expected), &std::as_const(bound)})
    write<double>(out, *vector);
  if (!out.flush()) throw Error(errc::io, "cannot write", path);
  fmt::print("{{\"rows\": {}, \"cols\": {}, \"nonzeros\": {}}}\n", a.rows, a.cols, a.nnz());
}

void multiply(const Arrays& a, const std::string& strategy, int threads, double seconds, std::uint64_t columns,
              std::span<char* const> settings) {
  using Clock = std::chrono::steady_clock;
  SourceMatrix source;
  source.matrix = allocate_csr(a.rows, a.cols, a.nnz, ValueType::f64);
  std::copy_n(a.row_ptr, a.rows + 1, source.matrix.row_ptr.begin());
  std::copy_n(a.col_idx, a.nnz, source.matrix.col_idx.begin());
  std::copy_n(a.values, a.nnz, std::get<Array<double>>(source.matrix.values).begin());
  encoder::EncodeRequest request;
  request.strategy = strategy;
  request.threads = threads;
  if (encoder::find_strategy(strategy).traits.aims) {
    request.aim.target = encoder::Target::host;
    request.aim.columns = columns;
  }
  for (const std::string setting : settings)
    request.settings[setting.substr(0, setting.find('='))] = setting.substr(setting.find('=') + 1);
  const auto start = Clock::now();
  const Container container = bench::encode_to_scratch(source, request);
  const auto encoded = Clock::now();
  source = {};
  const auto matrix = host_loader::HostMatrix::load(container, {.threads = threads});
  const auto loaded = Clock::now();
  std::string layouts;
  for (const PartInfo& part : container.parts())
    if (layouts.find(part.layout) == std::string::npos) layouts += (layouts.empty() ? "" : "+") + part.layout;
  const std::vector<double> x = a.columns_of_x(columns);
  const auto row_major = [&](auto* data, std::uint64_t rows) {
    return DenseView(data, rows, columns, static_cast<std::int64_t>(columns), 1);
  };
  const Times times = warm_times(a, columns, seconds, [&](double* y) {
    if (columns == 1)
      matrix.multiply<double>(1, std::span<const double>(x), 0, std::span(y, a.rows), threads);
    else
      matrix.multiply<double>(1, row_major(x.data(), a.cols), 0, row_major(y, a.rows), threads);
  });
  const auto elapsed = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
  fmt::print("{{{}, \"layout\": \"{}\", \"bytes\": {}, \"encode_s\": {}, \"load_s\": {}, \"by\": \"{}\"}}\n",
             times.json(), layouts, container.device_bytes(), elapsed(start, encoded), elapsed(encoded, loaded),
             instruction_set());
}

int run(std::span<char* const> words) {
  const std::string_view what = words.size() > 1 ? words[1] : "";
  if (what == "suite" && words.size() == 2) {
    list_suite();
  } else if (what == "arrays" && words.size() == 4) {
    write_arrays(words[2], words[3]);
  } else if (what == "multiply" && words.size() >= 7) {
    multiply(Arrays(words[2]), words[3], std::atoi(words[4]), std::atof(words[5]), std::strtoul(words[6], nullptr, 10),
             words.subspan(7));
  } else {
    fmt::print(stderr,
               "usage: layout_times suite | arrays SOURCE OUT | multiply ARRAYS STRATEGY THREADS SECONDS COLUMNS "
               "[NAME=VALUE...]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace spmvpack::peers

int main(int argc, char** argv) try {
  return spmvpack::peers::run({argv, static_cast<std::size_t>(argc)});
} catch (const std::exception& e) {
  fmt::print(stderr, "layout_times: {}\n", e.what());
  return 1;
}
