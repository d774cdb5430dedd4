#include "npz/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "spmvpack/container/error.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack::sources {
namespace {

constexpr const char* remedy_save = "save it with scipy.sparse.save_npz(), or a vector with numpy.save()";
constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& name, const std::string& what, const char* remedy = remedy_save) {
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

/// The header, a literal of Python: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class Header {
 public:
  Header(const std::string& name, std::string_view text) : name_(name), text_(text), rest_(text) {
    expect("{");
    while (!take("}")) {
      const std::string_view key = quoted();
      expect(":");
      if (key == "descr")
        descr_ = descr();
      else if (key == "fortran_order")
        fortran_ = boolean();
      else if (key == "shape")
        shape();
      else
        fail();
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    skip_space();
    if (!rest_.empty() || descr_.empty() || !has_shape_) fail();
  }
  [[nodiscard]] std::string_view type() const noexcept { return descr_; }
  [[nodiscard]] bool fortran() const noexcept { return fortran_; }
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
    expect("'");
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail();
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view descr() {
    skip_space();
    if (rest_.starts_with('[')) throw Error(errc::unsupported, "an array of structures", name_, remedy_save);
    return quoted();
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
      shape_.push_back(size);
      if (take(",")) continue;
      expect(")");
      break;
    }
  }

  const std::string& name_;
  std::string_view text_, rest_, descr_;
  bool fortran_ = false, has_shape_ = false;
  std::vector<std::uint64_t> shape_;
};

/// The size of an element: "i4" has 4 bytes, "U3" three characters of 4.
std::uint64_t element_bytes(const std::string& name, std::string_view dtype) {
  std::uint64_t size = 0;
  const char* const end = dtype.data() + dtype.size();
  const auto [stop, error] = std::from_chars(dtype.empty() ? end : dtype.data() + 1, end, size);
  if (dtype.empty() || std::string_view("?biufcSU").find(dtype[0]) == std::string_view::npos || error != std::errc() ||
      stop != end)
    throw Error(errc::unsupported, fmt::format("an array of type '{}'", escape(dtype)), name, remedy_save);
  return dtype[0] == 'U' ? checked_mul(size, 4, "an array") : size;
}

}  // namespace

std::uint64_t NpyArray::size() const noexcept {
  std::uint64_t n = 1;
  for (const std::uint64_t s : shape) n *= s;  // checked by read_npy()
  return n;
}

std::string NpyArray::shape_text() const { return fmt::format("({})", fmt::join(shape, ", ")); }

void NpyArray::fail(const std::string& what, const char* remedy) const {
  refuse(name, what, remedy != nullptr ? remedy : remedy_save);
}

bool starts_npy(std::string_view start) noexcept { return start.starts_with(magic); }

NpyArray read_npy(const std::string& name, const std::function<std::string_view()>& next_block,
                  std::uint64_t memory_limit) {
  Bytes bytes(name, next_block);
  std::array<char, 8> start{};
  bytes.read(start.data(), start.size());
  const auto version = static_cast<unsigned char>(start[6]);
  if (!starts_npy({start.data(), start.size()})) refuse(name, "not an array of NumPy");
  if (version < 1 || version > 3)
    throw Error(errc::unsupported, fmt::format("version {} of NumPy's array format", version), name, remedy_save);
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
  if (type.starts_with('>') && type != ">S" && element_bytes(name, type.substr(1)) > 1)
    throw Error(errc::unsupported, fmt::format("an array of type '{}', in big-endian order", escape(type)), name,
                remedy_save);
  if (type.starts_with('<') || type.starts_with('>') || type.starts_with('|') || type.starts_with('='))
    type.remove_prefix(1);
  array.dtype = type;
  std::uint64_t total = element_bytes(name, type);
  for (const std::uint64_t s : array.shape) total = checked_mul(total, s, "an array");
  if (header.fortran() && array.shape.size() > 1)
    throw Error(errc::unsupported, "an array in Fortran's order", name, remedy_save);
  require_memory(total, memory_limit, name);
  array.bytes = Array<std::byte>(total);
  bytes.read(reinterpret_cast<char*>(array.bytes.data()), total);
  bytes.require_end();
  return array;
}

}  // namespace spmvpack::sources
