# A source may be compressed, in an archive, on standard input or in a pipe, and need not be Matrix Market.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n' > A.mtx
spmvpack encode A.mtx -q
bzip2 -k A.mtx
xz -k A.mtx
mkdir A
cp A.mtx A/A.mtx
printf '%%%%MatrixMarket matrix array real general\n2 1\n1\n2\n' > A/A_b.mtx
tar czf A.tar.gz A
tar cf A.tar.zst --zstd A
{
  printf '%-72s%-8s\n' 'a pattern' KEY
  printf '%14d%14d%14d%14d\n' 2 1 1 0
  printf '%-14s%14d%14d%14d%14d\n' pua 2 2 1 0
  printf '%-16s%-16s\n' '(3I2)' '(1I2)'
  printf ' 1 2 2\n 2\n'
} > A.rb
for f in A.mtx.bz2 A.mtx.xz A.tar.gz A.tar.zst A.rb; do
  spmvpack encode "$f" -fq && spmvpack verify A.spmvc --against A.mtx -q
  echo "$f: exit $?"
  spmvpack encode - -o B.spmvc -fq < "$f" && spmvpack verify B.spmvc --against <(cat "$f") -q
  echo "from a pipe: exit $?"
done
# shellcheck disable=SC2002 # a pipe, not a file
cat A.spmvc | spmvpack verify A.spmvc --against - -q; echo "exit $?"
spmvpack encode - < A.mtx; echo "exit $?"
# Archives with no matrix, and with more than one.
tar cf D.tar A/A_b.mtx
cp A.mtx A/B.mtx
tar cf C.tar A/A.mtx A/B.mtx
for f in D.tar C.tar; do spmvpack encode $f; echo "exit $?"; done
head -c 100 A.tar.gz | spmvpack encode - -o B.spmvc -f; echo "exit $?"
