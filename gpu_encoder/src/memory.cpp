#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <utility>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/format.hpp"

namespace spmvpack::gpu_encoder {

struct Memory::State {
  struct Block {
    void* memory;
    std::uint64_t bytes;
    Use use;
  };

  State(MemorySource of, std::uint64_t most) : source(std::move(of)), limit(most) {}
  void give_back(const Block& block) {
    const auto& release = (block.use == Use::kept ? source.kept : source.scratch).release;
    if (release) release(block.memory);
    held -= block.bytes;
  }
  /// Gives back what waits.
  void settle() {
    if (released.empty()) return;
    source.settle();
    for (const Block& block : released) give_back(block);
    released.clear();
  }
  void release(std::list<Block>::iterator block) {
    if (!ended && source.settle) return released.splice(released.end(), live, block);
    give_back(*block);
    live.erase(block);
  }

  MemorySource source;
  std::uint64_t limit, held = 0, peak = 0;
  bool ended = false;
  std::list<Block> live, released;
};

Memory::Memory(MemorySource source, std::uint64_t limit) : state_(std::make_shared<State>(std::move(source), limit)) {}

Memory::~Memory() {
  state_->settle();
  state_->ended = true;
  state_->source.settle = {};  // which refers to the call
}

void Memory::require(std::uint64_t bytes) const {
  if (state_->limit == 0) return;
  const std::uint64_t left = state_->limit - std::min(state_->held, state_->limit);
  if (bytes > left)
    throw Error(errc::out_of_memory,
                fmt::format("encoding on the device needs {} bytes more than the {} that it holds, and {} are allowed",
                            grouped(bytes), grouped(state_->held), grouped(state_->limit)),
                {}, "raise the memory limit, or use a smaller layout");
}

std::shared_ptr<void> Memory::get(std::uint64_t bytes, Use use) {
  if (bytes == 0) return nullptr;
  State& s = *state_;
  s.settle();
  require(bytes);
  s.live.push_back({nullptr, bytes, use});
  const auto block = std::prev(s.live.end());
  try {
    block->memory = (use == Use::kept ? s.source.kept : s.source.scratch).allocate(bytes);
    if (block->memory == nullptr)
      throw Error(errc::out_of_memory, fmt::format("there are no {} bytes of device memory", grouped(bytes)), {},
                  "free memory, or use a smaller layout");
  } catch (...) {
    s.live.erase(block);
    throw;
  }
  s.held += bytes;
  s.peak = std::max(s.peak, s.held);
  std::shared_ptr<void> owner(block->memory, [state = state_, block](void*) { state->release(block); });
  if (reinterpret_cast<std::uintptr_t>(block->memory) % format::section_boundary != 0)
    throw Error(errc::usage, "the allocator gave memory that is not on a 256-byte boundary");
  return owner;
}

std::uint64_t Memory::held() const { return state_->held; }
std::uint64_t Memory::peak() const { return state_->peak; }

}  // namespace spmvpack::gpu_encoder
