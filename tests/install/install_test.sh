#!/usr/bin/env bash
# Installs spmvpack and uses it from outside: CMake package, pkg-config, command; static, shared, Debian packages.
#
# usage: install_test.sh SOURCE BUILD     BUILD: a finished static build; $CXX, $CMAKE, $LAUNCHER, $WERROR, $UNITY,
#                                         $LARGE_GROUPS as there
source=$1 build=$2
# shellcheck source=tests/install/common.sh
source "$source/tests/install/common.sh"
consumer=$source/tests/install/consumer

# Runs $2, consumer/load.c, beside the command $1: a load is refused without CUDA (7); with it there may be no device (8).
check_load() {
  local status=0
  "$2" A.spmvc > facts 2> errors || status=$?
  if "$1" --version | grep -q 'CUDA  *without'; then
    ((status == 7)) || { cat errors && fail "$2 without CUDA: exit $status"; }
  else
    [[ $status == 8 ]] || grep -qx '3 x 4, 5 nonzeros' facts || { cat errors && fail "$2: exit $status"; }
  fi
}

# Checks what is of the command in an installed tree: $1 its prefix.
check_command() {
  local prefix=$1
  local program=$prefix/bin/spmvpack
  quietly "$program" encode A.mtx -f
  "$program" --version | head -1
  [[ $(MANPATH=$prefix/share/man man -w spmvpack 2> /dev/null || ls "$prefix/share/man/man1/spmvpack.1"*) == "$prefix"* ]] ||
    fail "no manual page below $prefix"
  bash -c "source '$prefix/share/bash-completion/completions/spmvpack' && complete -p spmvpack" > /dev/null
}

