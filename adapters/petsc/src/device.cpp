#include "device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "gather.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::petsc {
namespace {

/// Workspaces for products with as many numbers of columns.
constexpr std::size_t most_column_multipliers = 8;

gpu_loader::DeviceInfo info_of(int device) {
  std::vector<gpu_loader::DeviceInfo> devices = gpu_loader::devices();
  if (device < 0 || static_cast<std::size_t>(device) >= devices.size())
    throw Error(errc::no_device, fmt::format("no GPU has number {}", device), {}, "check nvidia-smi");
  return std::move(devices[static_cast<std::size_t>(device)]);
}

gpu_loader::DeviceLoadOptions load_options(const Encoding& encoding, int threads) {
  gpu_loader::DeviceLoadOptions options;
  options.updatable = encoding.updatable;
  options.threads = threads;
  options.verify_checksums = false;
  options.check_structure = false;
  options.cache_share = gpu_loader::solver_cache_share;
  return options;
}

}  // namespace

void StreamOrder::multiplies(gpu_loader::Stream stream) {
  if (unsettled_ && stream != updated_) {
    require(cudaDeviceSynchronize(), "waiting for an update of values");
    unsettled_ = false;
  }
  several_ = several_ || (used_ && stream != last_);
  used_ = true;
  last_ = stream;
}

void StreamOrder::updates(gpu_loader::Stream stream) {
  if (several_ || (used_ && stream != last_)) require(cudaDeviceSynchronize(), "waiting for multiplies");
  several_ = false;
  used_ = unsettled_ = true;
  updated_ = last_ = stream;
}

DeviceOperator::DeviceOperator(const Encoding& encoding, int threads, gpu_loader::Stream stream)
    : matrix_(gpu_loader::DeviceMatrix::load(*encoding.container, stream, load_options(encoding, threads))) {
  if (encoding.updatable) streams_.emplace();
  if (encoding.order.empty()) return;
  const std::size_t count = encoding.order.size();
  order_ = device_memory<int>(count, "the order of values");
  ordered_ = device_memory<double>(count, "values");
  require(cudaMemcpy(order_.get(), encoding.order.data(), count * sizeof(int), cudaMemcpyHostToDevice),
          "copying the order of values");
  require(cudaStreamSynchronize(nullptr), "copying the order of values");  // the copy may still be on its way
}

DeviceOperator::DeviceOperator(gpu_loader::DeviceMatrix matrix, bool updatable) : matrix_(std::move(matrix)) {
  if (updatable) streams_.emplace();
}

void DeviceOperator::update_values(std::span<const double> values, gpu_loader::Stream stream) {
  streams_->updates(stream);
  if (order_) {
    require(gather(values.data(), order_.get(), values.size(), ordered_.get(), stream), "putting values in order");
    values = {ordered_.get(), values.size()};
  }
  matrix_.update_values(values, stream);
}

void DeviceOperator::multiply(Operation operation, const double* x, double beta, double* y, gpu_loader::Stream stream) {
  if (streams_) streams_->multiplies(stream);
  const bool transpose = operation != Operation::none;
  std::optional<gpu_loader::DeviceMultiplier>& multiplier = transpose ? transposed_ : plain_;
  if (!multiplier) multiplier.emplace(matrix_, describe<double>(operation));
  const MatrixFacts& facts = matrix_.facts();
  multiplier->multiply<double>(1.0, {x, transpose ? facts.rows : facts.cols}, beta,
                               DenseView<double>(y, transpose ? facts.cols : facts.rows), stream);
}

void DeviceOperator::multiply_columns(Operation operation, const DenseView<const double>& x, const DenseView<double>& y,
                                      gpu_loader::Stream stream) {
  if (streams_) streams_->multiplies(stream);
  MultiplyDescription description = describe<double>(operation);
  description.right_hand_sides = x.cols;
  const std::pair key(operation != Operation::none, x.cols);
  auto found = of_columns_.find(key);
  if (found == of_columns_.end()) {
    if (of_columns_.size() == most_column_multipliers) of_columns_.clear();  // waits for the device
    found = of_columns_.emplace(key, gpu_loader::DeviceMultiplier(matrix_, description)).first;
  }
  found->second.multiply<double>(1.0, x, 0.0, y, stream);
}

bool encodes_on_device(const EncodingOptions& options) {
  const auto layouts = gpu_encoder::layouts_on_device();
  return std::find(layouts.begin(), layouts.end(), options.layout) != layouts.end();
}

Encoding encode_on_device(const gpu_encoder::DeviceCsr& a, const EncodingOptions& options, gpu_loader::Stream stream,
                          std::shared_ptr<DeviceOperator>* device) {
  gpu_encoder::DeviceEncodeRequest request;
  request.strategy = options.layout;
  request.aim = options.aim;
  request.transpose = options.transpose;
  request.updatable = options.updatable;
  request.cache_share = gpu_loader::solver_cache_share;
  const gpu_loader::DeviceMatrix matrix = gpu_encoder::encode_on_device(a, request, stream).matrix;
  Encoding made;
  made.updatable = options.updatable;
  made.with_transpose = options.transpose;
  made.layout = options.layout;
  made.bytes = matrix.device_bytes(format::Role::a) + matrix.device_bytes(format::Role::transpose);
  made.csr_bytes = layouts::csr::device_bytes(a.rows, a.nonzeros, a.value_type);
  *device = std::make_shared<DeviceOperator>(matrix, options.updatable);
  return made;
}

std::string target_of_device(int device) {
  static std::map<int, std::string> known;  // every matrix asks, and asking the driver takes its time
  std::string& target = known[device];
  if (!target.empty()) return target;
  std::string name = info_of(device).name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const encoder::Profile& profile : encoder::profiles())
    if (profile.target == encoder::Target::gpu && name.find(profile.id) != std::string::npos) target = profile.id;
  if (target.empty()) target = "gpu";
  return target;
}

encoder::Tuner tuner_on_device(int device, int threads) {
  return {info_of(device).name, gpu_loader::measure_on_device(device, threads)};
}

}  // namespace spmvpack::petsc
