#pragma once
// Which slices of csell have the same program of windows, found on the device: of a grid's slices few differ, and the
// host need not see the others.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/launch.cuh"
#include "layouts/csell/windows.hpp"
#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using spmvpack::layouts::csell::Slice;

template <class T>
CountedVector<T> copied_back(std::span<const T> from, Stream stream) {
  CountedVector<T> to(from.size());
  require_cuda(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToHost, stream),
               "reading slices back");
  require_cuda(cudaStreamSynchronize(stream), "reading slices back");
  return to;
}

/// Where hashes of programs have their slots. More programs than find a slot are told apart on the host.
inline constexpr std::uint32_t alike_slots = 2048, alike_probes = 64;
inline constexpr unsigned alike_threads = 256;
static_assert(alike_slots <= 1U << 16U);

/// The slices of a program, but for where their stream and values are; beyond the last slice, as if they were empty.
struct ProgramSlices {
  uint2 of[2 * launch_rules::csell::most_pairs];  // pattern and counts

  __device__ static ProgramSlices load(const Slice* slices, std::uint64_t slice_count, std::uint32_t of_program,
                                       std::uint64_t program) {
    ProgramSlices some{};
    for (std::uint32_t k = 0; k < 2 * launch_rules::csell::most_pairs; ++k) {
      const std::uint64_t s = program * of_program + k;
      if (k < of_program && s < slice_count) some.of[k] = {slices[s].pattern, slices[s].counts};
    }
    return some;
  }
  /// Not 0.
  [[nodiscard]] __device__ unsigned long long hash() const {
    unsigned long long h = 0;
    for (const uint2& slice : of) {
      h = (h ^ (slice.x | static_cast<unsigned long long>(slice.y) << 32)) * 0x9E3779B97F4A7C15ULL;
      h ^= h >> 29;
    }
    return h | 1;
  }
  [[nodiscard]] __device__ bool operator==(const ProgramSlices& other) const {
    bool same = true;
    for (std::uint32_t k = 0; k < 2 * launch_rules::csell::most_pairs; ++k)
      same = same && of[k].x == other.of[k].x && of[k].y == other.of[k].y;
    return same;
  }
};

/// In device memory.
struct AlikeTable {
  unsigned long long* hashes;   ///< by slot; 0: it is free
  std::uint32_t *first, *last;  ///< by slot: programs that have it
  ProgramSlices* slices;        ///< by slot
  std::uint16_t* slot_of;       ///< by program
  std::uint32_t* failed;        ///< whether there were not enough slots, or different programs have one hash
};

__global__ void __launch_bounds__(alike_threads)
    find_alike_kernel(const Slice* slices, std::uint64_t slice_count, std::uint32_t of_program, std::uint32_t programs,
                      AlikeTable t) {
  for (std::uint64_t i = first_item(); i < programs; i += stride()) {
    const unsigned long long hash = ProgramSlices::load(slices, slice_count, of_program, i).hash();
    auto slot = static_cast<std::uint32_t>(hash >> 32) % alike_slots;
    std::uint32_t probe = 0;
    for (; probe < alike_probes; ++probe, slot = (slot + 1) % alike_slots) {
      unsigned long long there = t.hashes[slot];
      if (there == 0) there = atomicCAS(t.hashes + slot, 0ULL, hash);
      if (there == 0 || there == hash) break;
    }
    if (probe == alike_probes) *t.failed = 1;
    t.slot_of[i] = static_cast<std::uint16_t>(slot);
    const auto number = static_cast<std::uint32_t>(i);
    // What is read may be what was there before: then it is done again.
    if (number < t.first[slot]) atomicMin(t.first + slot, number);
    if (number > t.last[slot]) atomicMax(t.last + slot, number);
  }
}

__global__ void __launch_bounds__(alike_threads)
    compare_alike_kernel(const Slice* slices, std::uint64_t slice_count, std::uint32_t of_program,
                         std::uint32_t programs, AlikeTable t) {
  for (std::uint64_t i = first_item(); i < programs; i += stride()) {
    const std::uint32_t slot = t.slot_of[i], first = t.first[slot];
    const ProgramSlices mine = ProgramSlices::load(slices, slice_count, of_program, i);
    if (i == first)
      t.slices[slot] = mine;
    else if (!(mine == ProgramSlices::load(slices, slice_count, of_program, first)))
      *t.failed = 1;
  }
}

/// What programs of a slot have in common.
struct AlikeProgram {
  WindowProgram inside;
  WindowReach reach;
};

__global__ void __launch_bounds__(alike_threads)
    write_programs_kernel(const AlikeProgram* alike, const std::uint16_t* slot_of, std::uint32_t programs,
                          std::uint32_t program_rows, std::uint64_t columns, WindowProgram* out) {
  for (std::uint64_t i = first_item(); i < programs; i += stride()) {
    const AlikeProgram of = alike[slot_of[i]];
    WindowProgram program = of.inside;
    if (!of.reach.is_inside(static_cast<std::int64_t>(i * program_rows), program_rows, columns))
      program.count |= program_at_edge;
    out[i] = program;
  }
}

