// From the caller's arrays or a file to a report or a container in memory.

#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <variant>

#include "bindings.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/gpu_loader/timing.hpp"
#include "spmvpack/host_loader/timing.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::python {
namespace {

/// A matrix that can be encoded: in the caller's arrays, which are kept alive, or our own.
struct Matrix {
  std::variant<CsrView, SourceMatrix> matrix;
  std::vector<AnyArray> arrays;
  Array<std::uint32_t> columns;  ///< those of `arrays` in 32 bits, if they are 64-bit integers there

  template <class F>
  auto visit(F&& f) const {
    return std::visit(f, matrix);
  }
};

template <class T>
bool holds(const AnyArray& a) {
  return a.dtype() == nb::dtype<T>();
}

/// Refuses what the Python side should have converted.
void require_list(const AnyArray& a, const char* name) {
  if (a.ndim() != 1 || (a.shape(0) > 1 && a.stride(0) != 1) || a.device_type() != nb::device::cpu::value)
    raise_value_error(fmt::format("{} is not a contiguous list in host memory", name));
}

template <class T>
std::span<const T> list(const AnyArray& a) {
  return {static_cast<const T*>(a.data()), a.shape(0)};
}

/// Calls f with the span of the integers.
template <class F>
auto with_indices(const AnyArray& a, const char* name, F&& f) {
  require_list(a, name);
  if (holds<std::int32_t>(a)) return f(list<std::int32_t>(a));
  if (!holds<std::int64_t>(a)) raise_type_error(fmt::format("{} must be int32 or int64", name));
  return f(list<std::int64_t>(a));
}

/// Calls f with the span of the values.
template <class F>
auto with_values(const AnyArray& a, F&& f) {
  require_list(a, "data");
#define SPMVPACK_IF(T) \
  if (holds<T>(a)) return f(list<T>(a));
  SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_IF)
#undef SPMVPACK_IF
  raise_type_error("data must be float64, float32, complex128 or complex64");
}

Matrix from_csr(std::uint64_t rows, std::uint64_t cols, const AnyArray& indptr, const AnyArray& indices,
                const AnyArray& data, int threads, std::uint64_t memory_limit) {
  Matrix m;
  {
    const nb::gil_scoped_release no_gil;
    const MemoryScope memory(memory_limit, "encoding");
    const CsrView view = with_indices(indices, "indices", [&]<class I>(std::span<const I> all) {
      std::span<const std::uint32_t> columns;
      if constexpr (sizeof(I) == 8) {
        m.columns = narrow_indices(all, cols, threads);
        columns = {m.columns.data(), m.columns.size()};
      } else {
        columns = {reinterpret_cast<const std::uint32_t*>(all.data()), all.size()};
      }
      return with_indices(indptr, "indptr", [&](auto pointers) {
        return with_values(data, [&](auto values) { return CsrView(rows, cols, pointers, columns, values); });
      });
    });
    if (!view.columns_increase(threads)) return {assemble(view, threads, memory_limit), {}, {}};
    m.matrix = view;
  }
  m.arrays = {indptr, indices, data};
  return m;
}

Matrix from_coo(std::uint64_t rows, std::uint64_t cols, const AnyArray& row, const AnyArray& col, const AnyArray& data,
                int threads, std::uint64_t memory_limit) {
  const nb::gil_scoped_release no_gil;
  return with_indices(row, "row", [&]<class I>(std::span<const I> row_idx) {
    if (!holds<I>(col)) raise_type_error("row and col must be of one type");
    require_list(col, "col");
    return with_values(data, [&](auto values) {
      return Matrix{assemble(rows, cols, row_idx, list<I>(col), values, threads, memory_limit), {}, {}};
    });
  });
}

Matrix from_file(nb::handle path_object, const std::optional<std::string>& value_type, int threads,
                 std::uint64_t memory_limit) {
  const std::string path = path_of(path_object);
  sources::SourceOptions options;
  options.threads = threads;
  options.memory_limit = memory_limit;
  options.progress = stops_on_signals();
  if (value_type) options.value_type = value_type_named(*value_type);
  SourceMatrix source;
  {
    const nb::gil_scoped_release no_gil;
    source = sources::read_matrix(path, options);
  }
  constexpr int user = 3;  // who calls encode() or report()
  constexpr std::size_t longest = 4096;
  for (const std::string& warning : source.warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, escape(warning, longest).c_str(), user) != 0) throw nb::python_error();
  return {std::move(source), {}, {}};
}

