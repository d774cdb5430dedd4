#include "npz/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "npz/npy.hpp"
#include "source/archive.hpp"
#include "source/source_name.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/text.hpp"
#include "spmvpack/container/triplets.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {
namespace {

constexpr std::uint64_t piece = 1 << 16;

/// The arrays of a file, by name.
class Members {
 public:
  explicit Members(std::string where) : where_(std::move(where)) {}
  void add(const std::string& path, NpyArray array) {
    if (!arrays_.emplace(path, std::move(array)).second)
      throw Error(errc::bad_input, "the name is given to two arrays", fmt::format("{}({})", where_, escape(path)));
  }
  /// Takes an array out. Error(errc::bad_input) if there is none.
  NpyArray take(const std::string& name) {
    const auto found = arrays_.find(name + ".npy");
    if (found == arrays_.end())
      throw Error(errc::bad_input, fmt::format("the file has no array '{}'", name), where_,
                  "give a file of scipy.sparse.save_npz()");
    NpyArray array = std::move(found->second);
    arrays_.erase(found);
    return array;
  }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

 private:
  std::string where_;
  std::map<std::string, NpyArray> arrays_;
};

/// The name of the format: bytes, or characters of four bytes.
std::string format_name(const NpyArray& array) {
  if (!array.shape.empty() || (array.dtype[0] != 'S' && array.dtype[0] != 'U')) array.fail("not the name of a format");
  const std::uint64_t width = array.dtype[0] == 'U' ? 4 : 1;
  std::string name;
  for (std::uint64_t i = 0; i < array.bytes.size(); ++i) {
    const auto byte = static_cast<char>(array.bytes[i]);
    if (i % width == 0 && byte != '\0') name += byte;
    if (i % width != 0 && byte != '\0') array.fail("not the name of a format");
  }
  return name;
}

/// The elements as 64-bit integers, where negative ones become too large for any size.
Array<std::uint64_t> indices_of(const NpyArray& array, int threads) {
  if (array.shape.size() != 1) array.fail(fmt::format("shape {}, expected a list", array.shape_text()));
  Array<std::uint64_t> all(array.size());
  bool integers = true;
  const bool known = array.as_integers([&]<class I>(const I* elements) {
    if constexpr (sizeof(I) == 1)
      integers = false;  // nobody counts in these
    else
      parallel_pieces(all.size(), piece, threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t k = first; k < last; ++k) all[k] = static_cast<std::uint64_t>(elements[k]);
      });
  });
  if (!known || !integers) array.fail(fmt::format("type '{}', expected integers", array.dtype));
  return all;
}

void require_length(const NpyArray& array, std::uint64_t size, std::uint64_t expected) {
  if (size != expected) array.fail(fmt::format("{} elements, expected {}", size, expected));
}

/// The row (or column) of every entry, from the pointers to the first of each.
Array<std::uint32_t> expand(const NpyArray& array, const Array<std::uint64_t>& pointers, std::uint64_t entries,
                            int threads) {
  const std::uint64_t n = pointers.size() - 1;
  if (pointers[0] != 0 || pointers[n] != entries)
    array.fail(fmt::format("it goes from {} to {}, expected 0 to {}", pointers[0], pointers[n], entries));
  Array<std::uint32_t> expanded(entries);
  parallel_pieces(n, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      if (pointers[i] > pointers[i + 1] || pointers[i + 1] > entries)
        array.fail(fmt::format("element {} is {}, after {}", i + 1, pointers[i + 1], pointers[i]));
  });
  parallel_pieces(n, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      std::fill(expanded.begin() + pointers[i], expanded.begin() + pointers[i + 1], static_cast<std::uint32_t>(i));
  });
  return expanded;
}

