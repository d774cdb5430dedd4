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
