#!/usr/bin/env bash
# The GPUs that a build makes code for: those of this machine, Hopper without any, all of them for packages.
#
# usage: architectures_test.sh SOURCE     $CXX, $CMAKE as in the build, which found nvcc
source=$1
# shellcheck source=tests/install/common.sh
source "$source/tests/install/common.sh"

# What a configuration says it makes code for. One build directory, so that nvcc is looked for once.
targets() {
  "$CMAKE" -S "$source" -B build -G Ninja -DSPMVPACK_ROOMS=gpu_loader -DSPMVPACK_CUDA=ON -UCMAKE_CUDA_ARCHITECTURES \
    "$@" > log 2>&1 || { cat log && fail "$*"; }
  sed -n 's/^-- GPU code for compute capability //p' log
}
# A machine with GPUs of these compute capabilities, one a line; none: whose driver finds no GPU.
gpus() {
  printf '#!/bin/sh\necho "%s"\n[ -n "%s" ]\n' "${1:-No devices were found}" "$1" > nvidia-smi
  chmod +x nvidia-smi
}
expect() {
  local expected=$1 found
  shift
  found=$(targets "$@")
  [[ $found == "$expected" ]] || fail "code for '$found', not for '$expected': $*"
}
unset CUDAARCHS
smi=-DSPMVPACK_NVIDIA_SMI=$scratch/nvidia-smi

step "native"
gpus ''
expect '9.0 and PTX' "$smi"
gpus 8.0
expect '8.0 and PTX' "$smi"
gpus $'9.0\n8.0\n9.0'
expect '8.0, 9.0 and PTX' "$smi"
gpus 7.5
expect '9.0 and PTX' "$smi"
gpus 99.0 # newer than any toolkit: the newest that this one knows
newest=$(targets "$smi")
[[ $newest == *[0-9].[0-9]' and PTX' && $newest != '99.0 and PTX' ]] || fail "code for '$newest' on a GPU of the future"

step "all, and a list"
case $(targets -DSPMVPACK_CUDA_ARCHITECTURES=all) in
  '8.0, 9.0, 10.0, 12.0 and PTX' | '8.0, 9.0 and PTX') ;; # before CUDA 12.8 there is no Blackwell
  *) fail "not code for all: $(cat log)" ;;
esac
expect '8.6' -DCMAKE_CUDA_ARCHITECTURES=86-real
refused "SPMVPACK_CUDA_ARCHITECTURES is native or all, not 'some'" "$CMAKE" build -DSPMVPACK_CUDA_ARCHITECTURES=some

step "Done"
