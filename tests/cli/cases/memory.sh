# Exit code 7: what would take more than --memory-limit is refused before it is tried.
spmvpack generate laplace2d --grid 200x200 -o A.mtx -q
spmvpack encode A.mtx -q
spmvpack encode A.mtx -o B.spmvc --memory-limit 100K; echo "exit $?"
spmvpack verify A.spmvc --memory-limit 100K; echo "exit $?"
spmvpack multiply A.spmvc --memory-limit 100K; echo "exit $?"
spmvpack decode A.spmvc -o C.mtx --memory-limit 100K; echo "exit $?"
spmvpack report A.mtx --memory-limit 100K; echo "exit $?"
spmvpack encode A.mtx -o B.spmvc --memory-limit 1GiB -q; echo "exit $?"
ls
