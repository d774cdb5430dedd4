#!/usr/bin/env bash
# What the shared libraries export: libspmvpack_c what exported_symbols.txt lists, no more and no less, and of C++ the
# project's own; of each C++ library only what is spmvpack's (docs/ARCHITECTURE.md, "Versions and ABI").
#
# usage: exported_symbols.sh DIRECTORY [--update]     the directory with libspmvpack_*.so; --update writes the list
set -euo pipefail
directory=$1
list=$(dirname "${BASH_SOURCE[0]}")/exported_symbols.txt
symbols() { nm -D --defined-only "$1" | awk '{print $(NF - 1), $NF}'; }

# In namespace spmvpack: functions, data, typeinfo, tables; guards and local variables of its functions.
ours='_Z(GV|T[ISTV])?Z?N?[KVRO]*8spmvpack'
# Templates of the standard library that every library in C++ has a weak copy of, some of our types.
standard='[WVu] _Z(GV|T[ISTV])?Z?N?[KVRO]*(St|S[absiod]|9__gnu_cxx)'

failed=0
for library in "$directory"/libspmvpack_*.so; do
  others=$(symbols "$library" | grep -vE "^. $ours|^$standard" | grep -vE '^. spmvpack_[a-z0-9_]+$' || true)
  if [[ -n $others ]]; then
    printf '%s exports what is not of namespace spmvpack:\n%s\n' "$(basename "$library")" "$(c++filt <<< "$others")"
    failed=1
  fi
  if [[ $library != */libspmvpack_c.so ]] && symbols "$library" | grep -E '^. spmvpack_'; then
    echo "$(basename "$library") exports functions of C, as above"
    failed=1
  fi
done
found=$(symbols "$directory/libspmvpack_c.so" | awk '$2 ~ /^spmvpack_/ {print $2}' | LC_ALL=C sort)
if [[ ${2:-} == --update ]]; then
  printf '%s\n' "$found" > "$list"
elif ! diff <(printf '%s\n' "$found") "$list"; then
  echo "libspmvpack_c.so (<) does not export what tests/install/exported_symbols.txt lists (>). If that is meant, see"
  echo "docs/ARCHITECTURE.md, \"Versions and ABI\", and run in a shared build: tests/install/exported_symbols.sh LIB --update"
  failed=1
fi
exit "$failed"
