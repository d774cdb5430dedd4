# Exit code 1: the system refuses.
try() { spmvpack "$@"; echo "exit $?"; }
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' > A.mtx
spmvpack encode A.mtx -q
mkdir directory
for command in encode report; do try $command missing.mtx; done
for command in inspect verify multiply; do try $command missing.spmvc; done
try decode missing.spmvc -o B.mtx
try encode directory -o B.spmvc
try encode A.mtx -o missing/A.spmvc
try encode A.mtx -fo directory
try verify A.spmvc --against missing.mtx
try multiply A.spmvc --x missing.mtx
ls
