#pragma once
// What tests ask of gpu_encoder, on the host and on a GPU.

#include <string>
#include <vector>

#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::test {

/// Layouts as they are by default, and where settings make other passes.
inline std::vector<gpu_encoder::DeviceEncodeRequest> encode_requests() {
  std::vector<gpu_encoder::DeviceEncodeRequest> all{{.strategy = "csr"}, {.strategy = "ell"}, {.strategy = "sell"}};
  all.push_back({.strategy = "sell", .settings = {{"sell.sigma", "1"}}});
  all.push_back({.strategy = "sell", .settings = {{"sell.c", "5"}, {"sell.sigma", "12"}}});
  all.push_back({.strategy = "sell", .settings = {{"sell.c", "100"}, {"sell.sigma", "4294967294"}}});
  all.push_back({.strategy = "csell"});
  all.push_back({.strategy = "csell", .settings = {{"csell.values", "raw"}, {"csell.sums", "2"}}});
  all.push_back({.strategy = "csell", .settings = {{"csell.values", "table"}, {"csell.block", "1"}}});
  all.push_back({.strategy = "bitflag"});
  all.push_back({.strategy = "bitflag", .settings = {{"bitflag.tile", "1"}, {"bitflag.values", "raw"}}});
  all.push_back({.strategy = "bitflag", .settings = {{"bitflag.tile", "3"}, {"bitflag.hot", "5"}}});
  all.push_back({.strategy = "bitflag", .settings = {{"bitflag.tile", "32"}, {"bitflag.hot", "300"}}});
  all.push_back({.strategy = "bitflag", .settings = {{"bitflag.tile", "2"}, {"bitflag.segments", "3"}}});
  all.push_back({.strategy = "bitflag", .settings = {{"bitflag.values", "table"}, {"bitflag.segments", "40"}}});
  return all;
}

inline std::string name_of(const gpu_encoder::DeviceEncodeRequest& request) {
  std::string text = request.strategy;
  for (const auto& [setting, value] : request.settings) text += " " + setting + "=" + value;
  return text + (request.transpose ? " with the transpose" : "");
}

}  // namespace spmvpack::test
