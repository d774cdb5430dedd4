#!/usr/bin/env bash
# The Python package as users get it: a wheel from this build, in a fresh environment, with its tests, documentation,
# examples and types. Exit code 77: no NumPy and SciPy, or no package index.
#
# usage: wheel_test.sh SOURCE BUILD SPMVPACK     $PYTHON: with NumPy and SciPy; $LAUNCHER as in the build
set -euo pipefail
export OMP_WAIT_POLICY=passive # threads that wait sleep: there may be more than cores
source=$1 build=$2 program=$3 python=${PYTHON:-/usr/bin/python3}
work=$build/python
rm -rf "$work/dist" "$work/fresh"
step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
skip() {
  echo "SKIPPED: $*"
  exit 77
}

"$python" -c 'import numpy, scipy, venv, ensurepip' 2> /dev/null || skip "$python has no numpy, scipy or venv"
"$python" -m venv --system-site-packages "$work/fresh"
fresh=$work/fresh/bin
# What is missing here is no fault of the package.
"$fresh/pip" install -q --retries 1 pytest mypy 2> "$work/log" || { tail -3 "$work/log" && skip "no package index"; }

step "Wheel"
CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER:-} "$source/tools/wheel.sh" "$build" "$work/dist" "$python"
"$fresh/pip" install -q --no-index "$work"/dist/*.whl
# For glibc 2.28, which auditwheel has checked; without libxml2 and its data, which libarchive could bring.
[[ $(echo "$work"/dist/*.whl) == *-manylinux_2_28_*.whl ]] || fail "not for glibc 2.28: $(ls "$work/dist")"
"$fresh/python" -m zipfile -l "$work"/dist/*.whl > "$work/log"
if grep -E 'libxml2|libicu|libarchive|libstdc' "$work/log"; then fail "a library that the module does not need"; fi
bytes=$(awk '{sum += $NF} END {print sum}' "$work/log")
echo "$bytes bytes unpacked"
((bytes < 40000000)) || fail "too large"
# Functions that have no older version are named, not left alone.
cp "$(dirname "$("$fresh/python" -c 'import spmvpack; print(spmvpack.__file__)')")"/_native*.so "$work/module.so"
if "$python" "$source/tools/old_glibc.py" 2.17 "$work/module.so" 2> "$work/log"; then fail "getrandom() of 2.25 in 2.17"; fi
grep -q 'no version up to 2.17 of .*getrandom@GLIBC_2.25' "$work/log" || { cat "$work/log" && fail "getrandom() is not named"; }
cd "$work" # not where the sources are

step "Tests"
SPMVPACK_COMMAND=$program "$fresh/python" -m pytest -q -rs -p no:cacheprovider "$source/tests/python"

step "Types"
"$fresh/mypy" --strict --config-file "$source/pyproject.toml" --cache-dir "$work/mypy" -p spmvpack
"$fresh/mypy" --strict --config-file "$source/pyproject.toml" --cache-dir "$work/mypy" "$source"/examples/python/*.py

step "Done"
