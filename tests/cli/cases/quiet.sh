# -q: nothing where all is well, errors all the same.
spmvpack generate laplace2d --grid 5x5 -o A.mtx -q
spmvpack encode A.mtx -q
spmvpack verify A.spmvc --against A.mtx --quiet
spmvpack decode A.spmvc -o B.mtx -q
spmvpack multiply A.spmvc -o y.mtx -q
# What is asked for is no summary.
spmvpack report A.mtx | cmp - <(spmvpack report A.mtx -q) && spmvpack report --help | grep -c "^-q silences progress only"
spmvpack inspect A.spmvc | cmp - <(spmvpack inspect A.spmvc -q)
ls
spmvpack encode missing.mtx -q; echo "exit $?"