# Checks the libraries of an installed tree from outside: $1 its prefix, $2 a command of a build with the same CUDA, the
# rest its components, unless they are all.
check_libraries() {
  local prefix=$1 program=$2 name=${1//\//_} components=()
  if (($# > 2)); then components=(-DCOMPONENTS="$(IFS=';' && echo "${*:3}")"); fi
  quietly "$CMAKE" -S "$consumer" -B "consumer$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "${components[@]}"
  quietly "$CMAKE" --build "consumer$name"
  "./consumer$name/multiply" A.spmvc | diff - y || fail "another y"
  if (($# == 2)); then
    "./consumer$name/encode" A.mtx "B$name.spmvc" > report
    grep -q '^  ccoo ' report || fail "no report"
    cmp A.spmvc "B$name.spmvc" || fail "another container"
  fi
  local status=0
  "./consumer$name/multiply" A.mtx 2> errors || status=$?
  ((status == 3)) || fail "A.mtx as a container: exit $status"
  grep -q 'A.mtx' errors || fail "an error without its file"

  # From C, where a C++ project has it, where there is no C++, and with pkg-config.
  check_load "$program" "./consumer$name/load"
  quietly "$CMAKE" -S "$source/tests/install/c_consumer" -B "c$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
  quietly "$CMAKE" --build "c$name"
  check_load "$program" "./c$name/load"
  local flags
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name spmvpack.pc)")
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs spmvpack-c)
  # shellcheck disable=SC2086 # flags are words
  quietly "${CC:-cc}" -std=c99 -Wall -Werror "$consumer/load.c" -o "pkgconfig_c$name" $flags
  LD_LIBRARY_PATH=$prefix/lib check_load "$program" "./pkgconfig_c$name"

  # A component alone asks for no library that only others need; an unknown one is refused by its name.
  quietly "$CMAKE" -S "$consumer" -B "alone$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS=host_loader
  if grep -qi 'archive' "alone$name/CMakeCache.txt"; then fail "host_loader looks for the readers' libraries"; fi
  refused "no component 'fpga_loader'" "$CMAKE" -S "$consumer" -B "wrong$name" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS='host_loader;fpga_loader'

  flags=$(pkg-config --cflags --libs spmvpack)
  # shellcheck disable=SC2086 # flags are words
  quietly "$CXX" "$consumer/multiply.cpp" -o "pkgconfig$name" $flags
  LD_LIBRARY_PATH=$prefix/lib "./pkgconfig$name" A.spmvc | diff - y || fail "another y with pkg-config"

  # Who encodes arrays links nothing that reads files; who reads files says so.
  local readers='archive|isal|sources'
  quietly "$CMAKE" -S "$consumer" -B "arrays$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS=encoder
  quietly "$CMAKE" --build "arrays$name"
  ninja -C "arrays$name" -t commands arrays > log
  if grep -E -- "-l($readers)|lib(spmvpack_)?($readers)" log; then fail "encoder links what reads files"; fi
  if nm -C "arrays$name/arrays" | grep -E ' (isal|archive)_|spmvpack::sources'; then fail "encoder reads files"; fi
  "./arrays$name/arrays" "C$name.spmvc"
  "./consumer$name/multiply" "C$name.spmvc" | diff - y || fail "another y of arrays"
  for module in spmvpack spmvpack-c; do
    if pkg-config --libs $module | grep -E -- "-l(spmvpack_)?($readers)"; then fail "$module links what reads files"; fi
  done
  # shellcheck disable=SC2086 # flags are words
  quietly "$CXX" "$consumer/arrays.cpp" -o "pkgconfig_arrays$name" $flags
  flags=$(pkg-config --cflags --libs spmvpack-sources)
  printf '%s\n' '#include <cstdio>' '#include "spmvpack/sources/read_matrix.hpp"' 'int main(int, char** argv) {' \
    '  std::printf("%u\n", unsigned(spmvpack::sources::read_matrix(argv[1]).matrix.nnz()));' '}' > entries.cpp
  # shellcheck disable=SC2086 # flags are words
  quietly "$CXX" entries.cpp -o "pkgconfig_sources$name" $flags
  [[ $(LD_LIBRARY_PATH=$prefix/lib "./pkgconfig_sources$name" A.mtx) == 5 ]] || fail "other entries with pkg-config"
}

step "Static libraries"
quietly "$CMAKE" --install "$build" --prefix "$scratch/static"
for room in container encoder host_loader analyzer c; do
  if nm -u "$scratch/static/lib/libspmvpack_$room.a" | grep -E ' U (isal|archive)_'; then fail "$room reads files"; fi
done
(($(nm -u "$scratch/static/lib/libspmvpack_sources.a" | grep -cE ' U (isal|archive)_') > 1)) || fail "nothing reads files"
check_command "$scratch/static"
# Debian packages have the same files: where they can be made, it is theirs that programs are built with, below.
if ! command -v dpkg-shlibdeps > /dev/null; then check_libraries "$scratch/static" "$scratch/static/bin/spmvpack"; fi

step "Shared libraries, c, sources and those below them"
# The others are made by the same rules. Without CUDA, and of the build's objects where they are the same: what is checked
# is how libraries are linked, installed and found.
reuse_objects_of "$build"
quietly "$CMAKE" -S "$source" -B shared-build -G Ninja -DBUILD_SHARED_LIBS=ON -DSPMVPACK_ROOMS='c;sources' \
  -DCMAKE_BUILD_TYPE=Release -DSPMVPACK_CUDA=OFF -DSPMVPACK_PETSC=OFF -DSPMVPACK_WERROR="$WERROR" \
  -DCMAKE_UNITY_BUILD="${UNITY:-OFF}" -DSPMVPACK_LARGE_GROUPS="${LARGE_GROUPS:-OFF}" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$REUSE_OBJECTS"
quietly "$CMAKE" --build shared-build
tell_reused
quietly "$CMAKE" --install shared-build --prefix "$scratch/shared"
without_cuda=$scratch/without_cuda # what spmvpack --version says
printf '#!/bin/sh\necho "CUDA  without"\n' > "$without_cuda"
chmod +x "$without_cuda"
# Hidden is what SPMVPACK_EXPORT does not mark, such as the functions of private headers.
"$source/tests/install/exported_symbols.sh" "$scratch/shared/lib" || fail "other symbols are exported"
# The tree can be moved: nothing in it refers to where it was installed, so that it is checked at another place alone.
mv shared moved
check_libraries "$scratch/moved" "$without_cuda" container sources encoder host_loader gpu_loader c
# The command finds shared libraries beside it: only configured.
quietly "$CMAKE" -S "$source" -B shared-command -G Ninja -DBUILD_SHARED_LIBS=ON -DSPMVPACK_CUDA=OFF -DSPMVPACK_TESTS=OFF
grep -q 'RPATH .*ORIGIN/../lib' shared-command/cmake_install.cmake || fail "the command has no path to its libraries"

step "Debian packages"
if ! command -v dpkg-shlibdeps > /dev/null; then
  echo "skipped: there is no dpkg-shlibdeps (package dpkg-dev)"
  exit 0
fi
quietly "$(dirname "$CMAKE")/cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages"
for package in packages/*.deb; do
  printf '%s: ' "$(basename "$package")"
  dpkg-deb -f "$package" Depends
done
# A root of its own, whose dpkg knows of no packages: --force-depends; the names are checked below.
mkdir -p root/var/lib/dpkg/{info,updates}
touch root/var/lib/dpkg/status
manage() { quietly dpkg --root="$scratch/root" --log="$scratch/dpkg.log" --force-not-root --force-depends "$@"; }
manage -i packages/spmvpack_*.deb packages/libspmvpack-dev_*.deb
depends=$(dpkg-deb -f packages/spmvpack_*.deb Depends)
for library in libc6 libzstd1 libxxhash0 libisal2 liblzma5 libgomp1 libboost-program-options; do
  [[ $depends == *"$library"* ]] || fail "the package does not depend on $library"
done
contents=$(dpkg-deb -c packages/spmvpack_*.deb | awk '{print $6}')
for file in bin/spmvpack share/man/man1/spmvpack.1 share/bash-completion/completions/spmvpack share/doc/spmvpack/copyright; do
  grep -qx "./usr/$file" <<< "$contents" || fail "the package has no $file"
done
if grep -q '\.hpp$' <<< "$contents"; then fail "headers are not for the package of the command"; fi
check_command "$scratch/root/usr"
check_libraries "$scratch/root/usr" "$scratch/root/usr/bin/spmvpack"
# Its package runs ldconfig when it is installed, for which this root has no shell: it is only unpacked.
if [[ -n $(compgen -G 'packages/libspmvpack-petsc_*.deb') ]]; then
  [[ $(dpkg-deb -f packages/libspmvpack-petsc_*.deb Depends) == *libpetsc* ]] || fail "the plug-in does not depend on PETSc"
  dpkg-deb -x packages/libspmvpack-petsc_*.deb petsc-root
  # Read as a whole: grep -q would end before nm, which is then said to fail.
  symbols=$(nm -D --defined-only petsc-root/usr/lib/libspmvpack-petsc.so)
  grep -q ' T PetscDLLibraryRegister_spmvpack_petsc$' <<< "$symbols" || fail "there is no plug-in that PETSc could load"
fi
manage -r libspmvpack-dev spmvpack
[[ -z $(find root/usr -type f) ]] || fail "removing the packages leaves files behind"

step "Done"
