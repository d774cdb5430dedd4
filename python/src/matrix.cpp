// Containers, and matrices in host memory.

#include <fmt/format.h>

#include "bindings.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::python {
namespace {

LoadOptions load_options(int threads, std::uint64_t memory_limit = 0) {
  LoadOptions options;
  options.threads = threads;
  options.memory_limit = memory_limit;
  options.progress = stops_on_signals();
  return options;
}

void save(const Container& container, nb::handle path_object, bool overwrite) {
  const std::string path = path_of(path_object);
  const LoadOptions options = load_options(0);
  const nb::gil_scoped_release no_gil;
  OutputFile file(path, overwrite);
  container.copy_to(file, options);
  file.commit();
}

nb::bytes to_bytes(const Container& container) {
  MemorySink sink;
  const LoadOptions options = load_options(0);
  Array<std::byte> all;
  {
    const nb::gil_scoped_release no_gil;
    container.copy_to(sink, options);
    all = sink.take();
  }
  return nb::bytes(all.data(), all.size());
}

/// Row pointers, columns and values.
nb::tuple unpack_arrays(const Container& container, int threads, std::uint64_t memory_limit) {
  const LoadOptions options = load_options(threads, memory_limit);
  CsrMatrix a;
  {
    const nb::gil_scoped_release no_gil;
    a = unpack(container, options);
  }
  const nb::object pointers = nb::cast(to_numpy(std::move(a.row_ptr))),
                   columns = nb::cast(to_numpy(std::move(a.col_idx)));
  return std::visit([&](auto& values) { return nb::make_tuple(pointers, columns, to_numpy(std::move(values))); },
                    a.values);
}

void check(const Container& container, int threads, std::uint64_t memory_limit) {
  const LoadOptions options = load_options(threads, memory_limit);
  const nb::gil_scoped_release no_gil;
  check_contents(container, options);
}

/// What was just encoded in memory is not checked once more; everything else is.
OnHost load_on_host(const Container& container, int threads, std::uint64_t memory_limit, bool trusted, bool updatable) {
  LoadOptions options = load_options(threads, memory_limit);
  options.verify_checksums = options.check_structure = !trusted;
  options.updatable = updatable;
  const nb::gil_scoped_release no_gil;
  return OnHost(host_loader::HostMatrix::load(container, options));
}

void multiply_scaled_on_host(const OnHost& on_host, nb::handle x_object, nb::handle y_object, nb::handle alpha_object,
                             nb::handle beta_object, nb::handle threads_object, nb::handle transpose_object,
                             nb::handle rows_object, nb::handle columns_object) {
  const host_loader::HostMatrix& a = on_host.matrix;
  const int threads = threads_of(threads_object);
  const Operation operation = operation_of(transpose_object);
  const Operands v(x_object, y_object, a.facts(), operation, Place::host);
  const auto scalar = [&](nb::handle object, const char* name) {
    return v.x.type.complex ? complex_scalar_of(object, name) : std::complex<double>(scalar_of(object, name));
  };
  const std::complex<double> alpha = scalar(alpha_object, "alpha"), beta = scalar(beta_object, "beta");
  const FactorArrays factors(rows_object, columns_object, a.facts(), v.x.type, Place::host);
  const nb::gil_scoped_release no_gil;
  dispatch_elements(v.x.type, [&]<class V>(V) {
    using T = real_of<V>;
    const auto rounded = [](std::complex<double> s) {
      if constexpr (is_complex<V>)
        return V(s);
      else
        return static_cast<V>(s.real());
    };
    a.multiply<V>(rounded(alpha), v.x.view<const V>(), rounded(beta), v.y.view<V>(), threads, describe<V>(operation),
                  factors.scaling<T>());
  });
}

void multiply_on_host(const OnHost& on_host, nb::handle x, nb::handle y, nb::handle alpha, nb::handle beta,
                      nb::handle threads, nb::handle transpose) {
  multiply_scaled_on_host(on_host, x, y, alpha, beta, threads, transpose, nb::none(), nb::none());
}

/// From float64 or float32, of which the Python side has made a contiguous list.
void update_values_on_host(OnHost& on_host, const AnyArray& values, nb::handle threads_object) {
  host_loader::HostMatrix& a = on_host.matrix;
  const int threads = threads_of(threads_object);
  const std::uint64_t nnz = a.facts().nnz;
  if (values.ndim() != 1 || values.shape(0) != nnz)
    raise_value_error(
        fmt::format("values has shape {}, expected ({},), one for each entry of the matrix, stored zeros "
                    "included",
                    shape_text(values), nnz));
  dispatch(values.dtype() == nb::dtype<float>() ? ValueType::f32 : ValueType::f64, [&]<class T>(T) {
    const std::span all(static_cast<const T*>(values.data()), nnz);
    const nb::gil_scoped_release no_gil;
    a.update_values(all, threads);
  });
}

/// In memory, of the matrix as it is.
Container container_of(const OnHost& on_host) {
  MemorySink sink;
  WriteOptions options;
  options.progress = stops_on_signals();
  const nb::gil_scoped_release no_gil;
  on_host.matrix.write(sink, options);
  return Container::open(memory_source(sink.take()), "memory");
}

}  // namespace