/// Integers as f64. Throws for one that is not exact.
Array<double> exact_values(const NpyArray& data, int threads) {
  Array<double> values(data.size());
  const bool integers = data.as_integers([&]<class I>(const I* elements) {
    parallel_pieces(values.size(), piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k) {
        values[k] = static_cast<double>(elements[k]);
        if constexpr (sizeof(I) == 8)  // a long double holds every integer
          if (static_cast<long double>(values[k]) != static_cast<long double>(elements[k]))
            data.fail(fmt::format("f64 cannot hold the value {} of entry {}", elements[k], k),
                      "round the values, with astype(numpy.float64)");
      }
    });
  });
  if (!integers)
    throw Error(errc::unsupported, fmt::format("values of type '{}'", data.dtype), data.name,
                data.dtype.starts_with('c') ? "only real values are supported: save real and imaginary parts apart"
                                            : "convert them with astype(numpy.float64)");
  return values;
}

/// The diagonals of a matrix: element j of each is in column j. Elements outside the matrix are fill, and so are zeros.
template <class T>
SourceMatrix assemble_diagonals(Members& members, SourceFacts facts, const NpyArray& data, const T* values,
                                const TextOptions& options) {
  const NpyArray offset_array = members.take("offsets");
  const Array<std::uint64_t> offsets = indices_of(offset_array, options.threads);  // column - row, modulo 2^64
  require_length(offset_array, offsets.size(), data.shape[0]);
  Array<std::uint64_t> sorted = offsets.clone();
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) offset_array.fail("a diagonal comes twice");
  const std::uint64_t width = data.shape[1], columns = std::min(width, facts.cols);
  const auto for_entries = [&](auto&& f) {
    for (std::uint64_t d = 0; d < offsets.size(); ++d)
      for (std::uint64_t j = 0; j < columns; ++j)
        if (const std::uint64_t row = j - offsets[d]; row < facts.rows && values[d * width + j] != T{0})
          f(row, j, values[d * width + j]);
  };
  facts.entries = 0;
  for_entries([&](std::uint64_t, std::uint64_t, T) { ++facts.entries; });
  require_memory(checked_mul(facts.entries, 8 + sizeof(T), "the diagonals"), options.memory_limit, "the diagonals");
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
      [&](std::uint64_t i) { return std::uint64_t{cols[i]}; }, [&](std::uint64_t i) { return kept[i]; },
      {options.threads, options.memory_limit, members.where()});
}

/// The matrix with the values at `values`.
template <class T>
SourceMatrix assemble_npz(Members& members, const std::string& format, SourceFacts facts, const NpyArray& data,
                          const T* values, const TextOptions& options) {
  const AssemblyOptions assembly{options.threads, options.memory_limit, members.where()};
  const auto value = [values](std::uint64_t k) { return values[k]; };
  if (format == "dia") return assemble_diagonals(members, facts, data, values, options);
  facts.entries = data.size();
  if (format == "coo") {
    const NpyArray row_array = members.take("row"), col_array = members.take("col");
    const Array<std::uint64_t> row = indices_of(row_array, options.threads),
                               col = indices_of(col_array, options.threads);
    require_length(row_array, row.size(), facts.entries);
    require_length(col_array, col.size(), facts.entries);
    return assemble_lists<T>(
        facts, [&](std::uint64_t k) { return row[k]; }, [&](std::uint64_t k) { return col[k]; }, value, assembly);
  }
  const bool by_columns = format == "csc", blocks = format == "bsr";
  const std::uint64_t height = blocks ? data.shape[1] : 1, width = blocks ? data.shape[2] : 1, area = height * width;
  if (blocks && (area == 0 || facts.rows % height != 0 || facts.cols % width != 0))
    data.fail(fmt::format("blocks of {} x {} for {} x {}", height, width, facts.rows, facts.cols));
  const NpyArray pointer_array = members.take("indptr"), index_array = members.take("indices");
  const Array<std::uint64_t> pointers = indices_of(pointer_array, options.threads),
                             indices = indices_of(index_array, options.threads);
  require_length(pointer_array, pointers.size(), (by_columns ? facts.cols : facts.rows / height) + 1);
  require_length(index_array, indices.size(), facts.entries / area);
  const Array<std::uint32_t> expanded = expand(pointer_array, pointers, indices.size(), options.threads);
  if (blocks)
    for (std::uint64_t b = 0; b < indices.size(); ++b)
      if (indices[b] >= facts.cols / width)
        index_array.fail(fmt::format("block {} is in block column {} of {}", b, static_cast<std::int64_t>(indices[b]),
                                     facts.cols / width));
  const auto major = [&](std::uint64_t k) { return std::uint64_t{expanded[k / area]} * height + k % area / width; };
  const auto minor = [&](std::uint64_t k) { return indices[k / area] * width + k % width; };
  return by_columns ? assemble_lists<T>(facts, minor, major, value, assembly)
                    : assemble_lists<T>(facts, major, minor, value, assembly);
}

}  // namespace

