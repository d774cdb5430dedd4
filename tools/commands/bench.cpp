/// spmvpack bench: times and checks the multiply of every layout, next to other libraries.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/value_semantic.hpp>
#include <optional>
#include <vector>

#include "bench/measure.hpp"
#include "bench/suite.hpp"
#include "commands/bench_output.hpp"
#include "commands/command.hpp"
#include "commands/encoding.hpp"
#include "failures.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/sources/read_matrix.hpp"
#include "suggestion.hpp"

namespace spmvpack::tools {
namespace bench_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) {
  using Words = std::vector<std::string>;
  options.add_options()                                                                               //
      ("suite", po::bool_switch(), "the frozen suite of generated matrices")                          //
      ("shapes", po::bool_switch(), "plain shapes: full, banded, one long row, ...")                  //
      ("only", po::value<Words>()->value_name("NAME"), "only this matrix of those; may be repeated")  //
      ("device", po::value<std::string>()->value_name("gpu|host"), "default: a GPU if there is one")  //
      ("peers", po::value<std::string>()->value_name("cusparse|none"),
       "libraries (default: cusparse on a GPU, else none)")  //
      ("value-type", po::value<std::string>()->value_name("TYPE"),
       "f64, f32, or mixed: f32 values and f64 vectors")                                                          //
      ("layout", po::value<Words>()->value_name("NAME"), "only this layout; may be repeated")                     //
      ("set", po::value<Words>()->value_name("NAME=VALUE"), "layout setting; may be repeated")                    //
      ("runs", po::value<std::string>()->value_name("N")->default_value("30"), "timed runs, both cold and warm")  //
      ("seed", po::value<std::string>()->value_name("N")->default_value("1"), "seed of the random x")             //
      ("json", po::bool_switch(), "print JSON (docs/bench.schema.json)")                                          //
      ("csv", po::bool_switch(), "print a line per matrix and kernel, for tables");
}

void add_special_options(po::options_description& options) {
  options.add_options()("target", po::value<std::string>())("kernels", po::value<std::string>())(
      "columns", po::value<std::string>()->default_value("1"))("peer", po::value<std::vector<std::string>>())(
      "host-vectors", po::bool_switch())("updatable", po::bool_switch())("cache-share", po::value<std::string>());
}

