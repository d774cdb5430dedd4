# Exit code 7: what would take more than --memory-limit is refused before it is tried.
spmvpack generate laplace2d --grid 200x200 -o A.mtx -q
spmvpack encode A.mtx -q --layout csr
spmvpack encode A.mtx -o B.spmvc --memory-limit 100K; echo "exit $?"
spmvpack verify A.spmvc --memory-limit 100K; echo "exit $?"
spmvpack multiply A.spmvc --memory-limit 100K; echo "exit $?"
spmvpack decode A.spmvc -o C.mtx --memory-limit 100K; echo "exit $?"
spmvpack report A.mtx --memory-limit 100K; echo "exit $?"
spmvpack encode A.mtx -o B.spmvc --memory-limit 1GiB -q; echo "exit $?"
# Rows and columns take memory without entries, whatever the text comes from.
printf '%%%%MatrixMarket matrix coordinate real general\n300000000 5 1\n7 5 2\n' > tall.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n5 4000000000 1\n5 7 2\n' > wide.mtx
gzip -k tall.mtx
for source in tall.mtx tall.mtx.gz; do
  spmvpack encode $source -o tall.spmvc --memory-limit 1G; echo "exit $?"
  spmvpack report - --memory-limit 1G < $source; echo "exit $?"
done
spmvpack report wide.mtx --memory-limit 100M; echo "exit $?"
{
  printf '%-72s%-8s\n' 'no entries' KEY
  printf '%14d%14d%14d%14d\n' 2 1 1 0
  printf '%-14s%14d%14d%14d%14d\n' pua 300000000 1 1 0
  printf '%-16s%-16s\n' '(3I10)' '(1I10)'
  printf '%10d%10d\n%10d\n' 1 2 2
} > tall.rb
spmvpack report tall.rb --memory-limit 1G; echo "exit $?"
rm tall.* wide.*
ls
