#include "npz/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "npz/npy.hpp"
#include "source/archive.hpp"
#include "source/source_name.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/matrix/triplets.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t piece = 1 << 16;

/// What files of save_npz() have. Other members are not read.
constexpr std::array known_arrays{"format"sv, "shape"sv, "data"sv, "indices"sv,
                                  "indptr"sv, "row"sv,   "col"sv,  "offsets"sv};

/// The known arrays of a file, by name, and what else it holds.
class Members {
 public:
  explicit Members(std::string where) : where_(std::move(where)) {}
  /// The name of the array that a member is; empty if it is none of the known ones. Other tools write "./data.npy".
  static std::string_view array_name(std::string_view path) noexcept {
    constexpr std::string_view ending = ".npy";
    while (path.starts_with("./")) path.remove_prefix(2);
    if (!path.ends_with(ending)) return {};
    path.remove_suffix(ending.size());
    const auto* const known = std::find(known_arrays.begin(), known_arrays.end(), path);
    return known == known_arrays.end() ? std::string_view() : *known;
  }
  void add(std::string_view name, NpyArray array) {
    if (!arrays_.emplace(name, std::move(array)).second)
      throw Error(errc::bad_input, "the name is given to two arrays", fmt::format("{}({}.npy)", where_, name));
  }
  /// Notes a member that is not read.
  void add_other(std::string_view path) {
    constexpr std::uint64_t shown = 8;
    constexpr std::size_t longest = 40;
    if (others_++ < shown) other_names_ += (other_names_.empty() ? "" : ", ") + escape(path, longest);
  }
  /// Takes an array out. Error(errc::bad_input) if there is none.
  NpyArray take(std::string_view name) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) refuse_without(name);
    NpyArray array = std::move(found->second);
    arrays_.erase(found);
    return array;
  }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  [[noreturn]] void refuse_without(std::string_view name) const {
    std::string held;
    for (const auto& [other, array] : arrays_) held += (held.empty() ? "" : ", ") + other + ".npy";
    if (others_ != 0) held += (held.empty() ? "" : ", ") + other_names_ + (others_ > 8 ? ", ..." : "");
    const bool is_sparse = name != "format";
    throw Error(errc::bad_input,
                fmt::format("the file has no array '{}'{}{}", name, held.empty() ? "" : "; it holds ", held), where_,
                is_sparse ? "scipy.sparse.load_npz() needs it, too: write the file again, whole"
                          : "make it a sparse matrix of SciPy: scipy.sparse.csr_array(A) of a dense array, "
                            "A.to_scipy_sparse() of pydata/sparse; and save that with scipy.sparse.save_npz()");
  }

  std::string where_;
  std::map<std::string, NpyArray, std::less<>> arrays_;
  std::uint64_t others_ = 0;
  std::string other_names_;  ///< of the first ones
};

/// The name of the format: bytes, or characters of four bytes.
std::string format_name(const NpyArray& array) {
  constexpr std::uint64_t longest = 256;
  if (array.size() != 1 || (array.dtype[0] != 'S' && array.dtype[0] != 'U') || array.bytes.size() > longest)
    array.fail("not the name of a format");
  const std::uint64_t width = array.dtype[0] == 'U' ? 4 : 1;
  std::string name;
  for (std::uint64_t i = 0; i < array.bytes.size(); ++i) {
    const auto byte = static_cast<char>(array.bytes[i]);
    if (i % width == 0 && byte != '\0') name += byte;
    if (i % width != 0 && byte != '\0') array.fail("not the name of a format");
  }
  return name;
}

/// For what SciPy reads, but does not write.
constexpr const char* remedy_write_again = "write it again: scipy.sparse.save_npz(path, scipy.sparse.load_npz(path))";

/// The elements as 64-bit integers, where negative ones become too large for any size.
Array<std::uint64_t> indices_of(const NpyArray& array, int threads, const char* remedy = remedy_check) {
  if (array.shape.size() != 1) array.fail(fmt::format("shape {}, expected a list", array.shape_text()), remedy);
  Array<std::uint64_t> all(array.size());
  const bool integers = array.dtype != "b1" && array.as_integers([&]<class I>(const I* elements) {
    parallel_pieces(all.size(), piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k) {
        if constexpr (std::is_signed_v<I>)
          all[k] = static_cast<std::uint64_t>(std::int64_t{elements[k]});
        else
          all[k] = elements[k];
      }
    });
  });
  if (!integers) array.fail(fmt::format("type '{}', expected integers", array.dtype));
  return all;
}