bool is_npz(ByteStream& bytes) {
  using namespace std::string_view_literals;
  return bytes.peek(4) == "PK\x03\x04"sv;
}

SourceMatrix read_npz(std::shared_ptr<ByteStream> bytes, const std::string& path, const TextOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  const MemoryScope memory(limited.memory_limit, "reading " + bytes->name());
  const std::string where = bytes->name();
  Members members(where);
  TextOptions left = limited;  // with the memory that the arrays leave
  read_zip(bytes, [&](const std::string& member, const std::function<std::string_view()>& next_block) {
    const auto reporting = [&] {
      report_progress(options.progress, "read", bytes->file_position(), bytes->file_size());
      return next_block();
    };
    NpyArray array = read_npy(fmt::format("{}({})", where, escape(member)), reporting, left.memory_limit);
    left.memory_limit -= std::min(left.memory_limit - 1, array.bytes.size());  // 0 would be all memory
    members.add(member, std::move(array));
  });

  const NpyArray name = members.take("format");
  const std::string format = format_name(name);
  if (format != "csr" && format != "csc" && format != "coo" && format != "bsr" && format != "dia")
    throw Error(errc::unsupported, fmt::format("a sparse matrix in format '{}'", escape(format)), where,
                "save it in csr: scipy.sparse.save_npz(path, A.tocsr())");
  const NpyArray shape = members.take("shape");
  const Array<std::uint64_t> sizes = indices_of(shape, options.threads);
  if (sizes.size() != 2) shape.fail(fmt::format("{} dimensions, expected 2", sizes.size()));
  NpyArray data = members.take("data");
  if (data.shape.size() != (format == "bsr" ? 3 : format == "dia" ? 2 : 1))
    data.fail(fmt::format("shape {}", data.shape_text()));

  SourceFacts facts{.rows = sizes[0], .cols = sizes[1]};
  SourceMatrix source;
  if (data.dtype == "f8") {
    source = assemble_npz(members, format, facts, data, data.as<double>(), left);
  } else if (data.dtype == "f4") {
    source = assemble_npz(members, format, facts, data, data.as<float>(), left);
  } else {
    const Array<double> values = exact_values(data, options.threads);
    data.bytes = {};
    facts.field = Field::integer;
    source = assemble_npz(members, format, facts, data, values.data(), left);
  }
  source.provenance.source = base_name(path);
  return source;
}

bool is_npy(ByteStream& bytes) { return starts_npy(bytes.peek(6)); }

Array<double> read_npy_vector(ByteStream& bytes, const TextOptions& options) {
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
  require_memory(checked_add(array.bytes.size(), checked_mul(array.size(), 8, "the vector"), "the vector"),
                 limited.memory_limit, "the vector");
  if (array.dtype != "f8" && array.dtype != "f4") return exact_values(array, options.threads);
  Array<double> vector(array.size());
  const auto copy = [&](const auto* from) { std::copy(from, from + array.size(), vector.begin()); };
  array.dtype == "f8" ? copy(array.as<double>()) : copy(array.as<float>());
  return vector;
}

}  // namespace spmvpack::sources