/// The container, and what encoding took: its seconds, those of a multiply and of one by csr, which are None if they
/// are not known, whether they were measured, and after how many multiplies it pays.
nb::tuple encode(const Matrix& m, encoder::EncodeRequest request, std::uint64_t memory_limit) {
  request.progress = stops_on_signals();
  encoder::EncodeResult result;
  std::optional<Container> container;
  {
    const nb::gil_scoped_release no_gil;
    const MemoryScope memory(memory_limit, "encoding");
    MemorySink sink(memory_limit);
    result = m.visit([&](const auto& matrix) { return encoder::encode(matrix, request, sink); });
    container = Container::open(memory_source(sink.take()), "memory");
  }
  const std::optional<encoder::BesideCsr>& times = result.plan.beside_csr;
  const auto seconds = [&](double encoder::BesideCsr::*member) {
    return times ? std::optional((*times).*member) : std::nullopt;
  };
  return nb::make_tuple(std::move(*container), result.plan_seconds + result.write_seconds,
                        seconds(&encoder::BesideCsr::seconds), seconds(&encoder::BesideCsr::csr_seconds),
                        times && times->measured, result.pays_after());
}

/// The report as text, as text with all details, as JSON, and as HTML: a page, and an element of one.
nb::tuple report(const Matrix& m, const std::string& name, const std::map<std::string, std::string>& settings,
                 const encoder::Aim& aim, int threads, bool transpose, bool updatable, std::uint64_t memory_limit) {
  analyzer::ReportOptions options;
  options.memory_limit = memory_limit;
  options.name = name;
  options.threads = threads;
  options.settings = settings;
  options.aim = aim;
  options.transpose = transpose;
  options.updatable = updatable;
  options.density = true;
  options.progress = stops_on_signals();
  options.workspace = [&](const PartInfo& part) {
    return gpu_loader::workspace_bytes(part, KernelId{}, part.value_type);
  };
  std::string text, details, json, page, element;
  {
    const nb::gil_scoped_release no_gil;
    const analyzer::Report made = m.visit([&](const auto& matrix) { return analyzer::make_report(matrix, options); });
    text = analyzer::to_text(made);
    details = analyzer::to_text(made, analyzer::Detail::full);
    json = analyzer::to_json(made);
    page = analyzer::to_html(made);
    element = analyzer::to_html_fragment(made);
  }
  return nb::make_tuple(decoded(text), decoded(details), decoded(json), decoded(page), decoded(element));
}

/// Measures on a GPU, counted from 0, or on this processor.
void tune(encoder::EncodeRequest& request, std::optional<int> device) {
  if (!device) {
    request.tuner = encoder::Tuner{host_loader::processor_name(), host_loader::measure_on_host(request.threads)};
    return;
  }
  request.tuner = encoder::Tuner{gpu_loader::device_name(*device, "tune='host'"),
                                 gpu_loader::measure_on_device(*device, request.threads)};
}

std::map<std::string, std::string> settings_of(const nb::dict& all) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : all) settings[nb::cast<std::string>(name)] = nb::cast<std::string>(nb::str(value));
  return settings;
}

}  // namespace

