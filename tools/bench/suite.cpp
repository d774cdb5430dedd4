#include "bench/suite.hpp"

#include <algorithm>
#include <vector>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"

namespace spmvpack::bench {

using namespace generators;  // what the suite is made of

namespace {

// FROZEN 2026-11-21. Nothing above the line "added" is ever changed or taken out, so that figures of different versions
// compare; docs/BENCHMARKS.md says what the groups are. tests/benchmarks/bench_test.cpp holds a checksum of this table.
constexpr std::array members{
    // Values that differ everywhere.
    SuiteMember{"5-point-random", "arbitrary", "convection-diffusion --grid 2000x2000x1 --coefficients random"},
    SuiteMember{"7-point-random", "arbitrary", "convection-diffusion --grid 160x160x160 --coefficients random"},
    SuiteMember{"27-point-random", "arbitrary", "hpcg --grid 120x120x120 --coefficients random"},
    SuiteMember{"elasticity-random", "arbitrary", "elasticity --grid 64x64x64 --materials random --mesh jittered"},
    SuiteMember{"triangles-random", "arbitrary",
                "triangles --grid 1800x1800 --numbering shuffled:1024 --coefficients random"},
    SuiteMember{"kkt-random", "arbitrary", "kkt --grid 80x80x80 --coefficients random"},
    // Values that repeat nearby: coefficients by block.
    SuiteMember{"7-point-local", "local", "convection-diffusion --grid 160x160x160 --coefficients blocks:8"},
    SuiteMember{"27-point-local", "local", "hpcg --grid 120x120x120 --coefficients blocks:8"},
    SuiteMember{"elasticity-local-8", "local", "elasticity --grid 64x64x64 --materials blocks:8"},
    SuiteMember{"elasticity-local-2", "local", "elasticity --grid 64x64x64 --materials blocks:2"},
    SuiteMember{"triangles-local", "local",
                "triangles --grid 1800x1800 --numbering shuffled:1024 --coefficients blocks:16 --mesh uniform"},
    SuiteMember{"kkt-local", "local", "kkt --grid 80x80x80 --coefficients blocks:8"},
    // Few values in the whole matrix.
    SuiteMember{"5-point-constant", "global", "laplace2d --grid 2000x2000"},
    SuiteMember{"7-point-constant", "global", "convection-diffusion --grid 160x160x160"},
    SuiteMember{"27-point-constant", "global", "hpcg --grid 120x120x120"},
    SuiteMember{"elasticity-constant", "global", "elasticity --grid 64x64x64"},
    SuiteMember{"triangles-constant", "global", "triangles --grid 1800x1800 --numbering shuffled:1024 --mesh uniform"},
    SuiteMember{"logdist", "global", "logdist --rows 1500000"},
    // No regular structure.
    SuiteMember{"circuit", "irregular", "circuit --rows 3000000"},
    SuiteMember{"rmat", "irregular", "rmat --scale 20 --edge-factor 11"},
    SuiteMember{"lp-wide", "irregular", "lp --rows 4284 --cols 1096894 --per-row 2630 --coefficients constant"},
    SuiteMember{"random", "irregular", "random --rows 1000000 --per-row 16"},
    // These fit a second-level cache, where other laws hold; they are reported apart.
    SuiteMember{"5-point-small", "global", "laplace2d --grid 600x600"},
    SuiteMember{"27-point-small", "arbitrary", "hpcg --grid 48x48x48 --coefficients random"},
    SuiteMember{"elasticity-small", "local", "elasticity --grid 24x24x24 --materials blocks:4"},
    SuiteMember{"circuit-small", "irregular", "circuit --rows 500000"},
    // ---- added
    // Small ones, 5,000 to 500,000 rows, of every kind: bound by latency.
    SuiteMember{"5-point-5k", "arbitrary", "convection-diffusion --grid 72x72x1 --coefficients random", true},
    SuiteMember{"5-point-500k", "arbitrary", "convection-diffusion --grid 707x707x1 --coefficients random", true},
    SuiteMember{"7-point-64k", "local", "convection-diffusion --grid 40x40x40 --coefficients blocks:8", true},
    SuiteMember{"27-point-27k", "global", "hpcg --grid 30x30x30", true},
    SuiteMember{"elasticity-14k", "arbitrary", "elasticity --grid 17x17x17 --materials random --mesh jittered", true},
    SuiteMember{"triangles-90k", "arbitrary",
                "triangles --grid 300x300 --numbering shuffled:1024 --coefficients random", true},
    SuiteMember{"kkt-34k", "arbitrary", "kkt --grid 24x24x24 --coefficients random", true},
    SuiteMember{"logdist-20k", "global", "logdist --rows 20000", true},
    SuiteMember{"circuit-50k", "irregular", "circuit --rows 50000", true},
    SuiteMember{"rmat-16k", "irregular", "rmat --scale 14 --edge-factor 11", true},
    SuiteMember{"lp-64", "irregular", "lp --rows 64 --cols 200000 --per-row 16000", true},
    SuiteMember{"lp-5k", "irregular", "lp --rows 5000 --cols 20000 --per-row 60 --coefficients constant", true},
    SuiteMember{"random-10k", "irregular", "random --rows 10000 --per-row 16", true},
};

constexpr std::array shape_members{
    SuiteMember{"full-1x1M", "shapes", "full --rows 1 --cols 1000000"},
    SuiteMember{"full-2x300k", "shapes", "full --rows 2 --cols 300000"},
    SuiteMember{"full-16x50k", "shapes", "full --rows 16 --cols 50000"},
    SuiteMember{"full-300x5k", "shapes", "full --rows 300 --cols 5000"},
    SuiteMember{"full-2k", "shapes", "full --rows 2000 --cols 2000"},
    SuiteMember{"full-2k-ones", "shapes", "full --rows 2000 --cols 2000 --coefficients constant"},
    SuiteMember{"full-5kx300", "shapes", "full --rows 5000 --cols 300"},
    SuiteMember{"full-200kx16", "shapes", "full --rows 200000 --cols 16"},
    SuiteMember{"full-1Mx1", "shapes", "full --rows 1000000 --cols 1"},
    SuiteMember{"full-64-ones", "shapes", "full --rows 64 --cols 64 --coefficients constant"},
    SuiteMember{"band-2k-1500", "shapes", "band --rows 2000 --below 1500 --above 1500"},
    SuiteMember{"band-5k-500", "shapes", "band --rows 5000 --below 500 --above 500"},
    SuiteMember{"band-20k-50", "shapes", "band --rows 20000 --below 50 --above 50"},
    SuiteMember{"band-100k-10", "shapes", "band --rows 100000 --below 10 --above 10"},
    SuiteMember{"band-400k-2", "shapes", "band --rows 400000 --below 2 --above 2"},
    SuiteMember{"band-400k-2-ones", "shapes", "band --rows 400000 --below 2 --above 2 --coefficients constant"},
    SuiteMember{"band-50k-300-up", "shapes", "band --rows 50000 --above 300 --coefficients constant"},
    SuiteMember{"band-500-100", "shapes", "band --rows 500 --below 100 --above 100"},
    SuiteMember{"diagonal-1M", "shapes", "band --rows 1000000"},
    SuiteMember{"lower-2k", "shapes", "band --rows 2000 --below 1999"},
    SuiteMember{"upper-4k-ones", "shapes", "band --rows 4000 --above 3999 --coefficients constant"},
    SuiteMember{"gaps-300k", "shapes", "band --rows 300000 --below 3 --above 3 --empty-every 3"},
    SuiteMember{"gaps-2k-full", "shapes", "band --rows 2000 --below 1000 --above 1000 --empty-every 3"},
    SuiteMember{"blocks-16x4k", "shapes", "blocks --rows 64000 --block 16"},
    SuiteMember{"blocks-16x4k-ones", "shapes", "blocks --rows 64000 --block 16 --coefficients constant"},
    SuiteMember{"blocks-100x200", "shapes", "blocks --rows 20000 --block 100"},
    SuiteMember{"blocks-3x100k", "shapes", "blocks --rows 300000 --block 3"},
    SuiteMember{"blocks-1000x4", "shapes", "blocks --rows 4000 --block 1000"},
    SuiteMember{"arrow-200k", "shapes", "arrow --rows 200000"},
    SuiteMember{"arrow-20k-ones", "shapes", "arrow --rows 20000 --coefficients constant"},
    SuiteMember{"one-entry", "shapes", "scattered --rows 1000 --cols 1000 --entries 1"},
    SuiteMember{"three-in-300k", "shapes", "scattered --rows 300000 --entries 3"},
    SuiteMember{"few-in-2M", "shapes", "scattered --rows 2000000 --entries 20000"},
    SuiteMember{"tall-1Mx40", "shapes", "scattered --rows 1000000 --cols 40 --entries 2000000"},
    SuiteMember{"tall-200kx1k", "shapes", "random --rows 200000 --cols 1000 --per-row 8"},
    SuiteMember{"wide-40x1M", "shapes", "random --rows 40 --cols 1000000 --per-row 2000"},
    SuiteMember{"wide-300x3M", "shapes", "random --rows 300 --cols 3000000 --per-row 10000"},
    SuiteMember{"wide-1kx100k", "shapes", "random --rows 1000 --cols 100000 --per-row 100"},
    SuiteMember{"one-row", "shapes", "random --rows 1 --cols 2000000 --per-row 200000"},
    SuiteMember{"powerlaw-60k-1.6", "shapes", "powerlaw --rows 60000 --exponent 1.6 --longest 20000"},
    SuiteMember{"powerlaw-200k-2", "shapes", "powerlaw --rows 200000 --exponent 2 --longest 50000"},
    SuiteMember{"powerlaw-30k-2.5", "shapes", "powerlaw --rows 30000 --exponent 2.5 --longest 3000"},
    SuiteMember{"powerlaw-2k-1.3", "shapes", "powerlaw --rows 2000 --cols 20000 --exponent 1.3 --longest 5000"},
};

void round_values(CsrMatrix& matrix, int threads) {
  const auto& wide = std::get<Array<double>>(matrix.values);
  Array<float> rounded(wide.size());
  constexpr std::uint64_t piece = 1U << 16U;
  parallel_pieces(wide.size(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::transform(wide.data() + begin, wide.data() + end, rounded.data() + begin,
                   [](double value) { return static_cast<float>(value); });
  });
  matrix.values = std::move(rounded);
}

}  // namespace

std::span<const SuiteMember> suite() { return members; }
std::span<const SuiteMember> shapes() { return shape_members; }

const SuiteMember& find_member(std::span<const SuiteMember> table, std::string_view name) {
  const auto member = std::find_if(table.begin(), table.end(), [&](const auto& m) { return m.name == name; });
  if (member != table.end()) return *member;
  throw Error(errc::usage, "there is no matrix '" + escape(name) + "' in it", {}, "'spmvpack bench --help' lists them");
}

SourceMatrix make_member(const SuiteMember& member, ValueType type, const Resources& resources,
                         const ProgressCallback& progress) {
  auto [kind, options] = parse_kind(member.generator);
  options.resources = resources;
  SourceMatrix source = build_generated(*kind.make(options), {}, resources, progress);
  source.provenance.source = "spmvpack generate " + std::string(member.generator);
  if (type == ValueType::f32)
    round_values(source.matrix, resources.threads);
  else if (type != source.matrix.value_type())
    throw Error(errc::unsupported, "the suite has no values of " + std::string(to_string(type)));
  return source;
}

}  // namespace spmvpack::bench