/// An element of indices_of() as it is in the array.
std::string number_text(const NpyArray& array, std::uint64_t element) {
  return array.dtype[0] == 'i' ? fmt::format("{}", static_cast<std::int64_t>(element)) : fmt::format("{}", element);
}

/// Rows and columns, which fit what follows from them. Errors: errc::bad_input; errc::unsupported (not a matrix, or
/// too many).
SourceFacts read_shape(const NpyArray& shape, const std::string& where, int threads) {
  const Array<std::uint64_t> sizes = indices_of(shape, threads);
  constexpr std::uint64_t most = 64;  // as of an array
  if (sizes.empty() || sizes.size() > most) shape.fail(fmt::format("{} dimensions, expected 2", sizes.size()));
  for (const std::uint64_t size : sizes)
    if (shape.dtype[0] == 'i' && static_cast<std::int64_t>(size) < 0)
      shape.fail(fmt::format("the size {}, expected 0 or more", number_text(shape, size)));
  if (sizes.size() == 1)
    throw Error(
        errc::unsupported,
        fmt::format("a sparse array of one dimension, of shape ({},), expected a matrix", number_text(shape, sizes[0])),
        where, "make it a matrix of one row: A.reshape(1, -1), or of one column: A.reshape(-1, 1)");
  if (sizes.size() > 2)
    throw Error(errc::unsupported, fmt::format("a sparse array of {} dimensions, expected a matrix", sizes.size()),
                where, "make it a matrix: A.reshape(A.shape[0], -1)");
  require_dimensions(sizes[0], sizes[1], where);
  return {.rows = sizes[0], .cols = sizes[1]};
}

void require_length(const NpyArray& array, std::uint64_t size, std::uint64_t expected) {
  if (size != expected) array.fail(fmt::format("{} elements, expected {}", size, expected));
}

/// The row (or column) of every entry, from the pointers to the first of each, of which the last is the number of
/// entries.
Array<std::uint32_t> expand(const NpyArray& array, const Array<std::uint64_t>& pointers, int threads) {
  const std::uint64_t n = pointers.size() - 1, entries = pointers[n];
  Array<std::uint32_t> expanded(entries);
  parallel_pieces(n, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      if (pointers[i] > pointers[i + 1] || pointers[i + 1] > entries)
        array.fail(fmt::format("element {} is {}, after {}, where the last is {}", i + 1,
                               number_text(array, pointers[i + 1]), number_text(array, pointers[i]), entries));
  });
  parallel_pieces(n, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      std::fill(expanded.begin() + pointers[i], expanded.begin() + pointers[i + 1], static_cast<std::uint32_t>(i));
  });
  return expanded;
}

/// What a file has besides its values.
struct Structure {
  std::string format;
  NpyArray first_array, second_array;   ///< indptr and indices; row and col; offsets
  Array<std::uint64_t> first, second;   ///< their elements; offsets modulo 2^64
  std::uint64_t height = 1, width = 1;  ///< of blocks
};

/// The pointers and indices of csr, csc and bsr. The last pointer says how many entries there are: SciPy leaves out
/// what lies behind them, and so is it here, of indices and data.
void take_pointers(Members& members, const SourceFacts& facts, NpyArray& data, Structure& s, int threads) {
  s.first_array = members.take("indptr");
  s.second_array = members.take("indices");
  s.first = indices_of(s.first_array, threads);
  s.second = indices_of(s.second_array, threads);
  if (s.format == "bsr") {
    s.height = data.shape[1];
    s.width = data.shape[2];
    if (s.height == 0 || s.width == 0 || s.height >= max_dimension || s.width >= max_dimension ||
        facts.rows % s.height != 0 || facts.cols % s.width != 0)
      data.fail(fmt::format("blocks of {} x {} for {} x {}", s.height, s.width, facts.rows, facts.cols));
  }
  require_length(s.first_array, s.first.size(), (s.format == "csc" ? facts.cols : facts.rows / s.height) + 1);
  require_length(s.second_array, s.second.size(), data.shape[0]);
  const std::uint64_t used = s.first[s.first.size() - 1];
  if (s.first[0] != 0 || used > s.second.size())
    s.first_array.fail(fmt::format("it goes from {} to {}, expected from 0 to at most {}",
                                   number_text(s.first_array, s.first[0]), number_text(s.first_array, used),
                                   s.second.size()));
  s.second.truncate(used);
  data.truncate(used);
}

