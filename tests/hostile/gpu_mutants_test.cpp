// Containers that somebody made, on a GPU: it takes what the host takes, refuses what the host refuses, and multiplies
// within its memory, by the default kernels with the bits of the host, by every kernel as the entries do. Part of
// gpu_test.
//
// SPMVPACK_TEST_BANDS=0: memory ends with what is in it, so that compute-sanitizer sees who reads or writes past that.
// Otherwise it is between bands that stay as they are.

#include "columns.hpp"
#include "device.hpp"
#include "expected.hpp"
#include "mutants.hpp"

namespace spmvpack::test::hostile {
namespace {

using gpu_loader::DeviceMatrix;
using host_loader::HostMatrix;

/// Device memory, each piece between bands of its own.
class Bands {
 public:
  Bands() : band_(number_from("SPMVPACK_TEST_BANDS", 1) != 0 ? std::uint64_t{4096} : 0) {}
  Bands(const Bands&) = delete;
  Bands& operator=(const Bands&) = delete;
  ~Bands() {
    for (const auto& [memory, piece] : pieces_) cudaFree(piece.begin);
  }
  void* allocate(std::uint64_t bytes) {
    void* begin = nullptr;
    cuda(cudaMalloc(&begin, bytes + 2 * band_));
    cuda(cudaMemset(begin, untouched, bytes + 2 * band_));
    cuda(cudaDeviceSynchronize());
    std::byte* const memory = static_cast<std::byte*>(begin) + band_;
    pieces_[memory] = {begin, bytes};
    return memory;
  }
  void release(void* memory) {
    const auto piece = pieces_.find(static_cast<std::byte*>(memory));
    are_intact_ = are_intact_ && is_intact(piece->second);
    cudaFree(piece->second.begin);
    pieces_.erase(piece);
  }
  /// Of all pieces that there are and were.
  [[nodiscard]] bool are_intact() const {
    return are_intact_ &&
           std::all_of(pieces_.begin(), pieces_.end(), [&](const auto& p) { return is_intact(p.second); });
  }

 private:
  struct Piece {
    void* begin;
    std::uint64_t bytes;
  };
  static constexpr int untouched = 0xA5;
  [[nodiscard]] bool is_intact(const Piece& piece) const {
    std::vector<std::uint8_t> band(band_);
    for (const std::uint64_t at : {std::uint64_t{0}, band_ + piece.bytes}) {
      if (band_ != 0)
        cuda(cudaMemcpy(band.data(), static_cast<std::byte*>(piece.begin) + at, band_, cudaMemcpyDeviceToHost));
      if (std::any_of(band.begin(), band.end(), [](std::uint8_t b) { return b != untouched; })) return false;
    }
    return true;
  }

