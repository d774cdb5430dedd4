# -q: nothing where all is well, errors all the same.
spmvpack generate laplace2d --grid 5x5 -o A.mtx -q
spmvpack encode A.mtx -q
spmvpack verify A.spmvc --against A.mtx --quiet
spmvpack decode A.spmvc -o B.mtx -q
spmvpack multiply A.spmvc -o y.mtx -q
# What is asked for is no summary: of a report, only the hint at its end goes.
spmvpack report A.mtx | head -n -2 | cmp - <(spmvpack report A.mtx -q) &&
  spmvpack report --help | grep -c -e "-q silences progress and the closing hint"
spmvpack inspect A.spmvc | cmp - <(spmvpack inspect A.spmvc -q)
ls
spmvpack encode missing.mtx -q; echo "exit $?"
