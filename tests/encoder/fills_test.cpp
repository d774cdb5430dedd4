// What the fills of several layouts share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catch.hpp"
#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {

TEST_CASE("any range of a section of pieces has the bytes of the whole, and only pieces in the range are written") {
  constexpr std::array<std::uint64_t, 7> begins{0, 0, 5, 5, 9, 9, 9};  // some are empty; the last is the end
  constexpr std::uint64_t count = begins.size() - 1, bytes = begins.back();
  const auto begin_of = [&](std::uint64_t i) { return begins.at(i); };
  for (std::uint64_t begin = 0; begin <= bytes; ++begin)
    for (std::uint64_t size = 0; begin + size <= bytes; ++size) {
      INFO("bytes " << begin << " to " << begin + size);
      // A byte of the section is its number; around the range nothing may be written.
      std::vector<std::byte> out(size + 2, std::byte{0xEE});
      fill_pieces(count, begin_of, begin, std::span(out).subspan(1, size),
                  [&](std::uint64_t i, std::span<std::byte> piece) {
                    REQUIRE(piece.size() == begins.at(i + 1) - begins.at(i));
                    CHECK(begins.at(i) < begin + size);
                    CHECK(begins.at(i + 1) >= begin);
                    for (std::size_t b = 0; b < piece.size(); ++b) piece[b] = static_cast<std::byte>(begins.at(i) + b);
                  });
      CHECK(out.front() == std::byte{0xEE});
      CHECK(out.back() == std::byte{0xEE});
      for (std::uint64_t b = 0; b < size; ++b) CHECK(out[1 + b] == static_cast<std::byte>(begin + b));
    }
  fill_pieces(0, begin_of, 0, {}, [](std::uint64_t, std::span<std::byte>) { FAIL("there is no piece"); });
}

}  // namespace spmvpack::encoder::layouts
