#include "layouts/ccoo/published.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "spmvpack/container/layouts/ccoo.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using spmvpack::layouts::ccoo::column_code_for;

constexpr std::uint64_t header_bytes = 1 + 4 + 4 + 4;

/// Lanes of a row, with or without entries.
std::uint64_t lanes_of_row(std::uint64_t entries, std::uint32_t slots) {
  return std::max<std::uint64_t>(div_up(entries, slots), 1);
}

/// The table of the most frequent values of the entries and of the zeros that pad rows.
struct Table {
  std::uint64_t size = 0;
  bool has_zero = false;
  bool lost_last = false;  ///< to zero, which is more frequent than the last of 256 values
};

Table table_with(const ValueTable& values, std::uint64_t padding) {
  const std::span<const ValueCount> frequent = values.most_frequent();
  const bool has_zero = std::any_of(frequent.begin(), frequent.end(), [](const ValueCount& v) { return v.bits == 0; });
  if (has_zero || padding == 0) return {frequent.size(), has_zero, false};
  if (frequent.size() < ValueTable::max_frequent) return {frequent.size() + 1, true, false};
  const bool more_frequent = padding > frequent.back().count;
  return {frequent.size(), more_frequent, more_frequent};
}

/// Those that have no id, either, without the last value.
RawEntries raw_without_last(const CsrView& a, const ValueTable& values, int threads) {
  std::vector<ValueKey> keys = values.frequent_keys();
  keys.pop_back();
  return {a, ValueIds(keys), true, threads};
}

/// Adds up chunks of lanes.
class Chunks {
 public:
  Chunks(const CsrView& a, const RawEntries& raw, bool has_zero, std::uint32_t lanes, std::uint32_t slots)
      : a_(a), raw_(raw), has_zero_(has_zero), lanes_(lanes), slots_(slots) {}

  void add_row(std::uint64_t row) {
    std::uint64_t entry = a_.row_ptr(row), left = lanes_of_row(a_.row_length(row), slots_);
    const std::uint64_t end = a_.row_ptr(row + 1);
    while (left > 0) {
      if (used_ == 0) first_row_ = row;
      const std::uint64_t taken = std::min<std::uint64_t>(left, lanes_ - used_);
      const std::uint64_t stop = std::min(end, entry + taken * slots_);
      if (entry < stop) {
        smallest_ = std::min(smallest_, a_.col_idx()[entry]);
        largest_ = std::max(largest_, a_.col_idx()[stop - 1]);
        has_raw_ = has_raw_ || raw_.any(entry, stop);
      }
      has_padding_ = has_padding_ || stop - entry < taken * slots_;
      entry = stop;
      used_ += taken;
      left -= taken;
      last_row_ = row;
      if (used_ == lanes_) close();
    }
  }

  /// Bytes, with the last chunk and a table of `table_bytes` if any chunk has ids.
  std::uint64_t finish(std::uint64_t table_bytes) {
    if (used_ != 0) {
      has_padding_ = true;
      close();
    }
    return bytes_ + (any_ids_ ? table_bytes : 0);
  }

 private:
  void close() {
    const bool ids = !has_raw_ && (has_zero_ || !has_padding_);
    const std::uint64_t of_column =
        smallest_ > largest_ ? 1 : std::uint64_t{1} << column_code_for(largest_ - smallest_);
    const std::uint64_t of_value = ids ? 1 : size_of(a_.value_type());
    bytes_ +=
        header_bytes + (first_row_ == last_row_ ? 0 : lanes_) + std::uint64_t{lanes_} * slots_ * (of_column + of_value);
    any_ids_ = any_ids_ || ids;
    used_ = 0;
    smallest_ = ~0U;
    largest_ = 0;
    has_raw_ = has_padding_ = false;
  }

  const CsrView& a_;
  const RawEntries& raw_;
  bool has_zero_;
  std::uint32_t lanes_, slots_;
  std::uint64_t bytes_ = 0, used_ = 0, first_row_ = 0, last_row_ = 0;
  std::uint32_t smallest_ = ~0U, largest_ = 0;
  bool has_raw_ = false, has_padding_ = false, any_ids_ = false;
};

}  // namespace

std::uint64_t published_bytes(const CsrView& a, const ValueTable& values, const RawEntries& raw, std::uint32_t lanes,
                              std::uint32_t slots, int threads) {
  std::uint64_t all_lanes = 0;
  for (std::uint64_t r = 0; r < a.rows(); ++r) all_lanes += lanes_of_row(a.row_length(r), slots);
  const Table table = table_with(values, div_up(all_lanes, lanes) * lanes * slots - a.nnz());
  const auto bytes_with = [&](const RawEntries& without_id) {
    Chunks chunks(a, without_id, table.has_zero, lanes, slots);
    for (std::uint64_t r = 0; r < a.rows(); ++r) chunks.add_row(r);
    return chunks.finish(table.size * size_of(a.value_type()));
  };
  return table.lost_last ? bytes_with(raw_without_last(a, values, threads)) : bytes_with(raw);
}

}  // namespace spmvpack::encoder::layouts
