# -q: nothing where all is well, errors all the same.
spmvpack generate laplace2d --grid 5x5 -o A.mtx -q
spmvpack encode A.mtx -q
spmvpack verify A.spmvc --against A.mtx --quiet
spmvpack decode A.spmvc -o B.mtx -q
spmvpack multiply A.spmvc -o y.mtx -q
ls
spmvpack encode missing.mtx -q; echo "exit $?"
