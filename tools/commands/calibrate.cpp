/// spmvpack calibrate: measures what multiplies cost on this machine, for the predictions of encode and report.

#include "spmvpack/encoder/calibrate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/program_options/value_semantic.hpp>
#include <filesystem>
#include <memory>

#include "bench/suite.hpp"
#include "commands/command.hpp"
#include "commands/encoding.hpp"
#include "commands/tuning.hpp"
#include "output.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/encoder/profile_file.hpp"

namespace spmvpack::tools {
namespace calibrate_parts {
namespace {

namespace po = boost::program_options;

/// What is measured: each kind of matrix, small and of a few million nonzeros, with values of each kind. Those that
/// tell most units apart come first: if time runs out, the others are left out.
constexpr std::array<std::string_view, 30> matrices{
    "convection-diffusion --grid 100x100x80 --coefficients random",
    "circuit --rows 300000",
    "elasticity --grid 20x20x20 --materials random --mesh jittered",
    "hpcg --grid 24x24x24",
    "random --rows 150000 --per-row 16",
    "rmat --scale 14 --edge-factor 16",
    "triangles --grid 300x300 --numbering shuffled:1024 --coefficients random",
    "lp --rows 1000 --cols 40000 --per-row 600",
    "powerlaw --rows 60000 --exponent 1.6 --longest 20000",
    "laplace2d --grid 500x500",
    "kkt --grid 20x20x20 --coefficients blocks:4",
    "band --rows 60000 --below 20 --above 20",
    "scattered --rows 1000000 --entries 20000",
    "logdist --rows 60000",
    "blocks --rows 64000 --block 16 --coefficients constant",
    "convection-diffusion --grid 30x30x30",
    "random --rows 4000 --cols 3000 --per-row 5",
    "elasticity --grid 10x10x10 --materials blocks:4",
    "arrow --rows 100000",
    "rmat --scale 17 --edge-factor 8",
    "hpcg --grid 40x40x40 --coefficients random",
    "full --rows 1500 --cols 1500",
    "circuit --rows 20000",
    "lp --rows 200 --cols 60000 --per-row 300 --coefficients constant",
    "triangles --grid 90x90 --mesh uniform",
    "convection-diffusion --grid 60x60x60 --coefficients blocks:8",
    "powerlaw --rows 30000 --exponent 2.2 --longest 1000",
    "kkt --grid 34x34x34 --coefficients random",
    "random --rows 1000000 --per-row 3",
    "laplace2d --grid 1400x1400"};

constexpr double seconds_each = 0.2;    // of measuring a layout of a matrix
constexpr double seconds_of_all = 120;  // after which no other matrix is begun

void add_options(po::options_description& options) {
  options.add_options()                                                                                       //
      ("output,o", po::value<std::string>()->value_name("FILE.json"), "the profile's file")                   //
      ("force,f", po::bool_switch(), "overwrite the output")                                                  //
      ("device", po::value<std::string>()->value_name("gpu|host")->default_value("host"), "what to measure")  //
      ("print", po::value<std::string>()->value_name("NAME"), "write a built-in profile instead");
}

/// The ids of the package's profiles.
std::string shipped() {
  std::vector<std::string_view> ids;
  for (const encoder::Profile& profile : encoder::profiles()) ids.push_back(profile.id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

std::string details() {
  return fmt::format(
      "Measures multiplies of {} generated matrices by every layout but pkt, with cold\n"
      "and warm caches, for about two minutes, and fits the cost of each unit of work.\n"
      "The result is a profile; encode, report and generate take its file as --target.\n"
      "The fit starts from the nearest built-in profile ({}),\n"
      "and keeps its prices, scaled, where the matrices say nothing. The machine should\n"
      "be otherwise idle.\n\n"
      "The profile has the name of its file without .json, and files that are encoded\n"
      "for it record that name. It is JSON (docs/profile.schema.json) and may be\n"
      "edited. --print writes the built-in ones, to standard output without -o.\n\n"
      "Examples:\n"
      "  spmvpack calibrate -o mine.json            this processor\n"
      "  spmvpack calibrate --device gpu -o a100.json\n"
      "  spmvpack encode A.mtx --target mine.json\n"
      "  spmvpack calibrate --print h200 -o mine.json\n",
      matrices.size(), shipped());
}

/// What was measured: a processor with so many threads, which has the prices of all of them together.
std::string machine_text(const std::string& name, encoder::Target target, int threads) {
  const std::string used =
      target == encoder::Target::gpu ? "" : ", " + counted(static_cast<std::uint64_t>(thread_count(threads)), "thread");
  return name.substr(0, encoder::most_machine_bytes - used.size()) + used;
}

/// The id of a profile in this file.
std::string id_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

void write(const std::string& path, bool overwrite, const std::string& json) {
  TextOutput text(path, overwrite);
  text.write(json);
  text.commit();
}

void print_profile(const Invocation& invocation) {
  const std::string& name = invocation.text("print");
  const std::span<const encoder::Profile> all = encoder::profiles();
  const auto profile = std::find_if(all.begin(), all.end(), [&](const encoder::Profile& p) { return p.id == name; });
  if (profile == all.end())
    throw Error(errc::usage, fmt::format("--print is '{}'", escape(name)), {}, "give " + shipped());
  if (invocation.options.count("output") == 0 || invocation.text("output") == "-")
    return print(encoder::to_json(*profile));
  const std::string& output = invocation.text("output");
  check_output(output, OutputForm::text, invocation.flag("force"));
  const std::shared_ptr<const encoder::Profile> own =
      encoder::make_profile({id_of(output),
                             std::string(profile->machine),
                             profile->target,
                             profile->x_caches,
                             profile->device,
                             {profile->picoseconds.begin(), profile->picoseconds.end()}},
                            output);
  write(output, invocation.flag("force"), encoder::to_json(*own));
}

void run(const Invocation& invocation) {
  if (invocation.options.count("print") != 0) return print_profile(invocation);
  if (invocation.options.count("output") == 0) throw Error(errc::usage, "no output given", {}, "name it with -o");
  const std::string& output = invocation.text("output");
  const encoder::Target target = read_machine("--device", invocation.text("device"));
  const encoder::Tuner tuner = tuner_of(target, invocation.threads, "--device host");
  check_output(output, OutputForm::text, invocation.flag("force"));
  encoder::ProfileFacts facts;
  facts.id = id_of(output);
  facts.machine = machine_text(tuner.machine, target, invocation.threads);
  facts.target = target;
  facts.picoseconds.assign(encoder::units().size(), 1);
  encoder::make_profile(facts, output);  // a name that will not do is told before two minutes have passed

  const Stopwatch watch;
  std::vector<encoder::MeasuredWork> measured;
  std::size_t done = 0;
  for (; done < matrices.size() && watch.seconds() < seconds_of_all; ++done) {
    const auto progress = [&](std::string_view, std::uint64_t, std::uint64_t) {
      return invocation.progress("calibrate", done, matrices.size());
    };
    report_progress(progress, "calibrate", 0, 0);
    const SourceMatrix source = bench::make_member({{}, {}, matrices.at(done)}, ValueType::f64,
                                                   {invocation.threads, invocation.memory_limit}, progress);
    const std::vector<encoder::MeasuredWork> of_one =
        encoder::measure_work(source, {.target = target}, tuner.measure, seconds_each, invocation.threads, progress);
    measured.insert(measured.end(), of_one.begin(), of_one.end());
  }
  const encoder::FittedPrices fitted = encoder::fit_prices(measured, target);
  facts.x_caches = fitted.from->x_caches;
  facts.device = fitted.from->device;
  facts.picoseconds = fitted.picoseconds;
  write(output, invocation.flag("force"), encoder::to_json(*encoder::make_profile(facts, output)));
  if (invocation.quiet) return;
  print(fmt::format(
      "{}\n  machine  {}\n  measured {} of {}, {:.0f} s\n  prices   from {}, whose times are {:.2f} times those here\n"
      "  error    {:.0f} % (median, near the best layout of a matrix); by {}, the default: {:.0f} %\n",
      escape(output, 4096), escape(facts.machine), counted(measured.size(), "multiply", "multiplies"),
      counted(done, "matrix", "matrices"), watch.seconds(), fitted.from->id, 1 / fitted.factor, 100 * fitted.error,
      encoder::default_profile(target).id, 100 * fitted.default_error));
}

}  // namespace
}  // namespace calibrate_parts

const Command calibrate_command{"calibrate",
                                "[--device gpu|host] -o FILE.json [options]",
                                "measure this machine, for --target FILE",
                                "",
                                calibrate_parts::add_options,
                                calibrate_parts::details,
                                calibrate_parts::run};

}  // namespace spmvpack::tools
