// The module spmvpack._native: the libraries as Python sees them. What users meet is python/spmvpack/.

#include "bindings.hpp"
#include "spmvpack/container/base/error.hpp"

namespace spmvpack::python {
namespace {

/// Raises spmvpack.Error, or what Python itself has raised in the meantime.
void raise(const Error& e) {
  if (PyErr_Occurred() != nullptr) return;
  const nb::object type = nb::module_::import_("spmvpack._errors").attr("Error");
  const nb::object error =
      type(decoded(e.message()), std::string(to_string(e.code())), decoded(e.where()), decoded(e.remedy()));
  PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

ProgressCallback stops_on_signals() {
  return [](std::string_view, std::uint64_t, std::uint64_t) {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() == 0;
  };
}

}  // namespace spmvpack::python

NB_MODULE(_native, m) {
  using namespace spmvpack::python;
  m.doc() = "The libraries of spmvpack; use the package spmvpack.";
  // What others keep until the process ends (a traceback, a compiled function of PyTorch) is no leak of ours.
  nb::set_leak_warnings(false);
  m.attr("version") = SPMVPACK_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const spmvpack::Error& e) {
      raise(e);
    }
  });
  bind_encoding(m);
  bind_matrix(m);
  bind_device(m);
}
