#include "spmvpack/analyzer/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spmvpack/encoder/x_traffic.hpp"

namespace spmvpack::analyzer {
namespace {

constexpr double column_bytes = 4;

double entry_bytes(const BalanceInput& in) {
  const auto v = static_cast<double>(in.value_size);
  return v + column_bytes + v * in.alpha;
}

/// V rows: y is read once and written once, as beta may ask for.
double y_bytes(const BalanceInput& in) { return static_cast<double>(in.value_size) * static_cast<double>(in.rows); }

void check_speed(double speed, const char* what) {
  if (!std::isfinite(speed) || speed <= 0)
    throw Error(errc::usage, fmt::format("a {} of {} bytes per second", what, speed), {}, "give a positive number");
}

BalanceBound bound_of(BalanceInput in, double alpha, const Speeds& speeds) {
  in.alpha = alpha;
  BalanceBound bound;
  bound.alpha = alpha;
  bound.bytes_per_flop = code_balance(in);
  bound.multiply_seconds = multiply_seconds(in, speeds);
  const double flops = 1e-9 * in.flops * static_cast<double>(in.nnz);
  bound.gflops = flops / bound.multiply_seconds;
  bound.gflops_with_copies = flops / (bound.multiply_seconds + copy_seconds(in, speeds));
  bound.dominated_below = entries_per_row_for(1, in, speeds);
  bound.tenth_from = entries_per_row_for(10, in, speeds);
  return bound;
}

}  // namespace

double code_balance(const BalanceInput& in) {
  return (entry_bytes(in) + 2 * y_bytes(in) / static_cast<double>(in.nnz)) / in.flops;
}

double multiply_seconds(const BalanceInput& in, const Speeds& speeds) {
  return (static_cast<double>(in.nnz) * entry_bytes(in) + 2 * y_bytes(in)) / speeds.memory;
}

double copy_seconds(const BalanceInput& in, const Speeds& speeds) {
  return static_cast<double>(in.value_size) * static_cast<double>(in.rows + in.cols) / speeds.pcie;
}

double entries_per_row_for(double times, const BalanceInput& in, const Speeds& speeds) {
  const double needed = times * copy_seconds(in, speeds) * speeds.memory - 2 * y_bytes(in);
  return std::max(needed / static_cast<double>(in.rows) / entry_bytes(in), 0.0);
}

Balance balance_of(const CsrView& a, std::uint64_t x_lines, const Speeds& speeds) {
  check_speed(speeds.memory, "memory bandwidth");
  check_speed(speeds.pcie, "PCIe bandwidth");
  BalanceInput in{.rows = a.rows(), .cols = a.cols(), .nnz = a.nnz(), .value_size = size_of(a.value_type())};
  if (holds_complex(a.value_type())) in.flops = 8;
  Balance balance;
  balance.speeds = speeds;
  balance.x_lines = x_lines;
  if (in.nnz != 0) {
    in.alpha = static_cast<double>(balance.x_lines * balance_line_bytes) / static_cast<double>(in.value_size * in.nnz);
    balance.alpha = in.alpha;
    balance.bytes_per_flop = code_balance(in);
    balance.dominated_below = entries_per_row_for(1, in, speeds);
    balance.tenth_from = entries_per_row_for(10, in, speeds);
    balance.worst = bound_of(in, 1, speeds);
    balance.best = bound_of(in, static_cast<double>(in.cols) / static_cast<double>(in.nnz), speeds);
  }
  balance.multiply_seconds = multiply_seconds(in, speeds);
  balance.copy_seconds = copy_seconds(in, speeds);
  return balance;
}

Balance balance_of(const CsrView& a, const Speeds& speeds, int threads) {
  const encoder::XCache cache{
      .bytes = balance_cache_bytes, .line_bytes = balance_line_bytes, .element_bytes = size_of(a.value_type())};
  return balance_of(a, encoder::x_lines_loaded(a, cache, threads), speeds);
}

}  // namespace spmvpack::analyzer
