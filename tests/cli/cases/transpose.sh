# A^T beside A: stored on request, found by verify and inspect, multiplied with, left alone by decode.
set -e
cat > a.mtx <<'M'
%%MatrixMarket matrix coordinate real general
3 2 3
1 1 2
3 1 3
3 2 5
M
cat > x.mtx <<'M'
%%MatrixMarket matrix array real general
3 1
1
10
100
M
spmvpack encode a.mtx --transpose --layout csr | sed 's/time .*/time/'
spmvpack verify a.spmvc
spmvpack inspect a.spmvc
spmvpack multiply a.spmvc --transpose --x x.mtx
spmvpack multiply a.spmvc
spmvpack decode a.spmvc -o -
# Encoded again, with A^T and without.
spmvpack encode a.spmvc -o b.spmvc --layout csr --transpose -q
cmp <(spmvpack multiply a.spmvc --transpose) <(spmvpack multiply b.spmvc --transpose)
spmvpack encode a.spmvc -o plain.spmvc --layout csr -q
echo "without:"
spmvpack multiply plain.spmvc --transpose 2>&1 || echo "exit $?"
head -4 x.mtx | sed 's/^3 1/2 1/' > short.mtx
spmvpack multiply a.spmvc --transpose --x short.mtx 2>&1 || echo "exit $?"
# A general source whose matrix is symmetric needs nothing, and stays general.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 4\n2 1 4\n' > s.mtx
spmvpack encode s.mtx --transpose --layout csr | grep 'A^T'
spmvpack encode s.mtx --layout csr -q -f
spmvpack multiply s.spmvc --transpose
spmvpack inspect s.spmvc | grep matrix
spmvpack decode s.spmvc -o - | cmp - s.mtx
printf '%%%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n' > k.mtx
spmvpack encode k.mtx --layout csr -q
spmvpack multiply k.spmvc --transpose
spmvpack report a.mtx --transpose | grep -A1 'A^T'
spmvpack report s.mtx --transpose | grep 'A^T'
spmvpack report a.mtx --transpose --json | grep -A7 '"transpose"'
