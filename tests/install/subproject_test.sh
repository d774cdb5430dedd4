#!/usr/bin/env bash
# Builds spmvpack as a part of another project: one room of it, without the libraries that only other rooms, tools and
# tests need, and without a trace in the project around it.
#
# usage: subproject_test.sh SOURCE BUILD SPMVPACK     SPMVPACK: the command of BUILD; $CXX, $CMAKE, $LAUNCHER, $WERROR,
#                                                      $UNITY and $LARGE_GROUPS as there
source=$1 program=$3
# shellcheck source=tests/install/common.sh
source "$source/tests/install/common.sh"
quietly "$program" encode A.mtx
reuse_objects_of "$2" spmvpack/

configure() {
  local build=$1
  shift
  quietly "$CMAKE" -S "$source/tests/install/parent" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER_LAUNCHER="$REUSE_OBJECTS" \
    -DSPMVPACK_SOURCE_DIR="$source" -DSPMVPACK_ROOMS=host_loader -DSPMVPACK_CUDA=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_{Boost,Catch2,FastFloat,nlohmann_json}=ON "$@"
}
files() { (cd "$1" && find . -not -type d | sort); }

# What the compiler is told of a file of ours.
commands() { ninja -C "$1" -t commands | grep 'container/src/file/reader.cpp'; }

step "What the parent chose"
configure static -DCMAKE_CXX_STANDARD=23
grep -qx 'CMAKE_BUILD_TYPE:STRING=' static/CMakeCache.txt || fail "a build type that the parent did not choose"
commands static | grep -q -e '-std=c++2[3b]' || fail "not the parent's standard"
if commands static | grep -qe '-Werror'; then fail "warnings are errors"; fi
if [[ -e static/compile_commands.json ]]; then fail "compile commands that the parent did not ask for"; fi
if grep -qiE 'archive|isal|:PATH=.*boost' static/CMakeCache.txt; then fail "looks for libraries of other rooms"; fi

alike=(-DCMAKE_CXX_STANDARD=20 -DCMAKE_BUILD_TYPE=Release -DSPMVPACK_WERROR="$WERROR" # as in BUILD
  -DCMAKE_UNITY_BUILD="${UNITY:-OFF}" -DSPMVPACK_LARGE_GROUPS="${LARGE_GROUPS:-OFF}")
step "add_subdirectory"
configure static "${alike[@]}"
quietly "$CMAKE" --build static
tell_reused
static/multiply A.spmvc | diff - y || fail "another y"
[[ $("$(dirname "$CMAKE")/ctest" -N --test-dir static) == *$'\nTotal Tests: 1' ]] || fail "tests that are not the parent's"
quietly "$CMAKE" --install static --prefix installed
[[ $(files installed) == ./bin/multiply ]] || { files installed && fail "installed what is not the parent's"; }

step "FetchContent; shared libraries, installed with the parent"
# Where the static ones are: the same objects, which are compiled alike, are linked otherwise.
configure static --fresh -DFETCH=ON -DBUILD_SHARED_LIBS=ON "${alike[@]}" -DSPMVPACK_INSTALL=ON
quietly "$CMAKE" --build static
quietly "$CMAKE" --install static --prefix whole
LD_LIBRARY_PATH=whole/lib whole/bin/multiply A.spmvc | diff - y || fail "another y with shared libraries"
[[ -e whole/lib/libspmvpack_host_loader.so && ! -e whole/bin/spmvpack ]] || { files whole && fail "installed otherwise"; }
use=("$CMAKE" -S "$source/tests/install/consumer" -B use -G Ninja -DCMAKE_PREFIX_PATH="$scratch/whole")
quietly "${use[@]}" -DCOMPONENTS=host_loader
refused "no component 'encoder'; it has container, host_loader" "${use[@]}" -DCOMPONENTS=encoder

step "Unknown rooms"
refused "no room 'gpu'; set SPMVPACK_ROOMS to all or to a list of container, sources, encoder" \
  "$CMAKE" static -DSPMVPACK_ROOMS='host_loader;gpu'

step "Done"
