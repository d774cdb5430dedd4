# From a container to another layout or codec: the same matrix, the same digest.
spmvpack generate convection-diffusion --grid 9x8x7 --variable -o A.mtx -q
spmvpack encode A.mtx -q
spmvpack encode A.spmvc; echo "exit $?"
names=$(spmvpack report A.mtx --json | python3 -c 'import json, sys; print(*(l["name"] for l in json.load(sys.stdin)["layouts"]))')
chain=()
for layout in $names; do
  if [[ -z ${SPMVPACK_TEST_SANITIZED:-} ]]; then chain+=("--layout $layout"); fi # whose processes start slowly
  chain+=("--layout $layout --codec zstd")
done
chain+=("--layout ccoo --set ccoo.k=8 --codec zstd:19" "--layout ccoo --set ccoo.k=1" "--layout csr --codec zstd:1")
previous=A.spmvc
for options in "${chain[@]}"; do
  next=${options//[^a-z0-9]/}.spmvc
  # shellcheck disable=SC2086 # words of a command
  spmvpack encode "$previous" -o "$next" $options --force-size -q || echo "exit $?"
  spmvpack verify "$next" --against A.mtx -q && spmvpack inspect "$next" | grep -o 'digest.*'
  previous=$next
done | sort | uniq -c | wc -l
# Through any chain of containers the last is what the source gives directly, but for the provenance's source.
spmvpack encode "layoutcsrcodeczstd1.spmvc" -o A.spmvc -f -q && spmvpack verify A.spmvc --against A.mtx -q
echo "exit $?"
