#include "commands/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>

#include "options.hpp"
#include "output.hpp"
#include "short_text.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {

namespace po = boost::program_options;

void add_partition_options(po::options_description& options) {
  options.add_options()("ranks", po::value<std::string>()->value_name("P"))(
      "partition", po::value<std::string>()->value_name("rows|metis"));
}

std::uint64_t read_ranks(const Invocation& invocation) {
  const bool has_partition = invocation.options.count("partition") != 0;
  if (has_partition && invocation.text("partition") != "rows" && invocation.text("partition") != "metis")
    throw Error(errc::usage, fmt::format("--partition is '{}'", escape(invocation.text("partition"))), {},
                "give rows or metis");
  if (invocation.options.count("ranks") == 0) {
    if (has_partition) throw Error(errc::usage, "--partition without --ranks", {}, "say how many ranks there are");
    return 0;
  }
  constexpr std::uint64_t most = 1024;
  return parse_number("--ranks", invocation.text("ranks"), 1, most);
}

encoder::Partition partition(const CsrView& a, std::uint64_t ranks, const Invocation& invocation) {
  if (invocation.options.count("partition") == 0 || invocation.text("partition") == "rows")
    return encoder::partition_rows(a, ranks);
  return encoder::partition_by_metis(a, ranks, invocation.threads);
}

void encode_ranks_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                           std::uint64_t ranks, const Invocation& invocation) {
  const encoder::Partition of = partition(source.matrix, ranks, invocation);
  std::string table = fmt::format("{:>5}{:>15}{:>17}{:>15}  {:<10}{:>16}\n", "rank", "rows", "nonzeros", "ghosts",
                                  "layout", "file bytes");
  std::uint64_t rank = 0, file_bytes = 0, comments_left_out = 0;
  encoder::encode_shares(
      source, of, request, output, [&](const SourceMatrix& share, const encoder::EncodeResult& result) {
        table += fmt::format("{:>5}{:>15}{:>17}{:>15}  {:<10}{:>16}\n", rank++, grouped(share.matrix.rows),
                             grouped(share.matrix.nnz()), grouped(share.share->ghosts.size()),
                             shortened(result.plan.strategy, 10), grouped(result.file_bytes));
        file_bytes += result.file_bytes;
        comments_left_out = result.comments_left_out;
      });
  if (comments_left_out != 0)
    print_warning(fmt::format("{} of the source left out: a container has room for 1 MiB of them",
                              counted(comments_left_out, "comment line")));
  if (invocation.quiet) return;
  const std::string first = escape(share_path(output, 0, ranks), 4096);
  print(fmt::format(
      "{}\n  matrix   {} x {}, {}, {}\n  file     {} bytes in {}\n{}",
      ranks == 1 ? first : fmt::format("{} to {}", first, escape(share_path(output, ranks - 1, ranks), 4096)),
      grouped(source.matrix.rows), grouped(source.matrix.cols), counted(source.matrix.nnz(), "nonzero"),
      to_string(source.matrix.value_type()), grouped(file_bytes), counted(ranks, "file"), table));
}

}  // namespace spmvpack::tools
