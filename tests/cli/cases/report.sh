# What a report says of memory and PCIe, what it marks, and speeds that are none.
spmvpack generate laplace2d --grid 400x300 -o A.mtx -q
model() { spmvpack report "$@" | sed -n '/without compression/,/^$/p'; }
model A.mtx
model A.mtx --value-type f32
model A.mtx --bandwidth 1000 --pcie 31.5
model A.mtx --bandwidth 10 --pcie 6
spmvpack report A.mtx --json --pcie 25 | grep -E '"(memory|pcie)_bytes|"copy_seconds|"x_line'
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 4 0\n' > empty.mtx
model empty.mtx

# A long row among short ones.
awk 'BEGIN {
  print "%%MatrixMarket matrix coordinate pattern general"; print 10000, 5000, 14999
  for (i = 1; i < 10000; ++i) print i, 1
  for (i = 1; i <= 5000; ++i) print 10000, i
}' > long.mtx
spmvpack report long.mtx | tr -s ' ' | grep -E '^ (csr |ell |\* )'
spmvpack report long.mtx --details | tr -s ' ' | grep -A2 -E '^ ell bytes'
spmvpack encode long.mtx --layout ell 2>&1
echo "exit $?"

for speed in 0 -1 nan inf x '' 4TB 0.0001 1e7; do
  spmvpack report A.mtx --bandwidth "$speed" 2>&1
  echo "exit $?"
done
spmvpack report A.mtx --pcie 0 2>&1
echo "exit $?"