  std::uint64_t band_;
  std::map<std::byte*, Piece> pieces_;
  bool are_intact_ = true;
};

/// Elements between bands.
template <class T>
class BandedVector {
 public:
  BandedVector(Bands& bands, std::uint64_t size)
      : bands_(bands), size_(size), memory_(static_cast<T*>(size == 0 ? nullptr : bands.allocate(size * sizeof(T)))) {}
  BandedVector(Bands& bands, const std::vector<T>& from) : BandedVector(bands, from.size()) {
    if (size_ != 0) cuda(cudaMemcpy(memory_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  BandedVector(const BandedVector&) = delete;
  BandedVector& operator=(const BandedVector&) = delete;
  ~BandedVector() {
    if (memory_ != nullptr) bands_.release(memory_);
  }
  [[nodiscard]] T* data() const { return memory_; }
  [[nodiscard]] std::span<T> span() const { return {memory_, size_}; }
  [[nodiscard]] std::span<const T> view() const { return {memory_, size_}; }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> to(size_);
    if (size_ != 0) cuda(cudaMemcpy(to.data(), memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  Bands& bands_;
  std::uint64_t size_;
  T* memory_;
};

gpu_loader::DeviceLoadOptions options_with(Bands& bands) {
  gpu_loader::DeviceLoadOptions options;
  options.threads = 1;
  options.allocator.allocate = [&bands](std::uint64_t bytes) { return bands.allocate(bytes); };
  options.allocator.release = [&bands](void* memory) { bands.release(memory); };
  return options;
}

/// The container's sections each in memory of its own.
DeviceMatrix of_sections(const Container& c, Bands& bands) {
  gpu_loader::DeviceContents contents;
  contents.facts = c.facts();
  contents.parts = c.parts();
  const auto owner = std::make_shared<std::vector<std::unique_ptr<BandedVector<std::byte>>>>();
  for (std::size_t i = 0; i < c.sections().size(); ++i) {
    const SectionInfo& s = c.sections()[i];
    if (!s.known || s.part == format::no_part) continue;
    const Array<std::byte> bytes = c.read_section(i);
    owner->push_back(
        std::make_unique<BandedVector<std::byte>>(bands, std::vector<std::byte>(bytes.begin(), bytes.end())));
    contents.sections.push_back({s.part, s.name, owner->back()->view()});
  }
  contents.owner = owner;
  return DeviceMatrix::of_sections(std::move(contents), nullptr, options_with(bands));
}

/// A mutant on the device, beside what the host makes of it.
template <class V>
class Comparison {
 public:
  Comparison(const Container& c, const HostMatrix& host, const DeviceMatrix& device, const Entries& entries,
             Operation operation, Bands& bands)
      : host_(host),
        device_(device),
        bands_(bands),
        description_(describe<V>(operation)),
        rows_(operation == Operation::none ? c.facts().rows : c.facts().cols),
        x_(random_vector<V>(operation == Operation::none ? c.facts().cols : c.facts().rows, 3)),
        y0_(random_vector<V>(rows_, 4)),
        expected_(entries.products(operation, x_)) {
    const format::Role role = check_description(description_, c.facts(), c.parts()).role;
    for (const PartInfo& part : c.parts())  // those of csr and coo have orders of their own
      if (part.role == role && (part.layout == "csr" || part.layout == "coo")) same_order_ = false;
  }

  /// What is wrong; empty if nothing is.
  std::string wrong() {
    const std::string how =
        fmt::format("{}, f{}", description_.operation == Operation::none ? "A" : "A^T", 8 * sizeof(V));
    for (const bool adds : {false, true}) {
      const V alpha = adds ? V(-2.5) : V(1), beta = adds ? V(0.75) : V(0);
      const std::vector<V> y = multiply(description_, alpha, beta);
      if (const std::string found = expected_.difference(y, alpha, beta, y0_); !found.empty())
        return how + ": " + found;
      std::vector<V> of_host = y0_;
      host_.multiply<V>(alpha, std::span<const V>(x_), beta, std::span<V>(of_host), 1, description_);
      if (same_order_ && !same_bits_or_nan(y, of_host))
        return fmt::format("{}, beta {}: not the host's bits", how, beta);
      if (!adds) sums_ = y;
    }
    for (const gpu_loader::KernelInfo& kernel : device_.kernels()) {
      MultiplyDescription by_kernel = description_;
      by_kernel.kernel = gpu_loader::find_kernel(kernel.name);
      const std::string found = expected_.difference(multiply(by_kernel, V(1), V(0)), V(1), V(0), y0_);
      if (!found.empty()) return fmt::format("{}, {}: {}", how, kernel.name, found);
    }
    for (const bool by_rows : {false, true})
      if (!columns_are_alike(3, by_rows)) return how + ": several columns have other bits than one";
    return bands_.are_intact() ? "" : how + ": memory beside its own is written to";
  }

 private:
  void run(const MultiplyDescription& d, V alpha, const DenseView<const V>& x, V beta, const DenseView<V>& y) {
    const BandedVector<std::byte> workspace(bands_, device_.workspace_bytes(d));
    device_.multiply<V>(alpha, x, beta, y, workspace.span(), nullptr, d);
    cuda(cudaDeviceSynchronize());
  }
  std::vector<V> multiply(const MultiplyDescription& d, V alpha, V beta) {
    const BandedVector<V> x(bands_, x_), y(bands_, beta == 0 ? std::vector<V>(rows_, std::nan("")) : y0_);
    run(d, alpha, DenseView<const V>(x.view()), beta, DenseView<V>(y.span()));
    return y.get();
  }
  bool columns_are_alike(std::uint64_t n, bool by_rows) {
    const auto place = [&](std::uint64_t i, std::uint64_t j, std::uint64_t size) {
      return by_rows ? i * n + j : j * size + i;
    };
    std::vector<V> all(x_.size() * n);
    for (std::uint64_t i = 0; i < x_.size(); ++i)
      for (std::uint64_t j = 0; j < n; ++j) all[place(i, j, x_.size())] = x_[i];
    const BandedVector<V> x(bands_, all), y(bands_, rows_ * n);
    const auto stride = [&](std::uint64_t size) { return static_cast<std::int64_t>(by_rows ? n : size); };
    MultiplyDescription d = description_;
    d.right_hand_sides = n;
    d.strided_x = d.strided_y = by_rows;
    if (by_rows)
      run(d, V(1), {x.data(), x_.size(), n, stride(0), 1}, V(0), {y.data(), rows_, n, stride(0), 1});
    else
      run(d, V(1), {x.data(), x_.size(), n, 1, stride(x_.size())}, V(0), {y.data(), rows_, n, 1, stride(rows_)});
    const std::vector<V> found = y.get();
    for (std::uint64_t j = 0; j < n; ++j)
      for (std::uint64_t i = 0; i < rows_; ++i)
        if (!same_bits_or_nan(found[place(i, j, rows_)], sums_[i])) return false;
    return true;
  }

  const HostMatrix& host_;
  const DeviceMatrix& device_;
  Bands& bands_;
  MultiplyDescription description_;
  std::uint64_t rows_;
  std::vector<V> x_, y0_, sums_;
  Products expected_;
  bool same_order_ = true;
};

/// Why the GPU refuses a container; empty if it does not. Errors of files alone.
std::string refusal(const Error& e, const Judged& judged) {
  if (e.code() == errc::unsupported && judged.host)  // that docs/FORMAT.md allows a loader
    return judged.container->parts()[0].layout == "ccoo" || judged.container->parts().size() > 1 ? "" : e.what();
  return e.code() == errc::corrupt && !judged.host ? "" : e.what();
}

std::string wrong_on_gpu(const Judged& judged, bool by_sections) {
  if (!judged.container || judged.code == errc::out_of_memory) return {};
  const Container& c = *judged.container;
  Bands bands;
  std::optional<DeviceMatrix> device;
  try {
    device = by_sections ? of_sections(c, bands) : DeviceMatrix::load(c, nullptr, options_with(bands));
  } catch (const Error& e) {
    return refusal(e, judged);
  }
  if (!judged.host) {
    // Only the host has the list of stored zeros.
    const bool has_zeros = std::any_of(c.sections().begin(), c.sections().end(),
                                       [](const SectionInfo& s) { return s.name == "stored_zeros"; });
    return has_zeros ? "" : "only the host refuses it: " + judged.message;
  }
  const Entries entries(c);
  if (device->has_transpose() != judged.host->has_transpose()) return "A^T is there on one side alone";
  for (const Operation operation : {Operation::none, Operation::transpose}) {
    if (operation == Operation::transpose && !device->has_transpose()) continue;
    std::string wrong = Comparison<double>(c, *judged.host, *device, entries, operation, bands).wrong();
    if (wrong.empty() && c.facts().value_type == ValueType::f32)
      wrong = Comparison<float>(c, *judged.host, *device, entries, operation, bands).wrong();
    if (!wrong.empty()) return wrong;
  }
  device.reset();
  return bands.are_intact() ? "" : "memory beside the matrix is written to";
}

}  // namespace

TEST_CASE("mutants: a GPU takes what the host takes, and multiplies with its bits and within its memory", "[mutants]") {
  bool by_sections = false;
  each_mutant(1500, [&](const std::vector<std::byte>& /*file*/, const Judged& judged) {
    by_sections = !by_sections;
    return wrong_on_gpu(judged, by_sections);
  });
}

}  // namespace spmvpack::test::hostile
