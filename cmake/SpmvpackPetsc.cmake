# Decides whether PETSc's plug-in is built; if so, sets SPMVPACK_WITH_PETSC and makes targets of PETSc and its MPI.
set(SPMVPACK_WITH_PETSC OFF)
set(SPMVPACK_PETSC AUTO CACHE STRING "Build PETSc's plug-in: AUTO (if PETSc is found), ON or OFF")
set_property(CACHE SPMVPACK_PETSC PROPERTY STRINGS AUTO ON OFF)
if(SPMVPACK_PETSC STREQUAL "OFF")
  return()
endif()
# A part of another build, and the Python package, have no use for it.
if(SPMVPACK_PETSC STREQUAL "AUTO" AND (NOT PROJECT_IS_TOP_LEVEL OR SPMVPACK_PYTHON))
  return()
endif()

# What is missing: an error if the plug-in is asked for.
macro(spmvpack_without_petsc problem remedy)
  if(SPMVPACK_PETSC STREQUAL "ON")
    message(FATAL_ERROR "SPMVPACK_PETSC=ON, but ${problem}; ${remedy}, or configure with -DSPMVPACK_PETSC=OFF.")
  endif()
  message(STATUS "PETSc's plug-in is not built: ${problem}")
  return()
endmacro()

if(NOT encoder IN_LIST spmvpack_rooms OR NOT host_loader IN_LIST spmvpack_rooms)
  spmvpack_without_petsc("encoder or host_loader is not among the rooms" "add them to SPMVPACK_ROOMS")
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(spmvpack_petsc QUIET IMPORTED_TARGET PETSc>=3.18)
if(NOT spmvpack_petsc_FOUND)
  spmvpack_without_petsc("pkg-config finds no PETSc 3.18 or newer"
    "install PETSc (on Debian libpetsc-real-dev), or put the directory of its PETSc.pc into PKG_CONFIG_PATH")
endif()
# A PETSc without MPI has an mpi.h of its own.
pkg_search_module(spmvpack_mpi QUIET IMPORTED_TARGET mpi-c ompi-c mpich mpi)
set(spmvpack_petsc_targets PkgConfig::spmvpack_petsc)
if(spmvpack_mpi_FOUND)
  list(APPEND spmvpack_petsc_targets PkgConfig::spmvpack_mpi)
endif()
include(CheckCXXSourceCompiles)
function(spmvpack_petsc_has macros variable)
  set(CMAKE_REQUIRED_LIBRARIES ${spmvpack_petsc_targets})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <petscsys.h>\n#if ${macros}\n#error\n#endif\nint main() {}" ${variable})
endfunction()
spmvpack_petsc_has(0 SPMVPACK_PETSC_COMPILES)
if(NOT SPMVPACK_PETSC_COMPILES)
  spmvpack_without_petsc("petscsys.h does not compile with what pkg-config says of PETSc and MPI"
    "install the MPI that it was built with, and remove CMakeCache.txt")
endif()
spmvpack_petsc_has("defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE) || defined(PETSC_USE_64BIT_INDICES)"
                   SPMVPACK_PETSC_IS_REAL_32)
if(NOT SPMVPACK_PETSC_IS_REAL_32)
  spmvpack_without_petsc("this PETSc has complex scalars, another precision than double, or 64-bit indices"
    "put the directory of another PETSc.pc into PKG_CONFIG_PATH, and remove CMakeCache.txt")
endif()
set(SPMVPACK_WITH_PETSC ON)
