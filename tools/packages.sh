# shellcheck shell=bash
# The packages needed on Debian 12 and Ubuntu 24.04; sourced by quickstart.sh and test.sh.

# shellcheck disable=SC2034 # used by the scripts that source this file
build_packages=(g++ cmake ninja-build pkg-config libboost-program-options-dev libzstd-dev libxxhash-dev libisal-dev
  libarchive-dev liblzma-dev libfmt-dev libfast-float-dev nlohmann-json3-dev libmetis-dev)
# shellcheck disable=SC2034
wheel_packages=(libbz2-dev nettle-dev zlib1g-dev python3-dev python3-venv)
# shellcheck disable=SC2034
test_packages=(catch2 ccache clang-14 clang-format-14 clang-tidy-14 lld-14 libomp-14-dev dpkg-dev gzip bzip2 jq
  libmetis-dev xz-utils zstd shellcheck "${wheel_packages[@]}" python3 python3-numpy python3-scipy
  python3-xxhash python3-zstandard python3-jsonschema)
# For PETSc's plug-in and its test: 130 packages with those that they need, most of them other solvers.
# shellcheck disable=SC2034
petsc_packages=(libpetsc-real-dev openmpi-bin python3-petsc4py-real python3-slepc4py-real python3-dolfinx-real)
# For the operators of docs/OPERATORS.md: 10 MB more.
# shellcheck disable=SC2034
solver_packages=(libtrilinos-belos-dev libtrilinos-tpetra-dev libtrilinos-teuchos-dev libtrilinos-kokkos-dev
  libtrilinos-kokkos-kernels-dev libhypre-dev)

# Installs the named packages that are missing; needs root or sudo only if there are any.
install_missing() {
  local package missing=() as_root=()
  if ! command -v dpkg-query > /dev/null; then
    echo "This is not Debian or Ubuntu: install the equivalents of these packages: $*" >&2
    return 1
  fi
  for package in "$@"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then return 0; fi
  echo "Installing ${missing[*]}"
  if ((EUID != 0)); then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}