/// Throws for an offset that does not fit the signed indices that SciPy has for such a matrix: it would be another one
/// there.
void check_offsets(const Structure& s, const SourceFacts& facts) {
  constexpr auto narrow = std::uint64_t{std::numeric_limits<std::int32_t>::max()},
                 wide = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const std::uint64_t most = std::max(facts.rows, facts.cols) <= narrow ? narrow : wide;
  const bool is_signed = s.first_array.dtype[0] == 'i';
  for (std::uint64_t d = 0; d < s.first.size(); ++d) {
    const std::uint64_t offset = s.first[d];
    if (offset <= most || (is_signed && ~offset <= most)) continue;
    s.first_array.fail(fmt::format("offset {} is {}, beyond the matrix", d, number_text(s.first_array, offset)),
                       "give offsets a signed type");
  }
}

/// All arrays but the data, whose dimensions are those of the format.
Structure take_structure(Members& members, std::string format, const SourceFacts& facts, NpyArray& data, int threads) {
  Structure s;
  s.format = std::move(format);
  if (s.format == "dia") {
    s.first_array = members.take("offsets");
    s.first = indices_of(s.first_array, threads, remedy_write_again);
    require_length(s.first_array, s.first.size(), data.shape[0]);
    check_offsets(s, facts);
    Array<std::uint64_t> sorted = s.first.clone();
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) s.first_array.fail("a diagonal comes twice");
  } else if (s.format == "coo") {
    s.first_array = members.take("row");
    s.second_array = members.take("col");
    s.first = indices_of(s.first_array, threads);
    s.second = indices_of(s.second_array, threads);
    require_length(s.first_array, s.first.size(), data.size());
    require_length(s.second_array, s.second.size(), data.size());
  } else {
    take_pointers(members, facts, data, s, threads);
  }
  return s;
}

/// Integers as f64. Throws for one that is not exact, if used(k), as that of an entry is and fill is not.
template <class Used>
Array<double> exact_values(const NpyArray& data, int threads, Used&& used) {
  Array<double> values(data.size());
  const bool integers = data.as_integers([&]<class I>(const I* elements) {
    parallel_pieces(values.size(), piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k) {
        values[k] = static_cast<double>(elements[k]);
        if constexpr (sizeof(I) == 8)  // a long double holds every integer
          if (static_cast<long double>(values[k]) != static_cast<long double>(elements[k]) && used(k))
            data.fail(fmt::format("f64 cannot hold the value {} of entry {}", elements[k], k),
                      "round the values, with astype(numpy.float64)");
      }
    });
  });
  if (!integers)
    throw Error(errc::unsupported, fmt::format("values of type '{}'", data.dtype), data.name,
                remedy_for_values(data.dtype));
  return values;
}

/// The row of element k of the diagonals, which are `width` wide: element j of each is in column j. If it is outside
/// the matrix, as is element k then, that is too large.
std::uint64_t row_of(const Structure& s, std::uint64_t width, std::uint64_t k) noexcept {
  return k % width - s.first[k / width];
}

