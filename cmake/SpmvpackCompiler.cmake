# Compiler minimum, and what every target of the project is compiled with.
set(spmvpack_minimum_GNU 12)
set(spmvpack_minimum_Clang 14)
if(NOT DEFINED spmvpack_minimum_${CMAKE_CXX_COMPILER_ID})
  message(FATAL_ERROR "spmvpack is built with GCC or Clang, not with ${CMAKE_CXX_COMPILER_ID}; set CMAKE_CXX_COMPILER.")
endif()
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS ${spmvpack_minimum_${CMAKE_CXX_COMPILER_ID}})
  message(FATAL_ERROR "spmvpack needs ${CMAKE_CXX_COMPILER_ID} ${spmvpack_minimum_${CMAKE_CXX_COMPILER_ID}} or newer, "
                      "this is ${CMAKE_CXX_COMPILER_VERSION}; set CMAKE_CXX_COMPILER.")
endif()

# Builds for a sanitizer are run where they are made, and half of their time to compile is for instruction sets: what this
# machine does not run is left out. Baseline loops, where it has AVX2, are run without sanitizers. Threads do in AVX-512's
# what they do in AVX2's.
set(spmvpack_left_out "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -march=native)
  check_cxx_source_compiles("#if !(__AVX2__ && __BMI__ && __BMI2__ && __FMA__ && __LZCNT__)
    #error
    #endif
    int main() {}" SPMVPACK_MACHINE_HAS_V3)
  check_cxx_source_compiles("#if !(__AVX512F__ && __AVX512BW__ && __AVX512DQ__ && __AVX512VL__)
    #error
    #endif
    int main() {}" SPMVPACK_MACHINE_HAS_V4)
  unset(CMAKE_REQUIRED_FLAGS)
  if(SPMVPACK_MACHINE_HAS_V3)
    list(APPEND spmvpack_left_out SPMVPACK_WITHOUT_GENERIC)
  endif()
  if(NOT SPMVPACK_MACHINE_HAS_V4 OR CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    list(APPEND spmvpack_left_out SPMVPACK_WITHOUT_V4)
  endif()
  message(STATUS "spmvpack: for a sanitizer, compiled with ${spmvpack_left_out}")
endif()

# A room: a library spmvpack_<name> (shared with BUILD_SHARED_LIBS) with the alias spmvpack::<name>, its public headers
# below include/. Until 1.0 any minor version may change the interface, hence the SOVERSION.
function(spmvpack_add_room name)
  add_library(spmvpack_${name} ${ARGN})
  add_library(spmvpack::${name} ALIAS spmvpack_${name})
  set_target_properties(spmvpack_${name} PROPERTIES EXPORT_NAME ${name} DEFINE_SYMBOL ""
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(spmvpack_${name} PUBLIC cxx_std_20)
  target_include_directories(spmvpack_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  spmvpack_set_options(spmvpack_${name})
endfunction()

# Language level, visibility and warnings of a target of ours.
function(spmvpack_set_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(NOT CMAKE_CXX_STANDARD)  # an enclosing build may want a newer one
    set_target_properties(${target} PROPERTIES CXX_STANDARD 20)
  endif()
  # Shared libraries export what SPMVPACK_EXPORT marks (container/base/export.hpp); static ones can become a part of others.
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # GCC 12 sees overlapping copies in std::string that cannot be (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
  target_compile_definitions(${target} PRIVATE ${spmvpack_left_out})
  # Contraction is off so that every fused multiply-add is one that the source asks for: results are
  # compared bit for bit across compilers and devices.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>")
  if(spmvpack_cuda_compression)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${spmvpack_cuda_compression}>)
  endif()
  # Warnings are for who changes the code: pip, which compiles a twentieth less without, has none. -Wconversion would
  # flag CUDA's own headers.
  if(SPMVPACK_WERROR OR NOT SPMVPACK_PYTHON)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wconversion;-Wshadow>"
      "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>")
  endif()
  # Release means -O3. It pays where loops go over matrices; elsewhere it only takes a third longer to compile.
  if(NOT target MATCHES "^spmvpack_(container|sources|encoder|host_loader)$")
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O2>)
  endif()
  # Preset asan checks alignment where bytes of files become arrays, and sums of pointers where files say how far. Both
  # everywhere would take a third of the time to compile; AddressSanitizer sees loads and stores of wrong pointers.
  if(CMAKE_CXX_FLAGS MATCHES "undefined" AND target MATCHES "^spmvpack_(container|sources)$")
    target_compile_options(${target} PRIVATE -fsanitize=pointer-overflow,alignment)
  endif()
  if(SPMVPACK_WERROR)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>" "$<$<COMPILE_LANGUAGE:CUDA>:-Werror;all-warnings>")
  endif()
  if(CMAKE_UNITY_BUILD)
    spmvpack_group_sources(${target})
    # A source sees the names of those before it in its group, and GCC takes all of them for headers. Locals of one
    # function may still not hide one another.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>
                           "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wshadow=local;-Wno-subobject-linkage>")
  endif()
endfunction()

# For builds that take most of their time for headers: those of quickstart and pip, clang-tidy, sanitizers
# and tests (tools/test.sh). A target's sources in fewer, larger ones. Sources that would clash have namespaces of their
# own.
option(SPMVPACK_LARGE_GROUPS "In unity builds, a target's sources in one: least processor time, for few cores" OFF)
mark_as_advanced(SPMVPACK_LARGE_GROUPS)
function(spmvpack_group_sources target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(LENGTH sources count)
  math(EXPR groups "(${count} + 15) / 16")
  if(SPMVPACK_LARGE_GROUPS)
    set(groups 1)
  endif()
  set(order ${sources})
  list(FILTER order INCLUDE REGEX "(^|/)(layouts|strategies|commands)/")  # the longest, spread over all groups
  list(APPEND order ${sources})
  list(REMOVE_DUPLICATES order)
  set(next 0)
  foreach(source IN LISTS order)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${next}")
    math(EXPR next "(${next} + 1) % ${groups}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
