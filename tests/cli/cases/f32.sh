# What f32 loses is told.
header='%%MatrixMarket matrix coordinate real general'
printf '%s\n2 2 3\n1 1 0.1\n1 2 0.5\n2 2 1e-50\n' "$header" > A.mtx
printf '%s\n2 2 2\n1 1 0.25\n2 2 3\n' "$header" > B.mtx
printf '%s\n2 2 2\n1 1 0.25\n2 2 1e39\n' "$header" > C.mtx
spmvpack encode A.mtx --value-type f32
spmvpack encode B.mtx --value-type f32
spmvpack encode C.mtx --value-type f32; echo "exit $?"
spmvpack verify A.spmvc --against A.mtx
spmvpack inspect A.spmvc | grep -E 'matrix|rounded'
spmvpack decode A.spmvc -o - | tail -3
spmvpack multiply A.spmvc
# What is lost does not come back.
spmvpack encode A.spmvc -o D.spmvc --value-type f64; echo "exit $?"
# An f64 container is rounded as its source is.
spmvpack encode A.mtx -o E.spmvc -q
spmvpack encode E.spmvc -o F.spmvc --value-type f32 | grep rounded
spmvpack verify F.spmvc --against A.mtx -q; echo "exit $?"
spmvpack verify F.spmvc --against E.spmvc -q; echo "exit $?"
