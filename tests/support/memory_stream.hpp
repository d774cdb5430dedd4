#pragma once
// Bytes in memory as a stream.

#include <algorithm>
#include <string>
#include <utility>

#include "source/byte_stream.hpp"

namespace spmvpack::test {

class MemoryStream final : public sources::ByteStream {
 public:
  /// A stream that cannot be rewound is one like a pipe.
  MemoryStream(std::string name, std::string bytes, bool rewinds = true)
      : ByteStream(std::move(name)), bytes_(std::move(bytes)), rewinds_(rewinds) {}
  [[nodiscard]] std::uint64_t file_position() const noexcept override { return at_; }
  [[nodiscard]] std::uint64_t file_size() const noexcept override { return rewinds_ ? bytes_.size() : 0; }

 private:
  std::size_t produce(std::span<char> out) override {
    // A pipe gives what it has.
    const std::size_t n = std::min({out.size(), bytes_.size() - at_, rewinds_ ? bytes_.size() : 1000});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), n, out.begin());
    at_ += n;
    return n;
  }
  bool restart() override {
    if (rewinds_) at_ = 0;
    return rewinds_;
  }

  std::string bytes_;
  bool rewinds_;
  std::size_t at_ = 0;
};

}  // namespace spmvpack::test
