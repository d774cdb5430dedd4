# An output that exists is kept, unless -f says otherwise.
spmvpack generate laplace2d --grid 4x4 -o A.mtx
echo precious > A.spmvc
cp A.spmvc y.mtx
spmvpack encode A.mtx; echo "exit $?"
cat A.spmvc
spmvpack encode A.mtx -qf; echo "exit $?"
spmvpack decode A.spmvc -o y.mtx; echo "exit $?"
spmvpack multiply A.spmvc -o y.mtx; echo "exit $?"
spmvpack generate laplace2d --grid 4x4 -o y.mtx; echo "exit $?"
cat y.mtx
spmvpack multiply A.spmvc -o y.mtx -f; echo "exit $?"
head -1 y.mtx
# A dangling link is something that exists, too.
ln -s nowhere B.spmvc
spmvpack encode A.mtx -o B.spmvc; echo "exit $?"
ls
