#!/usr/bin/env bash
# Builds everything and runs all checks that a change must pass. Installs missing packages (Debian 12, Ubuntu 24.04).
#
# usage: tools/test.sh [all | quick | STAGE ...]
#   all      every stage (the default)
#   quick    lint and release
#   lint     formatting, shell scripts
#   tidy     clang-tidy over all sources
#   tsan     ThreadSanitizer (clang 14): the tests that use threads
#   asan     AddressSanitizer and UndefinedBehaviorSanitizer: all tests but those that are added as UNSANITISED
#   release  optimised, with CUDA code for the GPUs of this machine, if nvcc is found: all tests. Sources in groups
#   single   not in all: every source by itself, which must include what it needs, and shadow nothing
#   archs    not in all: the command as it is packaged, with CUDA code for every architecture, in less than 40 MB
#
# Tests on real matrices need SPMVPACK_TEST_MATRICES, a directory of Matrix Market files; if unset, they are skipped.
# shellcheck disable=SC2317 # stages are called by name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/packages.sh
source tools/packages.sh

configure() { # PRESET [CMAKE OPTION ...]
  local options=()
  if command -v ccache > /dev/null; then
    options=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=pch_defines,time_macros # or it passes over what includes precompiled headers
    export CCACHE_DEPEND=1 CCACHE_NOCOMPRESS=1       # what is compiled for the first time takes a tenth less
  fi
  cmake --preset "$1" -DSPMVPACK_TESTS=ON -DSPMVPACK_WERROR=ON "${options[@]}" "${@:2}"
}
build_and_test() { # PRESET TARGET [CTEST OPTION ...]
  cmake --build --preset "$1" --target "$2"
  ctest --preset "$1" --parallel "$(nproc)" "${@:3}"
}

stage_lint() {
  git ls-files -z '*.cpp' '*.hpp' '*.c' '*.h' '*.cu' '*.cuh' |
    xargs -0 -n 50 -P "$(nproc)" clang-format-14 --dry-run --Werror
  git ls-files -z '*.sh' '*.bash' .ci/run | xargs -0 shellcheck -x -s bash
}
stage_tidy() {
  configure release -B build/tidy -DSPMVPACK_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DSPMVPACK_LARGE_GROUPS=ON
  # The compile commands are for GCC, whose warning options Clang may not know.
  # Sources are read in groups, which include them, as most of the time is for headers: two checks do not apply there.
  run-clang-tidy-14 -quiet -p build/tidy -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
    -checks=-bugprone-suspicious-include,-readability-redundant-declaration \
    '^(?!.*/benchmarks/CMakeFiles/).*(/unity_[^/]*\.cxx|\.cpp)$'
}
# Sanitizers' reports name functions; for lines, which take a fifth of the time to compile, configure the presets
# themselves.
stage_tsan() {
  configure tsan -DCMAKE_CXX_FLAGS_DEBUG= -DSPMVPACK_LARGE_GROUPS=ON
  build_and_test tsan threads_tests --label-regex '^threads$'
}
stage_asan() {
  configure asan -DCMAKE_CXX_FLAGS_DEBUG= -DSPMVPACK_LARGE_GROUPS=ON
  build_and_test asan all --label-exclude '^unsanitised$'
}
stage_release() {
  # Sources in groups: most of the time to compile one is for its headers.
  local options=(-DCMAKE_UNITY_BUILD=ON -DSPMVPACK_LARGE_GROUPS=ON)
  # Kernels that no device here runs are compiled, but less optimised, which takes a quarter less.
  if ! command -v nvidia-smi > /dev/null && [[ $(nvcc --help 2> /dev/null) == *--Ofast-compile* ]]; then
    options+=(-DCMAKE_CUDA_FLAGS=-Ofc=mid)
  fi
  configure release "${options[@]}"
  build_and_test release all
}
stage_single() {
  configure release -B build/single -DCMAKE_UNITY_BUILD=OFF
  cmake --build build/single
}
stage_archs() {
  configure package -DSPMVPACK_TESTS=OFF
  cmake --build --preset package --target spmvpack
  strip -o build/package/stripped build/package/tools/spmvpack
  local bytes
  bytes=$(stat -c %s build/package/stripped)
  printf 'The packaged command takes %d bytes.\n' "$bytes"
  ((bytes < 40000000)) # with CUDA 13, whose compression is for size; with older ones it is not
}

case ${1:-all} in
  all) stages=(lint tidy tsan asan release) ;; # release is last, so that its results are the first to be seen
  quick) stages=(lint release) ;;
  *) stages=("$@") ;;
esac
for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" > /dev/null; then
    echo "test.sh: there is no stage '$stage'; see the top of this file" >&2
    exit 2
  fi
done
install_missing "${build_packages[@]}" "${test_packages[@]}" "${petsc_packages[@]}" "${solver_packages[@]}"

# All stages run, whatever fails, so that one run shows everything.
summary=()
failed=0
for stage in "${stages[@]}"; do
  printf '\n== %s\n' "$stage"
  start=$SECONDS
  # Not "if (...)", which would disable set -e inside.
  set +e
  (
    set -e
    "stage_$stage"
  )
  status=$?
  set -e
  if ((status == 0)); then result=passed; else result=FAILED failed=1; fi
  summary+=("$(printf '%-8s %s  %3d:%02d' "$stage" "$result" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
done

printf '\n== summary (minutes)\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
