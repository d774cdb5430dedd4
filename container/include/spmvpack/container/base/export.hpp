#pragma once

/// Marks what the shared libraries export; all other symbols are hidden.
#define SPMVPACK_EXPORT __attribute__((visibility("default")))
