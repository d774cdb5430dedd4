// New values in an old pattern: the functions of spmvpack.h.

#include <span>
#include <string>

#include "arguments.hpp"
#include "handles.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/multiply/update_values.hpp"

using namespace spmvpack::c;
using spmvpack::AssemblyMap;
using spmvpack::dispatch;
using spmvpack::InsertMode;
using spmvpack::LoadOptions;
using spmvpack::MemorySink;
using spmvpack::WriteOptions;
using spmvpack::gpu_loader::DeviceAssembly;
using spmvpack::gpu_loader::Stream;

namespace spmvpack::c {
namespace {

/// The type of new values, or of their list. Error (usage) if it is complex.
ValueType real_type(spmvpack_type type) {
  const ValueType real = type_of(type);
  if (holds_complex(real))
    throw Error(errc::usage, "new values, and lists of them, are real", {}, "use SPMVPACK_F32 or SPMVPACK_F64");
  return real;
}

/// Calls f with the span of `count` values.
template <class F>
void with_values(spmvpack_type type, const void* values, std::uint64_t count, F&& f) {
  if (count != 0) require_pointer(values, "values");
  dispatch(real_type(type), [&]<class T>(T) { f(std::span(static_cast<const T*>(values), count)); });
}

/// map.sum() of what C has. where: threads or a stream.
template <class Map, class Where>
void sum(const Map& map, std::uint64_t nnz, std::uint64_t list_size, spmvpack_type value_type, const void* list,
         spmvpack_insert_mode mode, void* values, Where where) {
  require(mode == SPMVPACK_INSERT || mode == SPMVPACK_ADD, "no such mode");
  if (nnz != 0) require_pointer(values, "values");
  dispatch(real_type(value_type), [&]<class T>(T) {
    map.sum(std::span(static_cast<const T*>(list), list == nullptr ? 0 : list_size),
            std::span(static_cast<T*>(values), nnz), mode == SPMVPACK_ADD ? InsertMode::add : InsertMode::insert,
            where);
  });
}

}  // namespace
}  // namespace spmvpack::c

extern "C" {

spmvpack_status spmvpack_host_update_values(spmvpack_host_matrix* matrix, spmvpack_type value_type, const void* values,
                                            uint64_t count, int threads) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    with_values(value_type, values, count, [&](auto all) { matrix->matrix.update_values(all, threads); });
  });
}

spmvpack_status spmvpack_host_get_container(const spmvpack_host_matrix* matrix, int threads,
                                            spmvpack_container** container) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(container, "container");
    *container = nullptr;
    spmvpack::require_threads(threads);
    MemorySink sink;
    WriteOptions options;
    options.threads = threads;
    matrix->matrix.write(sink, options);
    *container = new spmvpack_container(container_in(sink));
  });
}

spmvpack_status spmvpack_with_values(const spmvpack_container* container, spmvpack_type value_type, const void* values,
                                     uint64_t count, const spmvpack_load_options* options,
                                     spmvpack_container** updated) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(updated, "updated");
    *updated = nullptr;
    const LoadOptions load = options_of(options);
    WriteOptions write;
    write.threads = load.threads;
    MemorySink sink(load.memory_limit);
    with_values(value_type, values, count,
                [&](auto all) { spmvpack::write_with_values(sink, container->container, all, load, write); });
    *updated = new spmvpack_container(container_in(sink));
  });
}

spmvpack_status spmvpack_assembly_create(uint64_t rows, uint64_t cols, uint64_t count, spmvpack_index index_type,
                                         const void* row_idx, const void* col_idx, int threads,
                                         spmvpack_assembly** assembly) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    *assembly = nullptr;
    spmvpack::require_threads(threads);
    with_indices(index_type, row_idx, count, "row_idx", [&]<class I>(std::span<const I> i) {
      if (count != 0) require_pointer(col_idx, "col_idx");
      const std::span j(static_cast<const I*>(col_idx), count);
      *assembly = new spmvpack_assembly{AssemblyMap::of(rows, cols, i, j, threads)};
    });
  });
}

spmvpack_status spmvpack_assembly_create_for(const spmvpack_csr* pattern, uint64_t count, spmvpack_index index_type,
                                             const void* row_idx, const void* col_idx, int threads,
                                             spmvpack_assembly** assembly) {
  return guarded([&] {
    require_pointer(pattern, "pattern");
    require_pointer(assembly, "assembly");
    *assembly = nullptr;
    spmvpack::require_threads(threads);
    const SparseArrays arrays(*pattern, nullptr, threads);
    with_indices(index_type, row_idx, count, "row_idx", [&]<class I>(std::span<const I> i) {
      if (count != 0) require_pointer(col_idx, "col_idx");
      const std::span j(static_cast<const I*>(col_idx), count);
      *assembly = new spmvpack_assembly{AssemblyMap::of(arrays.view, i, j, threads)};
    });
  });
}

void spmvpack_assembly_free(spmvpack_assembly* assembly) { delete assembly; }

spmvpack_status spmvpack_assembly_nonzeros(const spmvpack_assembly* assembly, uint64_t* nonzeros) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    require_pointer(nonzeros, "nonzeros");
    *nonzeros = assembly->map.nnz();
  });
}

spmvpack_status spmvpack_assembly_pattern(const spmvpack_assembly* assembly, const spmvpack_csr_arrays* matrix) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    require_pointer(matrix, "matrix");
    const AssemblyMap& map = assembly->map;
    require_arrays(*matrix, map.rows, map.cols, map.nnz());
    copy_pattern(map.row_ptr, map.col_idx, *matrix);
  });
}

spmvpack_status spmvpack_assembly_sum(const spmvpack_assembly* assembly, spmvpack_type value_type, const void* list,
                                      spmvpack_insert_mode mode, void* values, int threads) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    spmvpack::require_threads(threads);
    sum(assembly->map, assembly->map.nnz(), assembly->map.list_size, value_type, list, mode, values, threads);
  });
}

spmvpack_status spmvpack_update_values(const spmvpack_matrix* matrix, spmvpack_type value_type, const void* values,
                                       uint64_t count, void* stream) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    with_values(value_type, values, count,
                [&](auto all) { matrix->matrix.update_values(all, static_cast<Stream>(stream)); });
  });
}

spmvpack_status spmvpack_require_updated(const spmvpack_matrix* matrix, void* stream) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    matrix->matrix.require_updated(static_cast<Stream>(stream));
  });
}

spmvpack_status spmvpack_assembly_to_device(const spmvpack_assembly* assembly, void* stream,
                                            spmvpack_device_assembly** on_device) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    require_pointer(on_device, "on_device");
    *on_device = nullptr;
    *on_device = new spmvpack_device_assembly{DeviceAssembly::of(assembly->map, static_cast<Stream>(stream))};
  });
}

void spmvpack_device_assembly_free(spmvpack_device_assembly* assembly) { delete assembly; }

spmvpack_status spmvpack_device_assembly_sum(const spmvpack_device_assembly* assembly, spmvpack_type value_type,
                                             const void* list, spmvpack_insert_mode mode, void* values, void* stream) {
  return guarded([&] {
    require_pointer(assembly, "assembly");
    sum(assembly->map, assembly->map.nnz(), assembly->map.list_size(), value_type, list, mode, values,
        static_cast<Stream>(stream));
  });
}

}  // extern "C"