/// Wraps `text` into indented lines of at most 80 columns.
std::string in_lines(std::string_view text) {
  constexpr std::size_t indent = 6, width = 80 - indent;
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
    lines += fmt::format("{:{}}{}\n", "", indent, text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::string details() {
  std::string text =
      "A.mtx (or any other source) is encoded in every layout, but in pkt only with\n"
      "--layout pkt; a container is multiplied as it is. An argument that begins with\n"
      "\"generate \" is a matrix that this command makes (with seed 0 unless given), and\n"
      "is encoded. Each kernel is checked row by row against a product in extended\n"
      "precision with a random x, |error| <= (n + 4) u sum |a x|, where u is the unit\n"
      "roundoff of the vectors' type. A kernel that promises identical bits must give\n"
      "them before and after the timings. Times (on a GPU, by events) are cold, after\n"
      "writing 256 MiB, and warm. A wrong result ends with exit code 70, after the\n"
      "figures. --kernels default measures only the default kernel of each layout;\n"
      "--peer csr-alg1 measures only that format of a library, and may be repeated.\n"
      "\n"
      "The default value type is f64; a container keeps its own. With f32 or mixed,\n"
      "values are rounded first. Peers get the same types; a format that they do not\n"
      "multiply in these types is skipped.\n"
      "\n"
      "GB/s counts the bytes that must move (matrix, x and y once each). copy% is the\n"
      "share of a device copy's speed, measured in the same run. floor% is the share\n"
      "of the largest of three lower bounds on the time: these bytes at copy speed; the\n"
      "32-byte sectors of x that each 1,024 rows touch, as fast as the second-level\n"
      "cache is read; their 128-byte lines, as fast as scattered elements are gathered\n"
      "from it. The last two are above the table. See docs/BENCHMARKS.md.\n"
      "\n"
      "--columns K (1 to 1024, default 1): X has K columns, which are x times powers of\n"
      "two, and every column of Y is checked. Kernels take X and Y row-major; on a GPU,\n"
      "the default kernel also column-major, and cuSPARSE's SpMM every algorithm in\n"
      "both orders (-row, -col). GFLOP/s and GB/s count all columns; the two bounds of\n"
      "x are left out.\n"
      "\n"
      "--host-vectors also times cold multiplies that copy x from pinned memory of the\n"
      "host, and y back. Beside them stands the time that is predicted from the\n"
      "kernel's and the speed of such copies, both measured in the same run.\n"
      "\n"
      "--target NAME|FILE, as in encode (default: the device's kind): --layout auto\n"
      "then measures here what auto chooses for that machine.\n"
      "\n"
      "--updatable: layouts are encoded as by encode --updatable.\n"
      "\n"
      "--cache-share S: the matrix stays in the GPU's L2 cache between multiplies if,\n"
      "with x and y, it takes at most that share of it (0 to 1; default: a third;\n"
      "docs/BENCHMARKS.md, \"What stays in the L2 cache\").\n"
      "\n"
      "--device gpu exits with 5 if the build has no CUDA and with 6 if there is no\n"
      "GPU. Containers are written to files in $TMPDIR, else /dev/shm, else /tmp.\n"
      "\n"
      "Several files are measured one after the other, with a line for each at the end.\n" +
      std::string(several_files_help) +
      "\n"
      "--csv has a header, then a line for each kernel of each matrix, peers included,\n"
      "with the members of --json and times in microseconds. Missing values, such as\n"
      "those of skipped kernels, are empty.\n"
      "\n"
      "The suite:\n";
  const auto list = [&](std::span<const bench::SuiteMember> members) {
    for (const bench::SuiteMember& m : members)
      text += fmt::format("  {}{}\n{}", m.name, m.added ? " (added)" : "", in_lines(m.generator));
  };
  list(bench::suite());
  text += "\nThe shapes:\n";
  list(bench::shapes());
  return text +
         "\n"
         "Examples:\n"
         "  spmvpack bench A.mtx B.mtx.gz --device host\n"
         "  spmvpack bench --suite --value-type f32 --json > suite.json\n"
         "  spmvpack bench --suite --only lp-wide --layout ccoo\n"
         "  spmvpack bench --suite --layout auto --target h100\n";
}

/// The values of an option that may be repeated.
std::vector<std::string> words(const Invocation& invocation, const char* option) {
  if (invocation.options.count(option) == 0) return {};
  return invocation.options[option].as<std::vector<std::string>>();
}

/// The value of an option that takes one of two words; fallback() if the option is not given.
template <class Fallback>
std::string choice(const Invocation& invocation, const char* option, const std::array<std::string, 2>& choices,
                   Fallback&& fallback) {
  if (invocation.options.count(option) == 0) return fallback();
  const std::string& text = invocation.text(option);
  if (std::find(choices.begin(), choices.end(), text) == choices.end())
    throw Error(errc::usage, fmt::format("--{} is '{}'", option, escape(text)), {},
                fmt::format("give {} or {}", choices[0], choices[1]));
  return text;
}

const bench::SuiteMember& find_member(std::span<const bench::SuiteMember> members, const std::string& name) {
  try {
    return bench::find_member(members, name);
  } catch (const Error& e) {
    std::vector<std::string> known;
    for (const bench::SuiteMember& member : members) known.emplace_back(member.name);
    throw with_suggestion(e, name, known);
  }
}

bool has_gpu() { return gpu_loader::built_with_cuda() && !gpu_loader::devices().empty(); }

std::optional<double> cache_share(const Invocation& invocation) {
  if (invocation.options.count("cache-share") == 0) return std::nullopt;
  return parse_fraction("--cache-share", invocation.text("cache-share"));
}

std::unique_ptr<bench::Machine> choose_machine(const Invocation& invocation, const LoadOptions& options) {
  const bool chosen = invocation.options.count("device") != 0;
  // With --device host, no driver is queried: it may be broken.
  const std::string device = choice(invocation, "device", {"gpu", "host"}, [] { return has_gpu() ? "gpu" : "host"; });
  const std::string peers =
      choice(invocation, "peers", {"cusparse", "none"}, [&] { return device == "gpu" ? "cusparse" : "none"; });
  if (device == "host" && invocation.options.count("cache-share") != 0)
    throw Error(errc::usage, chosen ? "--cache-share with --device host" : "--cache-share without a GPU", {},
                "it is a share of a GPU's L2 cache: omit it");
  if (device == "host" && invocation.flag("host-vectors"))
    throw Error(errc::usage, chosen ? "--host-vectors with --device host" : "--host-vectors without a GPU", {},
                "it times copies of x and y to a GPU and back: omit it");
  if (peers == "none" && invocation.options.count("peer") != 0)
    throw Error(errc::usage, "--peer without a library to compare with", {},
                "omit it, or measure on a GPU with cuSPARSE");
  if (device == "gpu") return bench::make_gpu_machine(options, peers == "cusparse", cache_share(invocation));
  if (peers == "cusparse")
    throw Error(errc::usage, chosen ? "--peers cusparse with --device host" : "--peers cusparse without a GPU", {},
                "cuSPARSE needs a GPU: omit --peers");
  return bench::make_host_machine(options);
}

class Benchmark {
 public:
  explicit Benchmark(const Invocation& invocation)
      : invocation_(invocation), json_(invocation.flag("json")), csv_(invocation.flag("csv")) {
    if (json_ && csv_) throw Error(errc::usage, "both --json and --csv", {}, "give one of them");
    options_.runs = static_cast<int>(parse_number("--runs", invocation.text("runs"), 1, 100000));
    options_.seed = parse_number("--seed", invocation.text("seed"), 0, ~std::uint64_t{0});
    options_.columns = parse_number("--columns", invocation.text("columns"), 1, encoder::most_columns);
    options_.layouts = words(invocation, "layout");
    for (const std::string& layout : options_.layouts) find_layout(layout);
    options_.settings = parse_settings(words(invocation, "set"));
    options_.all_kernels = choice(invocation, "kernels", {"all", "default"}, [] { return "all"; }) == "all";
    encoder::check_settings(options_.settings);
    options_.peers = words(invocation, "peer");
    options_.host_vectors = invocation.flag("host-vectors");
    options_.updatable = invocation.flag("updatable");
    run_.updatable = options_.updatable;
    options_.load = invocation.common<LoadOptions>();
    if (invocation_.options.count("target") != 0)
      encoder::set_target(options_.aim.emplace(), invocation_.text("target"));
    read_types();
    run_.version = invocation.version;
    run_.runs = options_.runs;
    run_.seed = options_.seed;
    run_.columns = options_.columns;
  }

  void run() {
    const Stopwatch watch;
    run_.suite = invocation_.flag("suite");
    std::vector<const bench::SuiteMember*> members = choose_members();
    machine_ = choose_machine(invocation_, options_.load);
    if (!options_.aim) options_.aim = bench::aim_of(*machine_);
    run_.target = encoder::target_name(*options_.aim);
    for (const bench::SuiteMember* member : members) bench_member(*member);
    Failures failures("spmvpack bench", invocation_.arguments.size());
    for (const std::string& path : invocation_.arguments) failures.attempt(path, [&] { bench_argument(path); });
    run_.seconds = watch.seconds();
    tell(matrices_text(run_.matrices));
    if (run_.suite) tell(summary_text(run_.matrices));
    if (json_ && !run_.matrices.empty()) print(to_json(run_));
    refuse_wrong();
    failures.finish();
  }

 private:
  void read_types() {
    if (invocation_.options.count("value-type") == 0) return;
    const std::string& text = invocation_.text("value-type");
    const bool mixed = text == "mixed";
    value_type_ = mixed ? ValueType::f32 : value_type_named(text);
    if (!value_type_ || holds_complex(*value_type_))
      throw Error(errc::usage, fmt::format("--value-type is '{}'", escape(text)), {}, "give f64, f32 or mixed");
    options_.vectors = mixed ? ValueType::f64 : *value_type_;
  }

  /// Measures the machine itself, which takes seconds: only once there is a matrix.
  void start() {
    if (started_) return;
    run_.machine = machine_->facts();
    report_progress(invocation_.progress, "measure copies", 0, 0);
    run_.speeds = machine_->measure_speeds(options_.runs, options_.host_vectors);
    tell(header_text(run_));
    if (csv_) print(csv_header());
    started_ = true;
  }

  std::vector<const bench::SuiteMember*> choose_members() {
    const std::vector<std::string> only = words(invocation_, "only");
    const bool shapes = invocation_.flag("shapes");
    if (run_.suite && shapes) throw Error(errc::usage, "both --suite and --shapes", {}, "give one of them");
    if (!run_.suite && !shapes) {
      if (!only.empty())
        throw Error(errc::usage, "--only without --suite or --shapes", {}, "it selects from one of them: give both");
      return {};
    }
    const std::span<const bench::SuiteMember> all = shapes ? bench::shapes() : bench::suite();
    std::vector<const bench::SuiteMember*> members;
    members.reserve(only.size());
    for (const std::string& name : only) members.push_back(&find_member(all, name));
    if (only.empty())
      for (const bench::SuiteMember& member : all) members.push_back(&member);
    return members;
  }

  void bench_member(const bench::SuiteMember& member) {
    const Stopwatch watch;
    bench::MatrixResult result;
    result.name = member.name;
    result.group = member.group;
    result.added = member.added;
    const SourceMatrix source =
        bench::make_member(member, value_type_.value_or(ValueType::f64),
                           {invocation_.threads, invocation_.memory_limit}, invocation_.progress);
    result.make_seconds = watch.seconds();
    bench_matrix(result, source, nullptr);
  }

  void bench_argument(const std::string& argument) {
    constexpr std::string_view made = "generate ";
    if (argument.starts_with(made))
      bench_member({argument, {}, std::string_view(argument).substr(made.size())});
    else
      bench_file(argument);
  }

  void bench_file(const std::string& path) {
    const Stopwatch watch;
    bench::MatrixResult result;
    auto source_options = invocation_.common<sources::SourceOptions>();
    source_options.value_type = value_type_;
    const sources::ReadResult source = sources::read_source(path, source_options);
    print_warnings(source.matrix);
    if (source.container && !options_.layouts.empty())
      throw Error(errc::usage, "--layout does not apply to a container", source.container->name(), "omit it");
    if (source.container && options_.updatable)
      throw Error(errc::usage, "--updatable does not apply to a container, which is multiplied as it is",
                  source.container->name(), "omit it");
    if (source.container && source.container->facts().value_type != source.matrix.matrix.value_type())
      throw Error(errc::usage, "a container is multiplied as it is, and this one holds f64 values",
                  source.container->name(), "give its source, or encode it with --value-type f32");
    result.name = input_name(path);
    result.make_seconds = watch.seconds();
    bench_matrix(result, source.matrix, source.container ? &*source.container : nullptr);
  }

  void bench_matrix(bench::MatrixResult& result, const SourceMatrix& source, const Container* container) {
    start();
    const Stopwatch watch;
    result.source = source.provenance.source;
    bench::measure(result, *machine_, run_.speeds, source, container, options_);
    result.total_seconds = result.make_seconds + watch.seconds();
    tell(matrix_text(result, run_));
    if (csv_) print(csv_lines(result, run_));
    run_.matrices.push_back(std::move(result));
  }

  void tell(const std::string& text) const {
    clear_progress();
    if (!json_ && !csv_) print(text);
  }

  /// Error(errc::usage) if there is no such layout.
  static void find_layout(const std::string& name) { static_cast<void>(encoder::find_strategy(name)); }

  void refuse_wrong() const {
    std::string wrong;
    for (const bench::MatrixResult& matrix : run_.matrices)
      for (const bench::Result& r : matrix.results)
        if (!r.kept())
          wrong += fmt::format("{}{} {} of {}", wrong.empty() ? "" : ", ", r.by, r.name(), escape(matrix.name));
    if (!wrong.empty())
      throw Error(errc::internal, "wrong results, or bits that differ: " + wrong, {},
                  "do not use these kernels; please report it");
  }

  const Invocation& invocation_;
  bool json_, csv_, started_ = false;
  std::optional<ValueType> value_type_;  ///< of the matrices; unset: as they are
  bench::MeasureOptions options_;
  BenchRun run_;
  std::unique_ptr<bench::Machine> machine_;
};

void run(const Invocation& invocation) { Benchmark(invocation).run(); }

}  // namespace
}  // namespace bench_parts

const Command bench_command{"bench",
                            "A.mtx...|A.spmvc...|--suite|--shapes [options]",
                            "time and check the multiply in every layout",
                            "A.spmvc or A.mtx",
                            bench_parts::add_options,
                            bench_parts::details,
                            bench_parts::run,
                            bench_parts::add_special_options,
                            nullptr,
                            {"suite", "shapes"},
                            true};

}  // namespace spmvpack::tools
