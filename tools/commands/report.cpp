/// spmvpack report: shows the structure of a matrix and what each layout would cost.

#include "spmvpack/analyzer/report.hpp"

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>

#include "commands/command.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spmvpack/encoder/source.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  options.add_options()                                                                  //
      ("details", po::bool_switch(), "also show row lengths and what the bytes hold")    //
      ("json", po::bool_switch(), "print everything as JSON (docs/report.schema.json)")  //
      ("value-type", po::value<std::string>()->value_name("f64|f32"),
       "as if encoded with this type (default: f64; a container's own)")  //
      ("set", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
       "layout setting, such as ccoo.k=4; may be repeated");
}

std::string details() {
  return "Reads A.mtx (any source that 'encode' accepts) and plans every layout; writes\n"
         "nothing. Device bytes are what a multiply reads of the matrix; file bytes are\n"
         "the size of the file that 'encode' writes with the same settings and no codec.\n"
         "Both are exact. -q silences progress and the closing hint, not the report.\n\n"
         "Examples:\n"
         "  spmvpack report A.mtx\n"
         "  spmvpack report A.mtx --value-type f32 --set ccoo.k=4\n"
         "  spmvpack report A.mtx --json | jq '.layouts[] | {name, device_bytes}'\n";
}

void run(const Invocation& invocation) {
  analyzer::ReportOptions options;
  options.name = invocation.argument == "-" ? "standard input" : invocation.argument;
  options.workspace = [](const PartInfo& part) { return gpu_loader::workspace_bytes(part, {}, part.value_type); };
  options.threads = invocation.threads;
  options.memory_limit = invocation.memory_limit;
  options.progress = invocation.progress;
  if (invocation.options.count("set") != 0)
    options.settings = parse_settings(invocation.options["set"].as<std::vector<std::string>>());
  encoder::check_settings(options.settings);

  encoder::SourceOptions source;
  if (invocation.options.count("value-type") != 0) source.value_type = parse_value_type(invocation.text("value-type"));
  source.threads = invocation.threads;
  source.memory_limit = invocation.memory_limit;
  source.progress = invocation.progress;
  const analyzer::Report report = analyzer::make_report(encoder::read_matrix(invocation.argument, source), options);
  if (invocation.flag("json")) return print(analyzer::to_json(report));
  const bool details = invocation.flag("details");
  print(analyzer::to_text(report, details ? analyzer::Detail::full : analyzer::Detail::summary));
  if (!details && !invocation.quiet) print("\nUse --details for row lengths and what the bytes of each layout hold.\n");
}

}  // namespace

const Command report_command{"report", "A.mtx [options]", "show a matrix's structure and what each layout would cost",
                             "A.mtx",  add_options,       details,
                             run};

}  // namespace spmvpack::tools
