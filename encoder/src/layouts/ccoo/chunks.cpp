#include "layouts/ccoo/chunks.hpp"

#include <algorithm>

namespace spmvpack::encoder::layouts::ccoo_plans {
namespace {

/// The first row from `row` on that has entries; a.rows() if none has. O(log of the number of rows skipped).
std::uint64_t next_row(const CsrView& a, std::uint64_t row) {
  if (row >= a.rows()) return a.rows();
  const std::uint64_t entry = a.row_ptr(row);
  std::uint64_t step = 1;
  while (row < a.rows() && a.row_ptr(row + 1) == entry) {
    // Rows `row` to row + step - 1 are empty if row + step starts where `row` does.
    if (step > a.rows() - row || a.row_ptr(row + step) != entry) {
      step /= 2;
      continue;
    }
    row += step;
    step *= 2;
  }
  return row;
}

class Chunker {
 public:
  Chunker(const CsrView& a, const RawEntries& raw, std::uint32_t lanes, std::uint32_t slots, Values values)
      : a_(a),
        raw_(raw),
        lanes_(lanes),
        value_size_(static_cast<std::uint32_t>(size_of(a.value_type()))),
        values_(values) {
    out_.slots = slots;
  }

  Chunking run() {
    for (std::uint64_t r = next_row(a_, 0); r < a_.rows(); r = next_row(a_, r + 1))
      add_row(static_cast<std::uint32_t>(r), a_.row_ptr(r), a_.row_ptr(r + 1));
    close();
    return std::move(out_);
  }

 private:
  void add_row(std::uint32_t row, std::uint64_t entry, std::uint64_t end) {
    if (used_ != 0 && entry < end && row - chunk_.row_base > max_row_span) close();
    while (entry < end) {
      if (used_ == 0) open(row, entry);
      const std::uint64_t needed = div_up(end - entry, out_.slots);
      const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(needed, lanes_ - used_));
      const std::uint64_t stop = std::min(end, entry + std::uint64_t{taken} * out_.slots);
      smallest_ = std::min(smallest_, a_.col_idx()[entry]);
      largest_ = std::max(largest_, a_.col_idx()[stop - 1]);
      has_raw_ = has_raw_ || raw_.any(entry, stop);
      used_ += taken;
      last_row_ = row;
      entry = stop;
      if (used_ == lanes_) close();
    }
  }

  void open(std::uint32_t row, std::uint64_t entry) {
    chunk_.first_entry = entry;
    chunk_.row_base = row;
    continues_ = !out_.chunks.empty() && row == last_row_;
    smallest_ = ~0U;
    largest_ = 0;
    has_raw_ = values_ == Values::raw;
  }

  void close() {
    if (used_ == 0) return;
    const std::uint32_t group = group_lanes(lanes_), groups = (used_ + group - 1) / group, stored = groups * group;
    chunk_.col_base = smallest_;
    chunk_.encoding = make_encoding(last_row_ == chunk_.row_base, column_code_for(largest_ - smallest_), !has_raw_,
                                    groups, continues_);
    chunk_.blob_offset = out_.blob_bytes();
    const BlobLayout at =
        blob_layout(chunk_.encoding, stored, out_.slots, value_size_, values_ == Values::single ? 0 : 1);
    out_.row_bytes += at.columns;
    out_.column_bytes += at.values - at.columns;
    out_.value_bytes += at.end - at.values;
    out_.raw_bytes += has_raw_ ? at.end - at.values : 0;
    out_.stored_slots += std::uint64_t{stored} * out_.slots;
    out_.uses_lut = out_.uses_lut || !has_raw_;
    out_.chunks.push_back(chunk_);
    used_ = 0;
  }

  const CsrView& a_;
  const RawEntries& raw_;
  std::uint32_t lanes_, value_size_;
  Values values_;
  Chunking out_;
  Chunk chunk_;
  std::uint32_t used_ = 0, last_row_ = 0, smallest_ = 0, largest_ = 0;
  bool has_raw_ = false, continues_ = false;
};

}  // namespace

Chunking split_into_chunks(const CsrView& a, const RawEntries& raw, std::uint32_t lanes, std::uint32_t slots,
                           Values values) {
  return Chunker(a, raw, lanes, slots, values).run();
}

}  // namespace spmvpack::encoder::layouts::ccoo_plans
