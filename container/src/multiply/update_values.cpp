#include "spmvpack/container/multiply/update_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "layouts/value_functions.hpp"
#include "spmvpack/container/base/narrowing.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t elements_per_task = std::uint64_t{1} << 15;

/// f(element, its place among the values) for the elements of a part that are values, several at a time.
template <class T, class F>
void each_element(const UpdatablePart& part, int threads, F&& f) {
  T* const elements = reinterpret_cast<T*>(part.bytes.begin[part.slots->section]);
  std::visit(
      [&]<class Index>(const Array<Index>& value) {
        parallel_pieces(part.slots->elements, elements_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
          if (value.empty()) {
            for (std::uint64_t k = begin; k < end; ++k) f(elements[k], k);
          } else {
            for (std::uint64_t k = begin; k < end; ++k)
              if (value[k] != no_value<Index>) f(elements[k], std::uint64_t{value[k]});
          }
        });
      },
      part.slots->value);
}

template <class T>
bool is_plus_zero(T value) {
  return std::bit_cast<bits_of<T>>(value) == 0;
}

/// The first value that the part refuses; what is beyond all values if there is none.
std::uint64_t first_refused(const UpdatablePart& part, const void* values, int threads) {
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const layouts::ValueFunctions& functions = *find_layout(part.view->info().layout).values;
  if (part.slots == nullptr)
    return functions.first_refused == nullptr ? none
                                              : functions.first_refused(*part.view, *part.source, values, threads);
  if (!part.slots->held_by_bits) return none;
  std::atomic<std::uint64_t> first{none};
  dispatch(part.view->info().value_type, [&]<class T>(T) {
    each_element<T>(part, threads, [&](const T& element, std::uint64_t k) {
      if (is_plus_zero(element) == is_plus_zero(static_cast<const T*>(values)[k])) return;
      for (std::uint64_t known = first; k < known && !first.compare_exchange_weak(known, k);) {
      }
    });
  });
  return first;
}

void write(const UpdatablePart& part, const void* values, int threads) {
  if (part.slots == nullptr)
    return find_layout(part.view->info().layout).values->write(*part.view, part.bytes, *part.source, values, threads);
  if (part.slots->elements == 0) return;
  dispatch(part.view->info().value_type, [&]<class T>(T) {
    each_element<T>(part, threads,
                    [from = static_cast<const T*>(values)](T& element, std::uint64_t k) { element = from[k]; });
  });
}

/// Of all parts, as their type has them.
void write_all(const MatrixFacts& facts, std::span<const UpdatablePart> parts, const void* values, int threads) {
  std::uint64_t refused = facts.nnz;
  const UpdatablePart* refusing = nullptr;
  for (const UpdatablePart& part : parts) {
    const std::uint64_t first = first_refused(part, values, threads);
    if (first >= refused) continue;
    refused = first;
    refusing = &part;
  }
  if (refusing != nullptr)
    throw Error(
        errc::unsupported,
        fmt::format("value {} would change the pattern: in layout {}, an entry that is +0 remains +0, and others "
                    "do not become it",
                    refused, refusing->view->info().layout),
        refusing->view->where(), "encode the matrix in another layout with --updatable (updatable=true)");
  for (const UpdatablePart& part : parts) write(part, values, threads);
}

Array<float> rounded(std::span<const double> values, int threads) {
  Array<float> to(values.size());
  constexpr std::uint64_t piece = std::uint64_t{1} << 16;
  parallel_items(values.size(), piece, threads, [&](std::uint64_t k) {
    to[k] = static_cast<float>(values[k]);
    if (is_beyond(values[k], to[k]))
      throw Error(errc::bad_input, fmt::format("value {}, {}, is beyond f32", k, values[k]), {},
                  "encode the matrix as f64");
  });
  return to;
}

}  // namespace

template <class T>
void update_values(const MatrixFacts& facts, std::span<const UpdatablePart> parts, std::span<const T> values,
                   int threads) {
  if (values.size() != facts.nnz)
    throw Error(errc::usage, fmt::format("{} values for a matrix of {} entries", values.size(), facts.nnz), {},
                "give one for each entry, zeros that are stored included");
  if (facts.value_type == value_type_of<T>) return write_all(facts, parts, values.data(), threads);
  if constexpr (std::is_same_v<T, double>) {
    const Array<float> narrow = rounded(values, threads);
    write_all(facts, parts, narrow.data(), threads);
  } else {
    throw Error(
        errc::usage,
        fmt::format("{} values for a matrix of {} values", to_string(value_type_of<T>), to_string(facts.value_type)),
        {}, fmt::format("give {} values", to_string(facts.value_type)));
  }
}

template <class T>
std::uint64_t write_with_values(ByteSink& sink, const Container& container, std::span<const T> values,
                                const LoadOptions& load, const WriteOptions& write) {
  const MemoryScope memory(load.memory_limit, "updating " + container.name());
  LoadOptions options = load;
  options.updatable = true;
  CountedVector<LoadedPart> loaded;
  for (std::size_t i = 0; i < container.parts().size(); ++i) loaded.push_back(container.load_part(i, options));
  std::vector<const PartView*> views;
  for (const LoadedPart& part : loaded) views.push_back(&part.view());
  const std::vector<ValueSource> sources = value_sources(container.facts(), views, options.threads);
  std::vector<UpdatablePart> parts;
  std::vector<const LoadedPart*> all;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    parts.push_back({views[i], loaded[i].writable_bytes(), &sources[i]});
    all.push_back(&loaded[i]);
  }
  update_values(container.facts(), parts, values, options.threads);
  return write_updated(sink, ContainerFrame::of(container, options), all, write);
}

#define SPMVPACK_INSTANTIATE_UPDATE(T)                                                                          \
  template void update_values(const MatrixFacts&, std::span<const UpdatablePart>, std::span<const T>, int);     \
  template std::uint64_t write_with_values(ByteSink&, const Container&, std::span<const T>, const LoadOptions&, \
                                           const WriteOptions&);
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_UPDATE)
#undef SPMVPACK_INSTANTIATE_UPDATE

}  // namespace spmvpack