/// The diagonals of a matrix. Elements outside the matrix are fill, and so are zeros.
template <class T>
SourceMatrix assemble_diagonals(const Structure& s, SourceFacts facts, const NpyArray& data, const T* values,
                                const AssemblyOptions& assembly) {
  const std::uint64_t width = data.shape[1], columns = std::min(width, facts.cols);
  const auto for_entries = [&](auto&& f) {
    for (std::uint64_t d = 0; d < s.first.size(); ++d)
      for (std::uint64_t j = 0; j < columns; ++j)
        if (const std::uint64_t row = j - s.first[d]; row < facts.rows && values[d * width + j] != T{0})
          f(row, j, values[d * width + j]);
  };
  facts.entries = 0;
  for_entries([&](std::uint64_t, std::uint64_t, T) { ++facts.entries; });
  require_memory(checked_mul(facts.entries, 8 + sizeof(T), "the diagonals"), assembly.memory_limit, "the diagonals");
  Array<std::uint32_t> rows(facts.entries), cols(facts.entries);
  Array<T> kept(facts.entries);
  std::uint64_t k = 0;
  for_entries([&](std::uint64_t row, std::uint64_t col, T value) {
    rows[k] = static_cast<std::uint32_t>(row);
    cols[k] = static_cast<std::uint32_t>(col);
    kept[k++] = value;
  });
  return assemble_lists<T>(
      facts, [&](std::uint64_t i) { return std::uint64_t{rows[i]}; },
      [&](std::uint64_t i) { return std::uint64_t{cols[i]}; }, [&](std::uint64_t i) { return kept[i]; }, assembly);
}

/// The matrix with the values at `values`.
template <class T>
SourceMatrix assemble_npz(const Structure& s, SourceFacts facts, const NpyArray& data, const T* values,
                          const AssemblyOptions& assembly) {
  const auto value = [values](std::uint64_t k) { return values[k]; };
  if (s.format == "dia") return assemble_diagonals(s, facts, data, values, assembly);
  facts.entries = data.size();
  if (s.format == "coo")
    return assemble_lists<T>(
        facts, [&](std::uint64_t k) { return s.first[k]; }, [&](std::uint64_t k) { return s.second[k]; }, value,
        assembly);
  const std::uint64_t area = s.height * s.width;
  const Array<std::uint32_t> expanded = expand(s.first_array, s.first, assembly.threads);
  if (s.format == "bsr")
    for (std::uint64_t b = 0; b < s.second.size(); ++b)
      if (s.second[b] >= facts.cols / s.width)
        s.second_array.fail(fmt::format("block {} is in block column {} of {}", b,
                                        static_cast<std::int64_t>(s.second[b]), facts.cols / s.width));
  const auto major = [&](std::uint64_t k) { return std::uint64_t{expanded[k / area]} * s.height + k % area / s.width; };
  const auto minor = [&](std::uint64_t k) { return s.second[k / area] * s.width + k % s.width; };
  return s.format == "csc" ? assemble_lists<T>(facts, minor, major, value, assembly)
                           : assemble_lists<T>(facts, major, minor, value, assembly);
}

}  // namespace

bool is_npz(ByteStream& bytes) {
  constexpr std::size_t window = 1 << 16, fixed = 30, flags_at = 6, size_at = 18, name_at = 26, extra_at = 28;
  constexpr std::size_t unknown = 0xFFFFFFFF;  // it is in the extra field
  if (!is_zip(bytes)) return false;
  bool is_array = false;
  for (std::size_t at = 0; at < window;) {
    const std::string_view start = bytes.peek(at + fixed);
    if (start.size() < at + fixed) break;
    const std::string_view header = start.substr(at);
    if (!header.starts_with("PK\x03\x04")) break;
    const auto number = [&](std::size_t i, std::size_t n) {
      std::size_t value = 0;
      while (n-- != 0) value = value << 8U | static_cast<unsigned char>(header[i + n]);
      return value;
    };
    const std::size_t flags = number(flags_at, 2), size = number(size_at, 4), length = number(name_at, 2),
                      extra = number(extra_at, 2);
    const std::string_view name = bytes.peek(at + fixed + length).substr(at + fixed);
    if (!Members::array_name(name).empty()) return true;
    if (!without_matrix_ending(name).empty()) return false;
    if (at == 0) is_array = name.ends_with(".npy");
    constexpr std::size_t size_follows = 8;
    if ((flags & size_follows) != 0 || size == unknown) break;
    at += fixed + length + extra + size;
  }
  return is_array;
}

