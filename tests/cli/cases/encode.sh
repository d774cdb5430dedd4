# The summary of encode, on a matrix with duplicates and explicit zeros.
cat > A.mtx <<'END'
%%MatrixMarket matrix coordinate real general
% a comment
3 4 6
1 1 1.5
3 4 0
1 1 2.5
2 3 -1
3 1 1e-3
1 4 7
END
spmvpack encode A.mtx && spmvpack encode A.mtx -o C.spmvc --layout csr
ls
# The same bytes at any number of threads.
spmvpack encode A.mtx -o B.spmvc --threads 3 -q && cmp A.spmvc B.spmvc
# A strategy of several parts tells why they are what they are.
spmvpack encode A.mtx -o D.spmvc --layout split --set split.length=1 --set split.short=sell
