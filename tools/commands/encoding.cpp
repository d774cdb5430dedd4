#include "commands/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <vector>

#include "options.hpp"
#include "output.hpp"
#include "spmvpack/container/text.hpp"
#include "spmvpack/container/writer.hpp"
#include "suggestion.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

const encoder::LayoutEncoder& find_layout(const std::string& name) {
  try {
    return encoder::find_layout_encoder(name);
  } catch (const Error& e) {
    std::vector<std::string> known;
    for (const encoder::LayoutEncoder& layout : encoder::layout_encoders()) known.emplace_back(layout.name);
    throw Error(e.code(), e.message(), e.where(), did_you_mean(name, known) + e.remedy());
  }
}

struct Seconds {
  double get = 0, plan = 0, write = 0;
};

std::string summary(const std::string& output, const SourceMatrix& source, const encoder::Plan& plan,
                    std::uint64_t csr_bytes, std::uint64_t file_bytes, std::string_view getting,
                    const Seconds& seconds) {
  const CsrMatrix& m = source.matrix;
  const Provenance& p = source.provenance;
  std::string text = fmt::format("{}\n  matrix   {} x {}, {}, {}\n", escape(output, 4096), grouped(m.rows),
                                 grouped(m.cols), counted(m.nnz(), "nonzero"), to_string(m.value_type()));
  if (p.duplicates != 0 || p.explicit_zeros != 0)
    text += fmt::format("           {} added up, {} kept\n", counted(p.duplicates, "duplicate"),
                        counted(p.explicit_zeros, "explicit zero"));
  if (m.value_type() == ValueType::f32)
    text += p.rounded == 0 ? "           every value is exact in f32\n"
                           : fmt::format("           {} rounded to f32, largest relative error {:.3g}\n",
                                         counted(p.rounded, "value"), p.max_relative_error);
  text += fmt::format("  layout   {}", plan.part.layout);
  // The first counters of a plan are its main choices.
  constexpr std::size_t main_choices = 2;
  for (std::size_t i = 0; i < std::min(plan.counters.size(), main_choices); ++i)
    text += fmt::format(", {} {}", plan.counters[i].name, grouped(plan.counters[i].value));
  const std::uint64_t device = plan.device_bytes();
  text += fmt::format("\n  device   {} bytes", grouped(device));
  if (m.nnz() != 0)
    text += fmt::format(", {:.2f} per nonzero, {:.1f} % of CSR",
                        static_cast<double>(device) / static_cast<double>(m.nnz()), percent(device, csr_bytes));
  text += fmt::format("\n  file     {} bytes\n  time     {:.2f} s: {} {:.2f}, plan {:.2f}, write {:.2f}\n",
                      grouped(file_bytes), seconds.get + seconds.plan + seconds.write, getting, seconds.get,
                      seconds.plan, seconds.write);
  return text;
}

}  // namespace

void add_encoding_options(po::options_description& options) {
  options.add_options()                                                                                    //
      ("layout", po::value<std::string>()->value_name("NAME")->default_value("ccoo"), "csr, coo or ccoo")  //
      ("set", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"), "a setting of the layout")  //
      ("codec", po::value<std::string>()->value_name("none|zstd[:LEVEL]")->default_value("none"),
       "none: the file holds what a multiply reads; zstd: a smaller file, LEVEL 1 to 19, else 3");
}

encoder::EncodeRequest read_encode_request(const Invocation& invocation) {
  encoder::EncodeRequest request;
  request.layout = invocation.text("layout");
  const encoder::LayoutEncoder& layout = find_layout(request.layout);
  if (invocation.options.count("set") != 0) {
    request.settings = parse_settings(invocation.options["set"].as<std::vector<std::string>>());
    encoder::check_settings(request.settings);
    for (const auto& set : request.settings)
      if (std::none_of(layout.settings.begin(), layout.settings.end(),
                       [&](const encoder::Setting& s) { return s.name == set.first; }))
        throw Error(errc::usage, fmt::format("{} is not a setting of the layout {}", set.first, layout.name), {},
                    "leave it out, or choose its layout with --layout");
  }
  const std::string_view codec = invocation.text("codec");
  if (codec == "zstd" || codec.starts_with("zstd:")) {
    request.codec = format::Codec::zstd;
    if (codec != "zstd") request.level = static_cast<int>(parse_number("--codec zstd", codec.substr(5), 1, 19));
  } else if (codec != "none") {
    throw Error(errc::usage, fmt::format("--codec is '{}'", codec), {}, "give none, zstd or zstd:LEVEL");
  }
  return request;
}

void encode_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                     const Invocation& invocation, std::string_view getting, double seconds_getting) {
  Seconds seconds;
  seconds.get = seconds_getting;
  const Stopwatch planning;
  report_progress(invocation.progress, "plan", 0, 0);
  encoder::PlanOptions plan_options;
  plan_options.threads = invocation.threads;
  plan_options.settings = request.settings;
  const auto plan = encoder::find_layout_encoder(request.layout).plan(source.matrix, plan_options);
  seconds.plan = planning.seconds();

  const Stopwatch writing;
  report_progress(invocation.progress, "digest", 0, 0);
  WriteOptions write;
  write.codec = request.codec;
  write.level = request.level;
  write.threads = invocation.threads;
  write.overwrite = invocation.flag("force");
  write.progress = invocation.progress;
  const std::uint64_t file_bytes =
      write_container(output, encoder::container_source(source, *plan, request, invocation.threads), write);
  seconds.write = writing.seconds();

  if (invocation.quiet) return;
  const std::uint64_t csr_bytes = encoder::find_layout_encoder("csr").plan(source.matrix, {})->device_bytes();
  print(summary(output, source, *plan, csr_bytes, file_bytes, getting, seconds));
}

}  // namespace spmvpack::tools
