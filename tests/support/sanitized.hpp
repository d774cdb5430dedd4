#pragma once
// What sanitizers take less of, because they make tests ten times as long: release runs all of it.

/// Before functions of many statements that each run once: optimised, Clang compiles them with AddressSanitizer for
/// longer than all else of a test, half a minute.
#ifdef __clang__
#define SPMVPACK_TEST_ONCE [[clang::optnone]]
/// The same of all functions from here to the end of a source: cases of an OPTIMISED test, whose loops are in headers.
#define SPMVPACK_TEST_ONCE_FROM_HERE _Pragma("clang optimize off")
#else
#define SPMVPACK_TEST_ONCE
#define SPMVPACK_TEST_ONCE_FROM_HERE
#endif

namespace spmvpack::test {

#ifdef SPMVPACK_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
/// Of so many random trials, those that a sanitizer gets.
constexpr int trials(int count) { return sanitized ? count / 10 : count; }

}  // namespace spmvpack::test
