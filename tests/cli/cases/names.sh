# The default output lies beside the input and is named after it.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n' > A.mtx
mkdir sub
gzip -c A.mtx > sub/B.mtx.gz
zstd -q A.mtx -o sub/C.mtx.zst
cp A.mtx D.txt
for f in A.mtx sub/B.mtx.gz sub/C.mtx.zst D.txt A.spmvc; do spmvpack encode "$f" -q; echo "exit $?"; done
# A name is a name: content tells what a file is.
cp sub/B.mtx.gz E.mtx && spmvpack encode E.mtx -q && spmvpack verify E.spmvc --against A.mtx -q
ls . sub