nb::dict info_of(const MatrixFacts& facts, std::span<const PartInfo> parts) {
  nb::dict info;
  info["rows"] = facts.rows;
  info["cols"] = facts.cols;
  info["nnz"] = facts.nnz;
  info["dtype"] = name_of(facts.value_type);
  info["field"] = std::string(to_string(facts.field));
  info["symmetry"] = std::string(to_string(facts.symmetry));
  info["bitwise_symmetry"] = std::string(to_string(facts.bitwise_symmetry()));
  info["digest"] = facts.digest.to_string();
  info["share"] = nb::none();
  if (const auto& share = facts.share) {
    nb::dict of;
    of["rank"] = share->rank;
    of["ranks"] = share->ranks;
    of["global_shape"] = nb::make_tuple(share->global_rows, share->global_cols);
    of["global_nnz"] = share->global_nnz;
    of["first_row"] = share->first_row;
    of["first_column"] = share->first_col;
    of["own_columns"] = share->own_cols;
    of["global_digest"] = share->global_digest.to_string();
    info["share"] = of;
  }
  info["file_bytes"] = std::uint64_t{0};
  nb::list list;
  for (const PartInfo& part : parts)
    list.append(nb::make_tuple(part.layout, part.rows.count, part.cols.count, part.nnz));
  info["parts"] = list;
  return info;
}

nb::dict info_of(const Container& container) {
  nb::dict info = info_of(container.facts(), container.parts(format::Role::a));
  info["device_bytes"] = container.device_bytes();
  info["transpose_device_bytes"] = container.device_bytes(format::Role::transpose);
  info["has_transpose"] = has_transpose(container.facts(), container.parts());
  info["file_bytes"] = container.file_bytes();
  const Provenance p = container.provenance();
  nb::dict provenance;
  provenance["version"] = p.version;
  provenance["options"] = p.options;
  provenance["target"] =
      p.target.empty() ? nb::object(nb::none()) : nb::object(nb::str(p.target.c_str(), p.target.size()));
  provenance["source"] = p.source;
  provenance["entries"] = p.entries;
  provenance["duplicates"] = p.duplicates;
  provenance["explicit_zeros"] = p.explicit_zeros;
  provenance["rounded"] = p.rounded;
  provenance["comments_left_out"] = p.comments_left_out;
  provenance["measured_on"] = p.measured_on;
  nb::list measured;
  for (const MeasuredLayout& m : p.measured) {
    nb::dict one;
    one["layout"] = m.layout;
    one["predicted_seconds"] = m.predicted_seconds;
    one["seconds"] = m.seconds;
    measured.append(one);
  }
  provenance["measured"] = measured;
  info["provenance"] = provenance;
  return info;
}

void bind_matrix(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Container>(m, "Container", "A container in memory, or an open file.")
      .def_static(
          "open",
          [](nb::handle path_object, std::uint64_t memory_limit) {
            const std::string path = path_of(path_object);
            const nb::gil_scoped_release no_gil;
            return sources::open_container(path, memory_limit);
          },
          "path"_a, "memory_limit"_a, nb::sig("def open(path: str | bytes, memory_limit: int) -> Container"))
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes) {
            const std::span all{static_cast<const std::byte*>(bytes.data()), bytes.size()};
            const nb::gil_scoped_release no_gil;
            return Container::open(memory_source(all), "memory");
          },
          "bytes"_a)
      .def(
          "info", [](const Container& c) { return info_of(c); }, nb::sig("def info(self) -> dict[str, typing.Any]"))
      .def("save", &save, "path"_a, "overwrite"_a,
           nb::sig("def save(self, path: str | bytes, overwrite: bool) -> None"))
      .def("to_bytes", &to_bytes)
      .def("check_contents", &check, "threads"_a, "memory_limit"_a)
      .def("unpack", &unpack_arrays, "threads"_a, "memory_limit"_a,
           nb::sig("def unpack(self, threads: int, memory_limit: int) -> tuple[typing.Any, typing.Any, typing.Any]"));
  nb::class_<OnHost>(m, "HostMatrix", "A matrix in host memory.")
      .def_static("load", &load_on_host, "container"_a, "threads"_a, "memory_limit"_a, "trusted"_a, "updatable"_a)
      .def("has_transpose", [](const OnHost& self) { return self.matrix.has_transpose(); })
      .def("update_values", &update_values_on_host, "values"_a.noconvert(), "threads"_a.none(),
           nb::sig("def update_values(self, values: object, threads: int) -> None"))
      .def("container", &container_of)
      .def("multiply", &multiply_on_host, "x"_a.none(), "y"_a.none(), "alpha"_a.none(), "beta"_a.none(),
           "threads"_a.none(), "transpose"_a.none(),
           nb::sig("def multiply(self, x: object, y: object, alpha: complex, beta: complex, threads: int, transpose: "
                   "bool | str) -> None"))
      .def("multiply_scaled", &multiply_scaled_on_host, "x"_a.none(), "y"_a.none(), "alpha"_a.none(), "beta"_a.none(),
           "threads"_a.none(), "transpose"_a.none(), "rows"_a.none(), "columns"_a.none(),
           nb::sig("def multiply_scaled(self, x: object, y: object, alpha: complex, beta: complex, threads: int, "
                   "transpose: bool | str, rows: object, columns: object) -> None"));
}

}  // namespace spmvpack::python
