# Exit code 2: every message says what is wrong and what to do.
try() { spmvpack "$@" 2>&1; echo "exit $?"; }
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' > A.mtx
# Without a command, the commands, on standard error.
spmvpack 2> told; echo "exit $?"
cmp told <(spmvpack -h) && rm told
try frobnicate
try --frobnicate
try encode
try encode ''
try encode A.mtx B.mtx
try encode A.mtx -x
try encode A.mtx -o ''
try encode A.mtx --lay csr
try encode A.mtx --layout
try encode A.mtx --layout hilbert
try encode A.mtx --set ccoo.k
try encode A.mtx --set ccoo.z=1
try encode A.mtx --set ccoo.k=3
try encode A.mtx --set ccoo.k=1 --set ccoo.k=2
try encode A.mtx --layout csr --set ccoo.k=4
try encode A.mtx --codec lzma
try encode A.mtx --codec zstd:0
try encode A.mtx --codec zstd:20
try encode A.mtx --value-type f16
try encode A.mtx --tune tpu
try encode A.mtx --tune host --layout csr
try encode A.mtx --tune gpu --optimize bytes
try encode A.mtx --tune host --columns 2
try encode A.mtx --device tpu
try encode A.mtx --device gpu --layout ccoo
try encode A.mtx --device gpu --layout csr --target host
try encode A.mtx --device gpu --layout csr --ranks 2
try encode A.mtx --columns 0
try report A.mtx --columns 1025
try encode A.mtx --tune host --target gpu
try encode A.mtx --tune gpu --target host
try encode A.mtx --tune host --target h200
try encode A.mtx --threads 0
try encode A.mtx --threads two
try encode A.mtx --memory-limit 0
try encode A.mtx --memory-limit 8X
try encode A.mtx --memory-limit 99999999999T
try decode A.spmvc
try generate hilbert --grid 3x3 -o B.mtx
try generate laplace2d -o B.mtx
try generate laplace2d --grid 3 -o B.mtx
try generate laplace2d --grid 3x3x3 -o B.mtx
try generate laplace2d --grid 3x0 -o B.mtx
try generate laplace2d --grid 2x3 --remove-one -o B.mtx
try generate laplace2d --grid 3x3 --variable -o B.mtx
try generate laplace2d --grid 3x3
ls
