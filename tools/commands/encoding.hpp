#pragma once
/// What the commands that write a container share: the options that choose its layout, and the writing.

#include <chrono>

#include "commands/command.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools {

/// Adds --layout, --set and --codec.
void add_encoding_options(boost::program_options::options_description& options);
/// What they ask for. Error(errc::usage).
encoder::EncodeRequest read_encode_request(const Invocation& invocation);

/// The time since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Writes `source` to `output` as `request` says and prints a summary, in which `seconds` is what getting the source
/// took and `getting` what that is called. An existing output is overwritten with --force only.
void encode_and_tell(const SourceMatrix& source, const encoder::EncodeRequest& request, const std::string& output,
                     const Invocation& invocation, std::string_view getting, double seconds);

}  // namespace spmvpack::tools
