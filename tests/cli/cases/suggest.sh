# A typing mistake is answered by what was meant.
try() { spmvpack "$@" 2>&1 | tail -1; }
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' > A.mtx
try encdoe
try enocde
try mulitply
try REPORT
try reprot
try rep
try e
try hepl
try help layout
try help encdoe
try hello
try encode A.mtx --layuot csr
try encode A.mtx --value_type f32
try encode A.mtx --outptu A.spmvc
try encode A.mtx --memory
try encode A.mtx --frobnicate
try encode A.mtx --layout cco
try encode A.mtx --layout CSR
try encode A.mtx --layout ccsr
try encode A.mtx --layout jagged
try generate laplace2d --gird 3x3
try generate laplace2 -o B.mtx
try generate elastcity3d -o B.mtx
try generate torus -o B.mtx
try verify A.spmvc --agianst A.mtx
# A container is not written to a stream.
spmvpack encode A.mtx -o - 2>&1
echo "exit $?"
ls
