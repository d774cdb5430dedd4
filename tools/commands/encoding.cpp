#include "commands/encoding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <vector>

#include "commands/encoding_json.hpp"
#include "commands/tuning.hpp"
#include "options.hpp"
#include "output.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/payback.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "suggestion.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

const encoder::Strategy& find_strategy(const std::string& name) {
  try {
    return encoder::find_strategy(name);
  } catch (const Error& e) {
    std::vector<std::string> known;
    for (const encoder::Strategy& s : encoder::strategies()) known.push_back(s.name);
    throw with_suggestion(e, name, known);
  }
}

/// The names of strategies, but for the reproductions of papers: "auto, csr, coo; help layouts", which has more.
std::string strategy_names() {
  std::vector<std::string> names;
  for (const encoder::Strategy& s : encoder::strategies())
    if (!s.traits.reproduction) names.push_back(s.name);
  return fmt::format("{}; help layouts", fmt::join(names, ", "));
}

std::string describe(const encoder::PartPlan& part) {
  std::string text = part.info.layout;
  for (const encoder::Counter& c : part.counters)
    if (c.main_choice) text += fmt::format(", {} {}", c.name, grouped(c.value));
  return text;
}

/// The layout; with several parts, the layout of each.
std::string layout_text(const encoder::Plan& plan) {
  std::string text =
      fmt::format("  layout   {}", plan.parts.size() == 1
                                       ? describe(plan.parts[0])
                                       : fmt::format("{}, {}", plan.strategy, counted(plan.parts.size(), "part")));
  if (!plan.reason.empty()) text += fmt::format("\n           auto: {}", plan.reason);
  if (!plan.parts_reason.empty()) text += fmt::format("\n           {}", plan.parts_reason);
  constexpr std::size_t listed = 8;
  for (std::size_t i = 0; plan.parts.size() > 1 && i < std::min(listed, plan.parts.size()); ++i) {
    const encoder::PartPlan& part = plan.parts[i];
    text += fmt::format("\n           part {}: {}, {} x {}, {}", i, describe(part), grouped(part.info.rows.count),
                        grouped(part.info.cols.count), counted(part.info.nnz, "nonzero"));
  }
  if (plan.parts.size() > listed) text += fmt::format("\n           and {} more", plan.parts.size() - listed);
  return text + '\n';
}

/// What a container that was asked for A^T has of it.
std::string transpose_text(const encoder::EncodeResult& result) {
  if (!result.transpose)
    return fmt::format("{}: the matrix is {}",
                       result.symmetry == Symmetry::symmetric ? "A itself" : spmvpack::transpose_text(result.symmetry),
                       to_string(result.symmetry));
  const encoder::Plan& plan = *result.transpose;
  return fmt::format("{} bytes more: {}", grouped(plan.device_bytes()),
                     plan.parts.size() == 1 ? describe(plan.parts[0])
                                            : fmt::format("{}, {}", plan.strategy, counted(plan.parts.size(), "part")));
}

/// Which new values an updatable matrix takes.
std::string updates_text(const encoder::EncodeResult& result) {
  const bool keeps_zeros = result.plan.holds_by_bits() || (result.transpose && result.transpose->holds_by_bits());
  return keeps_zeros ? "any values, but +0 stays +0, and no other becomes it" : "any values";
}

std::string summary(const std::string& output, const SourceMatrix& source, const encoder::EncodeResult& result,
                    const encoder::EncodeRequest& request, std::string_view getting, double seconds_getting) {
  const CsrMatrix& m = source.matrix;
  const Provenance& p = source.provenance;
  std::string text = fmt::format("{}\n  matrix   {} x {}, {}, {}\n", escape(output, 4096), grouped(m.rows),
                                 grouped(m.cols), counted(m.nnz(), "nonzero"), to_string(m.value_type()));
  if (p.duplicates != 0 || p.explicit_zeros != 0)
    text += fmt::format("           {} summed, {} kept\n", counted(p.duplicates, "duplicate"),
                        counted(p.explicit_zeros, "explicit zero"));
  if (m.value_type() == ValueType::f32 || m.value_type() == ValueType::c64)
    text += p.rounded == 0 ? fmt::format("           every value is exact in {}\n", to_string(m.value_type()))
                           : fmt::format("           {} rounded to {}, largest relative error {:.3g}\n",
                                         counted(p.rounded, "value"), to_string(m.value_type()), p.max_relative_error);
  text += layout_text(result.plan);
  if (result.tuning) text += tuning_text(*result.tuning);
  text += fmt::format("  memory   {} bytes", grouped(result.device_bytes));
  if (m.nnz() != 0)
    text += fmt::format(", {:.2f} per nonzero, {} of csr's",
                        static_cast<double>(result.device_bytes) / static_cast<double>(m.nnz()),
                        percent_text(static_cast<double>(result.device_bytes) / static_cast<double>(result.csr_bytes)));
  if (request.transpose) text += "\n  A^T      " + transpose_text(result);
  if (request.updatable) text += "\n  updates  " + updates_text(result);
  text += fmt::format("\n  file     {} bytes\n  time     {:.2f} s: {} {:.2f}, compress {:.2f}, write {:.2f}\n",
                      grouped(result.file_bytes), seconds_getting + result.plan_seconds + result.write_seconds, getting,
                      seconds_getting, result.plan_seconds, result.write_seconds);
  if (const auto& times = result.plan.beside_csr)
    text += fmt::format("  pays     {} ({}), beside csr in memory\n", encoder::pays_text(result.pays_after()),
                        times->measured ? "measured" : "predicted");
  return text;
}

}  // namespace

