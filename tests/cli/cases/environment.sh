# More threads than a machine has a use for are not started, whatever the environment asks for.
spmvpack generate laplace2d --grid 300x300 -o A.mtx -q
OMP_NUM_THREADS=80000 spmvpack encode A.mtx -q; echo "exit $?"
OMP_NUM_THREADS=80000 spmvpack verify A.spmvc --against A.mtx -q; echo "exit $?"
# An error of the disk is one, and not a file that is something else.
for command in inspect verify report; do
  spmvpack "$command" /proc/self/mem; echo "exit $?"
done
spmvpack encode -o B.spmvc /proc/self/mem; echo "exit $?"
# What a killed process left goes when the output is written again.
touch A.spmvc.01234567.tmp
spmvpack encode A.mtx -q -f; echo "exit $?"
ls
