#include "npz/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <cstring>
#include <optional>
#include <utility>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::sources {
namespace {

constexpr const char* remedy_broken = "does numpy.load() read it? if not, fetch or write the file again";
constexpr const char* remedy_type = "convert it with astype(), values to numpy.float64";
constexpr std::string_view magic = "\x93NUMPY";
/// What NumPy allows, and the longest name of a type that can be meant: "float128" is "f16", three characters "U3".
constexpr std::size_t most_dimensions = 64, longest_type = 20;

[[noreturn]] void refuse(const std::string& name, const std::string& what, const char* remedy = remedy_broken) {
  throw Error(errc::bad_input, what, name, remedy);
}

/// The bytes of a member, some at a time.
class Bytes {
 public:
  Bytes(const std::string& name, const std::function<std::string_view()>& next_block)
      : name_(name), next_block_(next_block) {}

  void read(char* to, std::uint64_t size) {
    for (std::uint64_t done = 0; done < size;) {
      if (block_.empty() && (block_ = next_block_()).empty())
        refuse(name_, fmt::format("the array ends {} bytes too early", size - done));
      const std::uint64_t n = std::min<std::uint64_t>(size - done, block_.size());
      std::memcpy(to + done, block_.data(), n);
      block_.remove_prefix(n);
      done += n;
    }
  }
  void require_end() {
    if (block_.empty()) block_ = next_block_();
    if (!block_.empty()) refuse(name_, "the array has more bytes than its header says");
  }

 private:
  const std::string& name_;
  const std::function<std::string_view()>& next_block_;
  std::string_view block_;
};

/// The header, a literal of Python: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. Each key is there
/// once.
class Header {
 public:
  Header(const std::string& name, std::string_view text) : name_(name), text_(text), rest_(text) {
    expect("{");
    while (!take("}")) {
      const std::string_view key = quoted();
      expect(":");
      if (key == "descr" && descr_.empty())
        descr_ = descr();
      else if (key == "fortran_order" && !fortran_)
        fortran_ = boolean();
      else if (key == "shape" && !has_shape_)
        shape();
      else
        fail();
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    skip_space();
    if (!rest_.empty() || descr_.empty() || !fortran_ || !has_shape_) fail();
  }
  [[nodiscard]] std::string_view type() const noexcept { return descr_; }
  [[nodiscard]] bool fortran() const noexcept { return *fortran_; }
  [[nodiscard]] std::vector<std::uint64_t> take_shape() noexcept { return std::move(shape_); }

 private:
  [[noreturn]] void fail() const { refuse(name_, fmt::format("not a header of an array: '{}'", escape(text_))); }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail();
  }
  std::string_view quoted() {
    const bool is_double = take("\"");
    if (!is_double) expect("'");
    const std::size_t end = rest_.find(is_double ? '"' : '\'');
    if (end == std::string_view::npos) fail();
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view descr() {
    skip_space();
    if (rest_.starts_with('[')) throw Error(errc::unsupported, "an array of structures", name_, remedy_type);
    const std::string_view type = quoted();
    if (type.size() > longest_type)
      throw Error(errc::unsupported, fmt::format("an array of type '{}'", escape(type)), name_, remedy_type);
    return type;
  }
  bool boolean() {
    if (take("True")) return true;
    expect("False");
    return false;
  }
  void shape() {
    has_shape_ = true;
    expect("(");
    while (!take(")")) {
      skip_space();
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) fail();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // a long integer of Python 2
      if (shape_.size() == most_dimensions)
        refuse(name_, fmt::format("more than {} dimensions, which no array of NumPy has", most_dimensions));
      shape_.push_back(size);
      if (take(",")) continue;
      expect(")");
      break;
    }
  }

