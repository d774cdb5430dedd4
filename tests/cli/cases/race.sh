# Two writers, one name: one wins, the other is told, nothing else is left.
spmvpack generate laplace2d --grid 100x100 -o A.mtx -q
for round in 1 2 3 4 5 6 7 8; do
  (spmvpack encode A.mtx -o "$round.spmvc" -q 2>/dev/null; echo $?) > one &
  (spmvpack encode A.mtx -o "$round.spmvc" -q 2>/dev/null; echo $?) > two
  wait
  sort one two | xargs
  spmvpack verify "$round.spmvc" -q || echo "round $round: broken"
done
ls ./*.tmp 2>/dev/null || echo clean
