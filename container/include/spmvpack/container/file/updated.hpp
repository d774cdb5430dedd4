#pragma once
/// Writing a container again when the values of its parts have changed.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/writer.hpp"

namespace spmvpack {

/// Everything in a container except its parts, in memory of its own.
struct ContainerFrame {
  MatrixFacts facts;
  std::optional<Provenance> provenance;
  std::shared_ptr<const Share> share;
  /// Errors: those of reading the sections.
  SPMVPACK_EXPORT static ContainerFrame of(const Container& container, const LoadOptions& options = {});
};

/// pattern_digest() of the matrix of all parts. Takes the memory of unpack(). Error(errc::corrupt) if two parts hold
/// the same entry.
SPMVPACK_EXPORT Digest pattern_digest(const MatrixFacts& facts, std::span<const LoadedPart* const> parts,
                                      int threads = 0);

/// Writes a container of the parts, all of a matrix's, as their bytes are now: the bytes are those of encoding the
/// matrix with the same plan and codec. The digest is that of the values. The field and the symmetry are those of
/// `frame`, as far as the values still have them, otherwise real and general; the provenance counts stored zeros again
/// if it had any, or a source's name, and no roundings. Sections that this version does not know are gone, and so
/// is the digest of a share's whole. Returns the container's size. Takes the memory of unpack(). Errors: those of
/// write_container(); errc::corrupt if two parts hold the same entry.
SPMVPACK_EXPORT std::uint64_t write_updated(ByteSink& sink, const ContainerFrame& frame,
                                            std::span<const LoadedPart* const> parts, const WriteOptions& options = {});

/// Parts that come from no container, for write_container(): their sections, as their layouts describe them. The views'
/// memory must outlive them.
SPMVPACK_EXPORT std::vector<PartSource> part_sources(std::span<const PartView* const> parts);

/// The same for parts that come from no container; `parts` have been checked. Sections are those of their layouts.
SPMVPACK_EXPORT std::uint64_t write_parts(ByteSink& sink, const ContainerFrame& frame,
                                          std::span<const PartView* const> parts, const WriteOptions& options = {});

}  // namespace spmvpack
