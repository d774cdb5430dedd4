#pragma once
/// Shared by the commands that write containers: the options that choose a layout, and the writing.

#include <chrono>

#include "commands/command.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools {

/// Adds --optimize and --target, of layouts whose plans have an aim.
void add_aim_options(boost::program_options::options_description& options);
/// --columns, which read_aim() reads, too; only --help describes it.
void add_columns_option(boost::program_options::options_description& options);
/// --updatable, likewise; read_encode_request() reads it.
void add_updatable_option(boost::program_options::options_description& options);
/// The aim that these options make. Error(errc::usage).
encoder::Aim read_aim(const Invocation& invocation);

/// Adds --layout, --set, --force-size and --codec.
void add_encoding_options(boost::program_options::options_description& options);
/// The request that these and the aim's options make. Error(errc::usage).
encoder::EncodeRequest read_encode_request(const Invocation& invocation);

/// Measures the time since its construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Prints a summary of what was written to `output`, or with --json what was decided.
void tell_encoded(const SourceMatrix& source, const encoder::EncodeRequest& request,
                  const encoder::EncodeResult& result, const std::string& output, const Invocation& invocation,
                  std::string_view getting, double seconds);
/// Writes `source` to `output` according to `request` and prints a summary, or with --json what was decided. `seconds`
/// is the time that it took to get the source, and `getting` names that step. An existing output is only overwritten
/// with --force.
void encode_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                     const Invocation& invocation, std::string_view getting, double seconds);

}  // namespace spmvpack::tools