  const std::string& name_;
  std::string_view text_, rest_, descr_;
  std::optional<bool> fortran_;
  bool has_shape_ = false;
  std::vector<std::uint64_t> shape_;
};

/// The size of an element: "i4" has 4 bytes, "U3" three characters of 4.
std::uint64_t element_bytes(const std::string& name, std::string_view dtype) {
  std::uint64_t size = 0;
  const char* const end = dtype.data() + dtype.size();
  const auto [stop, error] = std::from_chars(dtype.empty() ? end : dtype.data() + 1, end, size);
  if (dtype.empty() || std::string_view("?biufcSU").find(dtype[0]) == std::string_view::npos || error != std::errc() ||
      stop != end || (size == 0 && dtype[0] != 'S' && dtype[0] != 'U'))
    throw Error(errc::unsupported, fmt::format("an array of type '{}'", escape(dtype)), name, remedy_type);
  return dtype[0] == 'U' ? checked_mul(size, 4, "an array") : size;
}

/// Turns every number of `width` bytes round.
void swap_bytes(Array<std::byte>& bytes, std::uint64_t width) {
  for (std::byte* p = bytes.begin(); p != bytes.end(); p += width) std::reverse(p, p + width);
}

/// Puts elements of T, in which the first of three indices runs fastest, into C order, in which the last one does.
/// Squares of both are in caches together.
template <class T>
void copy_to_c_order(const std::byte* bytes, std::byte* ordered, std::array<std::uint64_t, 3> shape) {
  const T* const from = reinterpret_cast<const T*>(bytes);
  T* const to = reinterpret_cast<T*>(ordered);
  const auto [planes, rows, columns] = shape;
  constexpr std::uint64_t side = 64;
  for (std::uint64_t c0 = 0; c0 < columns; c0 += side)
    for (std::uint64_t p0 = 0; p0 < planes; p0 += side)
      for (std::uint64_t r = 0; r < rows; ++r)
        for (std::uint64_t c = c0; c < std::min(c0 + side, columns); ++c)
          for (std::uint64_t p = p0; p < std::min(p0 + side, planes); ++p)
            to[(p * rows + r) * columns + c] = from[p + planes * (r + rows * c)];
}

/// An array in Fortran's order in C order.
Array<std::byte> in_c_order(const NpyArray& array, std::uint64_t element) {
  std::array<std::uint64_t, 3> shape{1, 1, 1};
  if (array.shape.size() > shape.size())
    refuse(array.name, fmt::format("{} dimensions in Fortran's order", array.shape.size()),
           "save it in C order: numpy.ascontiguousarray()");
  std::copy(array.shape.begin(), array.shape.end(), shape.begin());
  if (array.shape.size() == 2) std::swap(shape[1], shape[2]);  // so that squares are of both
  Array<std::byte> ordered(array.bytes.size());
  const std::byte* const from = array.bytes.data();
  if (element == 1)
    copy_to_c_order<std::uint8_t>(from, ordered.data(), shape);
  else if (element == 2)
    copy_to_c_order<std::uint16_t>(from, ordered.data(), shape);
  else if (element == 4)
    copy_to_c_order<std::uint32_t>(from, ordered.data(), shape);
  else if (element == 8)
    copy_to_c_order<std::uint64_t>(from, ordered.data(), shape);
  else if (element == 16 && array.dtype[0] == 'c')
    copy_to_c_order<std::complex<double>>(from, ordered.data(), shape);
  else
    throw Error(errc::unsupported, fmt::format("an array of type '{}' in Fortran's order", array.dtype), array.name,
                remedy_for_values(array.dtype));
  return ordered;
}

}  // namespace

std::uint64_t NpyArray::size() const noexcept {
  std::uint64_t n = 1;
  for (const std::uint64_t s : shape) n *= s;  // checked by read_npy()
  return n;
}

std::string NpyArray::shape_text() const {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void NpyArray::truncate(std::uint64_t n) noexcept {
  if (shape[0] <= n) return;
  bytes.truncate(bytes.size() / shape[0] * n);
  shape[0] = n;
}

void NpyArray::fail(const std::string& what, const char* remedy) const { refuse(name, what, remedy); }

bool starts_npy(std::string_view start) noexcept { return start.starts_with(magic); }

NpyArray read_npy(const std::string& name, const std::function<std::string_view()>& next_block,
                  std::uint64_t memory_limit) {
  Bytes bytes(name, next_block);
  std::array<char, 8> start{};
  bytes.read(start.data(), start.size());
  const auto version = static_cast<unsigned char>(start[6]);
  if (!starts_npy({start.data(), start.size()})) refuse(name, "not an array of NumPy");
  if (version < 1 || version > 3)
    throw Error(errc::unsupported, fmt::format("version {} of NumPy's array format", version), name,
                "save it with numpy.lib.format.write_array(version=(1, 0))");
  std::array<unsigned char, 4> length{};
  bytes.read(reinterpret_cast<char*>(length.data()), version == 1 ? 2 : 4);
  const std::uint64_t header_bytes = std::uint64_t{length[0]} | std::uint64_t{length[1]} << 8U |
                                     std::uint64_t{length[2]} << 16U | std::uint64_t{length[3]} << 24U;
  constexpr std::uint64_t longest = 1 << 16;
  if (header_bytes > longest) refuse(name, fmt::format("a header of {} bytes", header_bytes));
  std::string text(header_bytes, '\0');
  bytes.read(text.data(), header_bytes);

  Header header(name, text);
  NpyArray array;
  array.name = name;
  array.shape = header.take_shape();
  std::string_view type = header.type();
  const bool big_endian = type.starts_with('>');
  if (type.starts_with('<') || big_endian || type.starts_with('|') || type.starts_with('=')) type.remove_prefix(1);
  array.dtype = type;
  const std::uint64_t element = element_bytes(name, type);
  std::uint64_t elements = 1;
  for (const std::uint64_t s : array.shape) elements = checked_mul(elements, s, "an array");
  const std::uint64_t total = checked_mul(elements, element, "an array");
  require_memory(total, memory_limit, name);
  array.bytes = Array<std::byte>(total);
  bytes.read(reinterpret_cast<char*>(array.bytes.data()), total);
  bytes.require_end();
  const bool is_bytes = type[0] == 'S', is_text = type[0] == 'U';
  if (big_endian && !is_bytes) swap_bytes(array.bytes, is_text ? 4 : type[0] == 'c' ? element / 2 : element);
  const auto sides = std::count_if(array.shape.begin(), array.shape.end(), [](std::uint64_t n) { return n != 1; });
  if (header.fortran() && sides > 1 && total != 0) array.bytes = in_c_order(array, element);
  return array;
}

}  // namespace spmvpack::sources
