# Exit code 3: a source that breaks its format, told with its place; exit code 5: one that this version cannot take.
try() { spmvpack encode A.mtx; echo "exit $?"; }
header='%%MatrixMarket matrix coordinate real general'
printf '%s\n2 2 1\n1 1 1x\n' "$header" > A.mtx; try
printf '%s\n2 2 1\n3 1 1\n' "$header" > A.mtx; try
printf '%s\n2 2 2\n1 1 1\n' "$header" > A.mtx; try
printf 'hello\n' > A.mtx; try
: > A.mtx; try
printf '%%%%MatrixMarket vector coordinate real general\n1 1 1\n1 1 1 0\n' > A.mtx; try
printf '%s\n5000000000 5000000000 1\n1 1 1\n' "$header" > A.mtx; try
ls