/// The distinct programs of a part's slices.
class Alike {
 public:
  Alike(const Slice* slices, std::uint64_t slice_count, std::uint32_t of_program, const LoadContext& context)
      : programs_(static_cast<std::uint32_t>(div_up(slice_count, std::uint64_t{of_program}))), stream_(context.stream) {
    const auto place = [&](std::uint64_t bytes) { return std::exchange(bytes_, bytes_ + round_up(bytes, 256)); };
    const std::uint64_t hashes = place(alike_slots * sizeof(unsigned long long)), last = place(alike_slots * 4),
                        failed = place(4), cleared = bytes_, first = place(alike_slots * 4),
                        of_slots = place(alike_slots * sizeof(ProgramSlices)),
                        slot_of = place(programs_ * sizeof(std::uint16_t));
    programs_at_ = place(alike_slots * sizeof(AlikeProgram));
    memory_ = context.scratch(bytes_);
    const auto at = [&](std::uint64_t byte) { return static_cast<std::byte*>(memory_.get()) + byte; };
    table_ = {reinterpret_cast<unsigned long long*>(at(hashes)), reinterpret_cast<std::uint32_t*>(at(first)),
              reinterpret_cast<std::uint32_t*>(at(last)),        reinterpret_cast<ProgramSlices*>(at(of_slots)),
              reinterpret_cast<std::uint16_t*>(at(slot_of)),     reinterpret_cast<std::uint32_t*>(at(failed))};
    require_cuda(cudaMemsetAsync(at(0), 0, cleared, stream_), "clearing memory");
    require_cuda(cudaMemsetAsync(table_.first, 0xFF, alike_slots * 4, stream_), "clearing memory");
    const unsigned blocks = stride_blocks(programs_, alike_threads);
    launch(find_alike_kernel, blocks, alike_threads, stream_, slices, slice_count, of_program, programs_, table_);
    launch(compare_alike_kernel, blocks, alike_threads, stream_, slices, slice_count, of_program, programs_, table_);
    first_ = copied_back(std::span<const std::uint32_t>(table_.first, alike_slots), stream_);
    last_ = copied_back(std::span<const std::uint32_t>(table_.last, alike_slots), stream_);
    slices_ = copied_back(std::span<const ProgramSlices>(table_.slices, alike_slots), stream_);
    failed_ = copied_back(std::span<const std::uint32_t>(table_.failed, 1), stream_)[0] != 0;
  }

  [[nodiscard]] std::uint32_t programs() const { return programs_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// Makes each program for `collected`: at its first and last place, of which one may be at an end of x. False if
  /// there are too many.
  template <class A>
  [[nodiscard]] bool collect(WindowPrograms<A>& collected, std::uint32_t of_program) {
    std::vector<std::uint32_t> used;
    for (std::uint32_t slot = 0; slot < alike_slots; ++slot)
      if (first_[slot] != ~0U) used.push_back(slot);
    std::sort(used.begin(), used.end(), [&](std::uint32_t a, std::uint32_t b) { return first_[a] < first_[b]; });
    alike_.resize(alike_slots);
    for (const std::uint32_t slot : used) {
      std::array<Slice, 2 * launch_rules::csell::most_pairs> some{};
      for (std::uint32_t k = 0; k < of_program; ++k) some[k] = {slices_[slot].of[k].x, 0, 0, slices_[slot].of[k].y};
      for (const std::uint32_t place : {first_[slot], last_[slot]}) {
        const auto number = collected.program(place, std::span(some).first(of_program));
        if (!number) return false;
        alike_[slot] = {collected.programs()[*number], collected.reach()};
        alike_[slot].inside.count &= ~program_at_edge;
      }
    }
    return true;
  }
  /// Writes the program of each place.
  void write(std::uint32_t program_rows, std::uint64_t columns, WindowProgram* out) const {
    auto* const alike = reinterpret_cast<AlikeProgram*>(static_cast<std::byte*>(memory_.get()) + programs_at_);
    require_cuda(
        cudaMemcpyAsync(alike, alike_.data(), alike_.size() * sizeof(AlikeProgram), cudaMemcpyHostToDevice, stream_),
        "copying windows");
    launch(write_programs_kernel, stride_blocks(programs_, alike_threads), alike_threads, stream_, alike,
           table_.slot_of, programs_, program_rows, columns, out);
  }

 private:
  std::uint32_t programs_;
  Stream stream_;
  std::uint64_t bytes_ = 0, programs_at_ = 0;
  std::shared_ptr<void> memory_;
  AlikeTable table_{};
  bool failed_ = false;
  CountedVector<std::uint32_t> first_, last_;
  CountedVector<ProgramSlices> slices_;
  std::vector<AlikeProgram> alike_;
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