void add_aim_options(po::options_description& options) {
  const std::string targets = fmt::format("{} or a FILE", fmt::join(encoder::target_names(), ", "));
  options.add_options()  //
      ("optimize", po::value<std::string>()->value_name("time|bytes")->default_value("time"),
       "what auto minimises")  //
      ("target", po::value<std::string>()->value_name("NAME|FILE")->default_value("gpu"), targets.c_str());
}

void add_columns_option(po::options_description& options) {
  options.add_options()("columns", po::value<std::string>()->default_value("1"));
}

void add_updatable_option(po::options_description& options) { options.add_options()("updatable", po::bool_switch()); }

encoder::Aim read_aim(const Invocation& invocation) {
  const std::string& optimize = invocation.text("optimize");
  if (optimize != "time" && optimize != "bytes")
    throw Error(errc::usage, fmt::format("--optimize is '{}'", escape(optimize)), {}, "give time or bytes");
  encoder::Aim aim{.optimize = optimize == "bytes" ? encoder::Objective::bytes : encoder::Objective::time};
  encoder::set_target(aim, invocation.text("target"));
  aim.columns = parse_number("--columns", invocation.text("columns"), 1, encoder::most_columns);
  return aim;
}

void add_encoding_options(po::options_description& options) {
  options.add_options()                                                                                            //
      ("layout", po::value<std::string>()->value_name("NAME")->default_value("auto"), strategy_names().c_str())    //
      ("set", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"), "layout setting; may be repeated")  //
      ("force-size", po::bool_switch(), "allow more than 10 times the size of csr")                                //
      ("codec", po::value<std::string>()->value_name("CODEC")->default_value("none"), "none or zstd[:LEVEL], 1 to 19");
}

encoder::EncodeRequest read_encode_request(const Invocation& invocation) {
  encoder::EncodeRequest request;
  request.strategy = invocation.text("layout");
  const encoder::Strategy& strategy = find_strategy(request.strategy);
  if (invocation.options.count("set") != 0) {
    request.settings = parse_settings(invocation.options["set"].as<std::vector<std::string>>());
    encoder::check_settings(request.settings, strategy);
  }
  request.aim = read_aim(invocation);
  const std::string_view codec = invocation.text("codec");
  if (codec == "zstd" || codec.starts_with("zstd:")) {
    request.codec = format::Codec::zstd;
    if (codec != "zstd") request.level = static_cast<int>(parse_number("--codec zstd", codec.substr(5), 1, 19));
  } else if (codec != "none") {
    throw Error(errc::usage, fmt::format("--codec is '{}'", codec), {}, "give none, zstd or zstd:LEVEL");
  }
  request.threads = invocation.threads;
  request.memory_limit = invocation.memory_limit;
  request.progress = invocation.progress;
  request.overwrite = invocation.flag("force");
  request.force_size = invocation.flag("force-size");
  request.updatable = invocation.flag("updatable");
  return request;
}

void encode_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                     const Invocation& invocation, std::string_view getting, double seconds_getting) {
  tell_encoded(source, request, encoder::encode(source, request, output), output, invocation, getting, seconds_getting);
}

void tell_encoded(const SourceMatrix& source, const encoder::EncodeRequest& request,
                  const encoder::EncodeResult& result, const std::string& output, const Invocation& invocation,
                  std::string_view getting, double seconds_getting) {
  if (result.comments_left_out != 0)
    print_warning(fmt::format("{} of the source left out: a container has room for 1 MiB of them",
                              counted(result.comments_left_out, "comment line")));
  if (invocation.options.count("json") != 0 && invocation.flag("json"))
    print(to_json({source, request, result, output, invocation.version, seconds_getting}));
  else if (!invocation.quiet)
    print(summary(output, source, result, request, getting, seconds_getting));
}

}  // namespace spmvpack::tools
