#pragma once
// Catch2 2 (Debian 12) and 3 (Ubuntu 24.04) by one name.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <iostream>

/// Catch2 2 has no SKIP: the line starts with "SKIPPED:" and tests/CMakeLists.txt makes ctest count it as skipped.
#define SPMVPACK_SKIP(reason)                        \
  do {                                               \
    std::cout << "SKIPPED: " << (reason) << '\n';    \
    return;                                          \
  } while (false)
