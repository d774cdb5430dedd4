/// spmvpack verify: is the container whole, and is it this matrix?

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/program_options/value_semantic.hpp>

#include "commands/command.hpp"
#include "output.hpp"
#include "spmvpack/container/reader.hpp"
#include "spmvpack/container/text.hpp"
#include "spmvpack/encoder/source.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()("against", po::value<std::string>()->value_name("A.mtx"),
                        "also compare with this matrix, bit for bit");
}

std::string details() {
  return "Reads every byte of A.spmvc and checks the tables, the checksum of every block,\n"
         "the structure of every layout, and that the matrix has the header's digest.\n"
         "A.spmvc may be -, standard input.\n"
         "--against takes anything that 'encode' reads; its values are rounded to the\n"
         "container's value type first.\n\n"
         "Example:\n"
         "  spmvpack verify A.spmvc --against A.mtx.gz\n";
}

/// Where two matrices differ first, in words. They do differ.
std::string first_difference(const CsrView& a, const CsrView& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols())
    return fmt::format("it is {} x {}, the other {} x {}", a.rows(), a.cols(), b.rows(), b.cols());
  for (std::uint64_t i = 0; i < a.rows(); ++i) {
    const std::uint64_t length = std::min(a.row_length(i), b.row_length(i));
    for (std::uint64_t k = 0; k < length; ++k) {
      const std::uint64_t ka = a.row_ptr(i) + k, kb = b.row_ptr(i) + k;
      if (a.col_idx()[ka] != b.col_idx()[kb])
        return fmt::format("entry {} of row {} is in column {}, the other's in {}", k + 1, i + 1, a.col_idx()[ka] + 1,
                           b.col_idx()[kb] + 1);
      std::string text;
      dispatch(a.value_type(), [&]<class T>(T) {
        const T va = a.values<T>()[ka], vb = b.values<T>()[kb];
        if (std::bit_cast<bits_of<T>>(va) != std::bit_cast<bits_of<T>>(vb))
          text = fmt::format("entry ({}, {}) is {}, the other's {}", i + 1, a.col_idx()[ka] + 1, va, vb);
      });
      if (!text.empty()) return text;
    }
    if (a.row_length(i) != b.row_length(i))
      return fmt::format("row {} has {} entries, the other's {}", i + 1, a.row_length(i), b.row_length(i));
  }
  throw Error(errc::internal, "two matrices differ and do not");
}

void run(const Invocation& invocation) {
  if (invocation.options.count("against") != 0) refuse_same_input(invocation.argument, invocation.text("against"));
  const Container container = encoder::open_container(invocation.argument, invocation.memory_limit);
  const auto load = invocation.common<LoadOptions>();
  container.check_blocks(load);
  const CsrMatrix matrix = unpack(container, load);
  static_cast<void>(container.provenance());
  std::uint64_t blocks = 0;
  for (const SectionInfo& section : container.sections()) blocks += section.block_count;

  std::string text = fmt::format(
      "{}: ok\n"
      "  checksums  header, tables and {} of {}\n"
      "  structure  {}\n"
      "  digest     {}\n",
      escape(container.name(), 4096), counted(blocks, "block"), counted(container.sections().size(), "section"),
      container.parts().size() == 1 ? "1 part, layout " + container.parts()[0].layout
                                    : counted(container.parts().size(), "part"),
      container.facts().digest.to_string());

  if (invocation.options.count("against") != 0) {
    const std::string& other = invocation.text("against");
    auto options = invocation.common<encoder::SourceOptions>();
    options.value_type = container.facts().value_type;
    const SourceMatrix source = encoder::read_matrix(other, options);
    if (!equal_bits(matrix, source.matrix, invocation.threads))
      throw Error(errc::mismatch,
                  fmt::format("not the matrix of {}: {}", other, first_difference(matrix, source.matrix)),
                  container.name(), "encode it again from its source");
    text += fmt::format("  matrix     {}, bit for bit those of {}{}\n", counted(matrix.nnz(), "nonzero"),
                        escape(other, 4096), matrix.value_type() == ValueType::f32 ? " rounded to f32" : "");
  }
  if (!invocation.quiet) print(text);
}

}  // namespace

const Command verify_command{"verify",
                             "A.spmvc [--against A.mtx] [options]",
                             "check a container, and that it holds a given matrix",
                             "A.spmvc",
                             add_options,
                             details,
                             run};

}  // namespace spmvpack::tools
