#pragma once
// Every exception becomes a status, and a text that its thread can ask for.

#include <exception>
#include <new>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/spmvpack.h"

namespace spmvpack::c {

inline constexpr const char* no_memory = "out of memory";

/// Keeps the text of the thread's last error. Returns `status`.
spmvpack_status failed(spmvpack_status status, const char* text) noexcept;
/// Until the thread's next error.
const char* last_error_text() noexcept;

/// Calls f and returns its status.
template <class F>
spmvpack_status guarded(F&& f) noexcept {
  try {
    f();
    return SPMVPACK_OK;
  } catch (const Error& e) {
    return failed(static_cast<spmvpack_status>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return failed(SPMVPACK_OUT_OF_MEMORY, no_memory);
  } catch (const std::exception& e) {
    return failed(SPMVPACK_INTERNAL, e.what());
  } catch (...) {
    return failed(SPMVPACK_INTERNAL, "an unknown exception");
  }
}

/// Error (usage) unless it is so.
void require(bool ok, const char* what);
void require_pointer(const void* pointer, const char* name);

}  // namespace spmvpack::c
