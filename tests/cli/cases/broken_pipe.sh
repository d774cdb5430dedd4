# A reader that has seen enough is no error.
spmvpack generate laplace2d --grid 300x300 -o A.mtx -q
spmvpack encode A.mtx -q
closed() { "$@" | head -1; echo "exit ${PIPESTATUS[0]}"; }
closed spmvpack generate laplace2d --grid 300x300 -o -
closed spmvpack decode A.spmvc -o -
closed spmvpack multiply A.spmvc
# The work is done even where nobody reads the summary.
{ sleep 0.2; spmvpack encode A.mtx -o B.spmvc; echo "exit $?" >&2; } | true
ls
