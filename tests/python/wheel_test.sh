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
cd "$work" # not where the sources are

step "Tests"
SPMVPACK_COMMAND=$program "$fresh/python" -m pytest -q -rs -p no:cacheprovider "$source/tests/python"

step "Types"
"$fresh/mypy" --strict --config-file "$source/pyproject.toml" --cache-dir "$work/mypy" -p spmvpack
"$fresh/mypy" --strict --config-file "$source/pyproject.toml" --cache-dir "$work/mypy" "$source"/examples/python/*.py

step "Done"
