# Sources come back as they were: field, symmetry, comments, every digit.
check() {
  spmvpack encode A.mtx -q -f && spmvpack decode A.spmvc -o B.mtx -f && diff A.mtx B.mtx && echo same
}
cat > A.mtx <<'END'
%%MatrixMarket matrix coordinate real general
% first
%second
3 4 5
1 1 0.1
1 4 -1e-300
2 3 12345678.912345678
3 1 0
3 2 5e-324
END
check
cat > A.mtx <<'END'
%%MatrixMarket matrix coordinate real symmetric
3 3 4
1 1 2
2 1 -1
3 2 -1
3 3 2.5
END
check
cat > A.mtx <<'END'
%%MatrixMarket matrix coordinate integer skew-symmetric
3 3 2
2 1 -1
3 2 7
END
check
cat > A.mtx <<'END'
%%MatrixMarket matrix coordinate pattern general
2 2 2
1 2
2 1
END
check
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' > A.mtx
check
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n7 7 0\n' > A.mtx
check