void bind_encoding(nb::module_& m) {
  using namespace nb::literals;
  nb::enum_<encoder::Objective>(m, "Objective")
      .value("time", encoder::Objective::time)
      .value("bytes", encoder::Objective::bytes);
  m.def("targets", [] {
    const std::span<const std::string_view> names = encoder::target_names();
    return std::vector<std::string>(names.begin(), names.end());
  });
  nb::class_<encoder::Aim>(m, "Aim", "What plans minimise, and for which machine.")
      .def(
          "__init__",
          [](encoder::Aim* aim, encoder::Objective optimize, nb::handle target) {
            const std::string name = path_of(target);
            encoder::set_target(*new (aim) encoder::Aim{optimize}, name);
          },
          "optimize"_a, "target"_a, nb::sig("def __init__(self, optimize: Objective, target: str | bytes) -> None"))
      .def(
          "tune",
          [](encoder::Aim& aim, bool on_host, bool target_is_given) {
            encoder::set_tuned_target(aim, on_host ? encoder::Target::host : encoder::Target::gpu, target_is_given);
          },
          "on_host"_a, "target_is_given"_a,
          "Makes the machine to tune on the target, or refuses the one that is given: encoder::set_tuned_target().");
  nb::class_<encoder::EncodeRequest>(m, "Request", "How to encode: spmvpack::encoder::EncodeRequest.")
      .def(nb::init<>())
      .def_rw("layout", &encoder::EncodeRequest::strategy)
      .def_rw("aim", &encoder::EncodeRequest::aim)
      .def(
          "set",
          [](encoder::EncodeRequest& r, const std::string& name, const std::string& value) {
            r.settings[name] = value;
          },
          "name"_a, "value"_a, "A setting of the layout, such as ccoo.k.")
      .def_prop_rw(
          "zstd_level", [](const encoder::EncodeRequest& r) { return r.codec == format::Codec::zstd ? r.level : 0; },
          [](encoder::EncodeRequest& r, int level) {
            r.codec = level == 0 ? format::Codec::none : format::Codec::zstd;
            r.level = level;
          },
          "1 to 19; 0: no codec")
      .def_rw("threads", &encoder::EncodeRequest::threads)
      .def_rw("force_size", &encoder::EncodeRequest::force_size)
      .def_rw("transpose", &encoder::EncodeRequest::transpose)
      .def_rw("updatable", &encoder::EncodeRequest::updatable)
      .def("tune", &tune, "device"_a.none(), "Measures to choose, on a GPU or the host (None).");
  nb::class_<Matrix>(m, "Source", "A matrix that can be encoded.")
      .def_static("from_csr", &from_csr, "rows"_a, "cols"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
                  "data"_a.noconvert(), "threads"_a, "memory_limit"_a,
                  nb::sig("def from_csr(rows: int, cols: int, indptr: object, indices: object, data: object, threads: "
                          "int, memory_limit: int) -> Source"))
      .def_static("from_coo", &from_coo, "rows"_a, "cols"_a, "row"_a.noconvert(), "col"_a.noconvert(),
                  "data"_a.noconvert(), "threads"_a, "memory_limit"_a,
                  nb::sig("def from_coo(rows: int, cols: int, row: object, col: object, data: object, threads: int, "
                          "memory_limit: int) -> Source"))
      .def_static("from_file", &from_file, "path"_a, "value_type"_a.none(), "threads"_a, "memory_limit"_a,
                  nb::sig("def from_file(path: str | bytes, value_type: str | None, threads: int, memory_limit: int) "
                          "-> Source"))
      .def("encode", &encode, "request"_a, "memory_limit"_a,
           nb::sig("def encode(self, request: Request, memory_limit: int) -> tuple[Container, float, float | None, "
                   "float | None, bool, int | None]"))
      .def(
          "update",
          [](const Matrix& self, OnHost& to, nb::handle threads_object) {
            const int threads = threads_of(threads_object);
            const nb::gil_scoped_release no_gil;
            self.visit([&]<class M>(const M& matrix) {
              if constexpr (std::is_same_v<M, CsrView>)
                to.matrix.update(matrix, threads);
              else
                to.matrix.update(matrix.matrix, threads);
            });
          },
          "to"_a, "threads"_a.none(), "Gives a matrix in host memory the values of this one, which has its pattern.",
          nb::sig("def update(self, to: HostMatrix, threads: int) -> None"))
      .def(
          "report",
          [](const Matrix& self, nb::handle name, const nb::dict& settings, const encoder::Aim& aim, int threads,
             bool transpose, bool updatable, std::uint64_t memory_limit) {
            return report(self, path_of(name), settings_of(settings), aim, threads, transpose, updatable, memory_limit);
          },
          "name"_a, "settings"_a, "aim"_a, "threads"_a, "transpose"_a, "updatable"_a, "memory_limit"_a,
          nb::sig(
              "def report(self, name: str | bytes, settings: dict[str, str], aim: Aim, threads: int, transpose: bool, "
              "updatable: bool, memory_limit: int) -> tuple[str, str, str, str, str]"));
}

}  // namespace spmvpack::python
