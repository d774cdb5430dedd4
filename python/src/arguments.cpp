// Scalars, flags and paths of the caller's.

#include "bindings.hpp"

namespace spmvpack::python {
namespace {

nb::object checked(const char* function, nb::handle value, const char* name) {
  const nb::object check = nb::module_::import_("spmvpack._arguments").attr(function);
  return name == nullptr ? check(value) : check(name, value);
}

}  // namespace

double scalar_of(nb::handle value, const char* name) {
  return PyFloat_Check(value.ptr()) ? PyFloat_AsDouble(value.ptr()) : nb::cast<double>(checked("scalar", value, name));
}

std::complex<double> complex_scalar_of(nb::handle value, const char* name) {
  if (PyFloat_Check(value.ptr())) return PyFloat_AsDouble(value.ptr());
  const nb::object number = checked("complex_scalar", value, name);
  return {nb::cast<double>(number.attr("real")), nb::cast<double>(number.attr("imag"))};
}

int threads_of(nb::handle value) {
  if (PyLong_CheckExact(value.ptr())) {
    int overflow = 0;
    const long threads = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0 && threads >= 0 && threads <= std::numeric_limits<int>::max()) return static_cast<int>(threads);
  }
  return nb::cast<int>(checked("threads", value, nullptr));
}

bool flag_of(nb::handle value, const char* name) {
  return value.is(Py_True) || (!value.is(Py_False) && nb::cast<bool>(checked("flag", value, name)));
}

Operation operation_of(nb::handle value) {
  if (value.is(Py_False)) return Operation::none;
  if (value.is(Py_True)) return Operation::transpose;
  const nb::object transpose = checked("transpose", value, nullptr);
  if (nb::isinstance<nb::str>(transpose)) return Operation::conjugate_transpose;
  return operation_of(nb::cast<bool>(transpose));
}

std::string path_of(nb::handle value) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) throw nb::python_error();  // such as a NUL
  const nb::bytes own = nb::steal<nb::bytes>(bytes);
  return {own.c_str(), own.size()};
}

nb::str decoded(const std::string& text) {
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

}  // namespace spmvpack::python
