#pragma once
/// The matrices behind every claim about speed.

#include <array>
#include <span>
#include <string_view>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/generators/kinds.hpp"

namespace spmvpack::bench {

/// The groups, in the order in which they are printed. A total weighs them equally.
inline constexpr std::array<std::string_view, 4> suite_groups{"arbitrary", "local", "global", "irregular"};

struct SuiteMember {
  std::string_view name;
  std::string_view group;      ///< one of suite_groups; "shapes"
  std::string_view generator;  ///< what follows 'spmvpack generate'; seed 0
  bool added = false;          ///< after the suite was frozen: reported apart
};

std::span<const SuiteMember> suite();
/// Plain shapes (`generators/`, shapes.hpp), among which layouts have their cliffs: not for claims, but for what `auto`
/// must not do.
std::span<const SuiteMember> shapes();
/// Error(errc::usage) if none of these members has the name.
const SuiteMember& find_member(std::span<const SuiteMember> table, std::string_view name);

/// The member's matrix, in memory; as f32 its values are rounded. Errors: those of build_generated().
SourceMatrix make_member(const SuiteMember& member, ValueType type = ValueType::f64,
                         const generators::Resources& resources = {}, const ProgressCallback& progress = {});

}  // namespace spmvpack::bench
