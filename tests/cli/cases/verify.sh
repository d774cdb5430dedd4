# What verify checks and says, and exit code 4.
try() { spmvpack verify "$@"; echo "exit $?"; }
header='%%MatrixMarket matrix coordinate real general'
printf '%s\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n' "$header" > A.mtx
spmvpack encode A.mtx -q
try A.spmvc
try A.spmvc --against A.mtx
printf '%s\n2 3 3\n2 2 3e0\n1 3 2.0\n1 1 0.5\n1 1 0.5\n' "$header" | sed 's/^2 3 3/2 3 4/' > same.mtx
try A.spmvc --against same.mtx
try A.spmvc --against A.spmvc -q
printf '%s\n2 3 3\n1 1 1\n1 3 2\n2 2 3.0000000000000004\n' "$header" > B.mtx; try A.spmvc --against B.mtx
printf '%s\n2 3 3\n1 1 1\n1 2 2\n2 2 3\n' "$header" > B.mtx; try A.spmvc --against B.mtx
printf '%s\n2 3 2\n1 1 1\n2 2 3\n' "$header" > B.mtx; try A.spmvc --against B.mtx
printf '%s\n3 3 3\n1 1 1\n1 3 2\n2 2 3\n' "$header" > B.mtx; try A.spmvc --against B.mtx
# Several differences: the first five and their number; of a symmetric source entries as its file has them.
for i in 1 2 3 4 5 6 7; do echo "$i $i $i"; done > entries
{ printf '%s\n7 7 7\n' "$header"; cat entries; } > D.mtx
spmvpack encode D.mtx -q
{ printf '%s\n7 7 7\n' "$header"; sed 's/ \([0-9]*\)$/ -\1/' entries; } > B.mtx; try D.spmvc --against B.mtx
for kind in symmetric skew-symmetric; do
  s="%%MatrixMarket matrix coordinate real $kind"
  printf '%s\n4 4 3\n2 1 1\n4 1 2\n4 3 3\n' "$s" > S.mtx
  spmvpack encode S.mtx -qf
  printf '%s\n4 4 3\n2 1 1\n3 1 2\n4 3 3.5\n' "$s" > B.mtx; try S.spmvc --against B.mtx
done
# Above the diagonal is what only the container has.
printf '%s\n4 4 2\n2 1 1\n1 2 4\n' "$header" > G.mtx
spmvpack encode G.mtx -q
printf '%%%%MatrixMarket matrix coordinate real symmetric\n4 4 1\n2 1 1\n' > B.mtx; try G.spmvc --against B.mtx
# Bytes that are not what was written: in the header, in a section, in the tables, at the end.
size=$(stat -c %s A.spmvc)
for offset in 40 4096 $((size - 100)); do
  cp A.spmvc broken.spmvc
  printf '\xa5' | dd of=broken.spmvc bs=1 seek=$offset conv=notrunc status=none
  try broken.spmvc
done
head -c $((size - 1)) A.spmvc > broken.spmvc; try broken.spmvc
head -c 100 A.spmvc > broken.spmvc; try broken.spmvc
try A.mtx