SourceMatrix read_npz(std::shared_ptr<ByteStream> bytes, const std::string& path, const TextOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  const MemoryScope memory(limited.memory_limit, "reading " + bytes->name());
  const std::string where = bytes->name();
  Members members(where);
  TextOptions left = limited;  // with the memory that the arrays leave
  read_zip(bytes, [&](const std::string& member, const std::function<std::string_view()>& next_block) {
    const auto report = [&] { report_progress(options.progress, "read", bytes->file_position(), bytes->file_size()); };
    const std::string_view array_name = Members::array_name(member);
    if (array_name.empty()) {
      report();
      return members.add_other(member);
    }
    const auto reporting = [&] {
      report();
      return next_block();
    };
    NpyArray array = read_npy(fmt::format("{}({})", where, member), reporting, left.memory_limit);
    left.memory_limit -= std::min(left.memory_limit - 1, array.bytes.size());  // 0 would be all memory
    members.add(array_name, std::move(array));
  });

  std::string format = format_name(members.take("format"));
  if (format != "csr" && format != "csc" && format != "coo" && format != "bsr" && format != "dia")
    throw Error(errc::unsupported, fmt::format("a sparse matrix in format '{}'", escape(format)), where,
                "save it in csr: scipy.sparse.save_npz(path, A.tocsr())");
  SourceFacts facts = read_shape(members.take("shape"), where, options.threads);
  NpyArray data = members.take("data");
  const std::size_t dimensions = format == "bsr" ? 3 : format == "dia" ? 2 : 1;
  if (data.shape.size() != dimensions)
    data.fail(
        fmt::format("shape {}, expected {} in format {}", data.shape_text(), counted(dimensions, "dimension"), format),
        format == "dia" ? remedy_write_again : remedy_check);
  const Structure structure = take_structure(members, std::move(format), facts, data, options.threads);
  const AssemblyOptions assembly{options.threads, left.memory_limit, where, remedy_check};

  SourceMatrix source;
  const auto assemble = [&]<class T>(T) {
    facts.field = field_of(value_type_of<T>);
    source = assemble_npz(structure, facts, data, data.as<T>(), assembly);
  };
  if (data.dtype == "f8") {
    assemble(double{});
  } else if (data.dtype == "f4") {
    assemble(float{});
  } else if (data.dtype == "c16") {
    assemble(std::complex<double>{});
  } else if (data.dtype == "c8") {
    assemble(std::complex<float>{});
  } else {
    const bool diagonals = structure.format == "dia";
    const Array<double> values = exact_values(data, options.threads, [&](std::uint64_t k) {
      return !diagonals || (k % data.shape[1] < facts.cols && row_of(structure, data.shape[1], k) < facts.rows);
    });
    data.bytes = {};
    facts.field = Field::integer;
    source = assemble_npz(structure, facts, data, values.data(), assembly);
  }
  source.provenance.source = base_name(path);
  return source;
}

bool is_npy(ByteStream& bytes) { return starts_npy(bytes.peek(6)); }

template <class T>
Array<T> read_npy_vector(ByteStream& bytes, const TextOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  Array<char> block(piece);
  const NpyArray array = read_npy(
      bytes.name(),
      [&] {
        return std::string_view(block.data(), bytes.read({block.data(), block.size()}));
      },
      limited.memory_limit);
  const auto long_sides = std::count_if(array.shape.begin(), array.shape.end(), [](std::uint64_t n) { return n != 1; });
  if (array.shape.empty() || array.shape.size() > 2 || long_sides > 1)
    array.fail(fmt::format("an array of shape {}, expected a vector", array.shape_text()),
               "give an array of one column, one row or one dimension");
  require_memory(checked_add(array.bytes.size(), checked_mul(array.size(), sizeof(T), "the vector"), "the vector"),
                 limited.memory_limit, "the vector");
  Array<T> vector(array.size());
  const auto copy = [&](const auto* from) { std::copy(from, from + array.size(), vector.begin()); };
  if constexpr (is_complex_type<T>) {
    if (array.dtype == "c16" || array.dtype == "c8") {
      array.dtype == "c16" ? copy(array.as<std::complex<double>>()) : copy(array.as<std::complex<float>>());
      return vector;
    }
  }
  if (array.dtype == "f8" || array.dtype == "f4")
    array.dtype == "f8" ? copy(array.as<double>()) : copy(array.as<float>());
  else
    copy(exact_values(array, options.threads, [](std::uint64_t) { return true; }).data());
  return vector;
}
template Array<double> read_npy_vector(ByteStream&, const TextOptions&);
template Array<std::complex<double>> read_npy_vector(ByteStream&, const TextOptions&);

}  // namespace spmvpack::sources
