# shellcheck shell=bash
# What the scripts beside this one begin with: a directory of its own for the rest, with A.mtx and y = A (1, 2, 3, 4).
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# Runs a command silently; shows its output if it fails.
quietly() { "$@" > log 2>&1 || { cat log && fail "$*"; }; }
# Runs a command that must fail with this text in its output.
refused() {
  local text=$1
  shift
  if "$@" > log 2>&1; then fail "not refused: $*"; fi
  tr -s '[:space:]' ' ' < log | grep -qF "$text" || { cat log && fail "refused without '$text': $*"; }
}

# From here on, builds that have $REUSE_OBJECTS as their launcher take objects from the build $1, a finished one, where its
# commands are the same: what is checked is how they are put together. $2: what their objects have before their names.
reuse_objects_of() {
  export REUSE_OBJECTS=${BASH_SOURCE[0]%/*}/reuse_objects.sh
  ninja -C "$1" -t commands > "$scratch/commands"
  export REUSE_BUILD=$1 REUSE_PREFIX=${2:-} REUSE_COMMANDS=$scratch/commands REUSE_LOG=$scratch/objects
  export REUSE_LAUNCHER=${LAUNCHER:-}
}
tell_reused() { cut -d ' ' -f 1 "$REUSE_LOG" | sort | uniq -c; }

cat > A.mtx << 'MATRIX'
%%MatrixMarket matrix coordinate real general
3 4 5
1 1 0.5
1 4 2
3 1 -1
3 2 1e-300
3 3 3
MATRIX
printf '8.5\n0\n8\n' > y
