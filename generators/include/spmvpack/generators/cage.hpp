#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// A polymer of the cage model as what its motion depends on. Obstacles keep bonds from passing one another, so that
/// the polymer is a walk on a tree, in which every vertex has three neighbours up the field and three down. All that
/// matters of a walk is which of its monomers are at the same vertex, and which bonds point up.
class CageState {
 public:
  static constexpr unsigned most_monomers = 16;

  /// Monomer 0 alone.
  CageState() = default;
  /// Appends a monomer. `vertex` is one that monomers before it are at, or the next number, the smallest that none is
  /// at.
  void append(unsigned vertex, bool up);
  /// Every vertex has the number of the first monomer that is at it, among the vertices.
  [[nodiscard]] unsigned vertex(unsigned monomer) const noexcept {
    return static_cast<unsigned>(path_ >> (60 - 4 * monomer)) & 15U;
  }
  /// Whether bond b, from monomer b to b + 1, points up the field.
  [[nodiscard]] bool up(unsigned bond) const noexcept { return (ups_ >> bond & 1U) != 0; }
  [[nodiscard]] unsigned monomers() const noexcept { return monomers_; }
  /// The same polymer from its other end.
  [[nodiscard]] CageState reversed() const;
  /// By which monomers are at one vertex, those that are furthest apart along the polymer first and then the last ones
  /// of it; then by the bonds that point up, the last one first.
  [[nodiscard]] std::strong_ordering operator<=>(const CageState& other) const noexcept;
  [[nodiscard]] bool operator==(const CageState& other) const noexcept = default;

 private:
  std::uint64_t path_ = 0;  ///< vertices, four bits each, monomer 0 in the highest
  /// A bit for each pair of monomers that may be at one vertex, an even number of bonds apart: 14 for neighbours of
  /// neighbours, 12 for monomers that are four bonds apart, and so on; the pair of the first monomer in the lowest.
  std::uint64_t meetings_ = 0;
  std::uint16_t ups_ = 0;
  std::uint16_t monomers_ = 1;
};

/// Transition probabilities of the cage model of DNA electrophoresis (van Heukelum, Barkema, Bisseling 2002, "DNA
/// electrophoresis studied with the cage model"), the cage matrices of SuiteSparse: cageL has polymers of L monomers.
///
/// At each time one monomer is picked and one of six directions. A monomer at an end moves to the vertex in this
/// direction from its neighbour, a kink (both neighbours at one vertex) likewise; others stay. A field of E = 0.1 makes
/// directions up likelier: (1 + E) / (6 L) to (1 - E) / (6 L). A polymer and its reverse are one state. Entry (j, i) is
/// the probability of state j after i: columns add up to 1, symmetric pattern. SuiteSparse's matrices are these, in the
/// same order, with values rounded to three digits.
class Cage final : public MatrixGenerator {
 public:
  /// 24 bytes of memory per row. Error(errc::usage) unless there are 3 to 16 monomers; Error(errc::out_of_memory).
  explicit Cage(std::uint64_t monomers, const Resources& resources = {});

  [[nodiscard]] std::uint64_t rows() const override { return states_.size(); }
  void row(std::uint64_t i, Row& out) const override;
  [[nodiscard]] std::vector<std::string> comments() const override;

 private:
  /// Where a monomer may go: to a vertex that others are at, or to any of `ways` others.
  struct Move {
    unsigned vertex;
    bool up;
    unsigned ways;
  };
  /// Calls f(monomer, choices, current) for each monomer that can move; `current` is where it is, one of the choices.
  template <class F>
  void for_moves(const CageState& state, F&& f) const;
  /// Which row a polymer's state is, and how many polymers that is: with its reverse two, unless they are the same.
  struct Place {
    std::uint64_t row, polymers;
  };
  [[nodiscard]] Place place(const CageState& state) const;

  unsigned monomers_;
  std::vector<CageState> states_;  ///< rising; of a state and its reverse, the lower one
};

}  // namespace spmvpack::generators
