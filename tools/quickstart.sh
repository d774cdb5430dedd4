#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 24.04 to a compressed matrix: installs missing packages (as root or with sudo),
# builds the command, for the GPUs that are here, and shows every step on a matrix with 8.8 million nonzeros.
#
# usage: tools/quickstart.sh [DIRECTORY]     where the files go, default: ./quickstart-data
set -euo pipefail
data=$(realpath -m "${1:-quickstart-data}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/packages.sh
source tools/packages.sh

step() { printf '\n== %s\n' "$*"; }
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

step "Packages"
install_missing "${build_packages[@]}"

step "Build of the command (build/quickstart)"
if command -v ccache > /dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  export CCACHE_SLOPPINESS=pch_defines,time_macros # or it passes over what includes precompiled headers
fi
# Sources in groups: headers are read a few times, not a hundred.
cmake --preset release -B build/quickstart -DSPMVPACK_TESTS=OFF -DCMAKE_UNITY_BUILD=ON
if grep -q '^CMAKE_CUDA_COMPILER:.*NOTFOUND$' build/quickstart/CMakeCache.txt; then
  echo "There is no nvcc here: spmvpack is built for the host alone, and all but the last step is the same."
fi
cmake --build build/quickstart --target spmvpack
PATH=$PWD/build/quickstart/tools:$PATH

step "A matrix: convection and diffusion on 148 x 148 x 58 cells"
mkdir -p "$data"
cd "$data"
show spmvpack generate convection-diffusion --grid 148x148x58 -o A.mtx -f

step "What each layout would cost"
show spmvpack report A.mtx

step "Encode, check against the source, multiply"
show spmvpack encode A.mtx -f
show spmvpack verify A.spmvc --against A.mtx
show spmvpack multiply A.spmvc -o y.mtx -f
ls -l A.mtx A.spmvc y.mtx

step "GPU"
if ! command -v nvidia-smi > /dev/null || ! nvidia-smi --query-gpu=name --format=csv,noheader; then
  echo "No GPU found; the multiply above ran on the CPU."
elif ! spmvpack --version | grep -q "CUDA  *[0-9]"; then
  echo "This build has no GPU code, because nvcc was not found: install the CUDA toolkit and run this again."
else
  show spmvpack multiply A.spmvc --device gpu -o y-gpu.mtx -f
  cmp y.mtx y-gpu.mtx && echo "y-gpu.mtx has the same bits as y.mtx."
fi
printf '\nThe files are in %s\n' "$data"
