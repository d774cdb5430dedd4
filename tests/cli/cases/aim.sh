# What auto minimises: encode takes what report recommends.
spmvpack generate laplace2d --grid 300x200 -o A.mtx -q
spmvpack generate rmat --scale 12 -o G.mtx -q
for aim in "" "--optimize time" "--optimize bytes" "--target host" "--optimize bytes --target host" \
           "--columns 8"; do
  for matrix in A G; do
    # shellcheck disable=SC2086
    recommended=$(spmvpack report $matrix.mtx $aim | sed -n 's/^Use //p')
    # shellcheck disable=SC2086
    spmvpack encode $matrix.mtx $aim -f -q
    taken=$(spmvpack inspect $matrix.spmvc --json | grep -m1 -o '"layout": "[a-z_]*"' | cut -d'"' -f4)
    if [[ $recommended != "$taken:"* ]]; then echo "$matrix $aim: $recommended, but $taken"; fi
  done
done
spmvpack report A.mtx --optimize bytes | grep '^Use .*:'
spmvpack report A.mtx --columns 8 | grep -A1 'time: predicted'
spmvpack encode A.mtx --columns 8 -f -q && spmvpack inspect A.spmvc | grep -o -e '--layout auto.*'
spmvpack encode A.mtx --optimize bytes --target host -f -q && spmvpack inspect A.spmvc | grep -o -e '--layout auto.*'

# A layout whose plan depends on the aim takes one, too: 400 values of two decimals are stored as integers.
awk 'BEGIN { n = 400; print "%%MatrixMarket matrix coordinate real general"; print n, n, 2 * n
  for (i = 1; i <= n; ++i) printf "%d 1 %.2f\n%d %d %.2f\n", i, i / 100, i, i + (i == 1), i / 100 }' > D.mtx
for optimize in time bytes; do
  spmvpack encode D.mtx --layout bitflag --optimize $optimize -f -q
  spmvpack inspect D.spmvc | grep -o -e '--layout bitflag.*' -e '^  memory .*'
done

# Any other layout takes an aim, which changes nothing, so that a loop over layouts may pass one.
for layout in csr sell hyb; do
  spmvpack encode A.mtx --layout $layout -f -q && mv A.spmvc plain.spmvc
  spmvpack encode A.mtx --layout $layout --target host --optimize bytes -f -q && cmp A.spmvc plain.spmvc
done

# Where there is no GPU to use, it is noted that the default target is one, once and only if that makes a difference.
for words in "" "--layout csell" "--json" "-q" "--target gpu" "--target host" "--layout csr" "--optimize bytes"; do
  # shellcheck disable=SC2086
  told=$(CUDA_VISIBLE_DEVICES='' spmvpack encode D.mtx $words -f 2>&1 >/dev/null)
  echo "encode $words: ${told/spmvpack: note/Note}"
done
CUDA_VISIBLE_DEVICES='' spmvpack encode D.mtx --ranks 2 -f 2>&1 >/dev/null | sed 's/^spmvpack: note/Note/'
CUDA_VISIBLE_DEVICES='' spmvpack encode missing.mtx 2>&1 | head -n 1

for words in "--optimize size" "--target tpu"; do
  # shellcheck disable=SC2086
  spmvpack encode A.mtx $words -f 2>&1
  echo "exit $?"
done
spmvpack report A.mtx --target '' 2>&1
echo "exit $?"
spmvpack generate laplace2d --grid 3x2 --target host -o B.mtx 2>&1
echo "exit $?"
