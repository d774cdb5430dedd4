# Values that can be replaced: what encode says, what contradicts, what report adds.
spmvpack generate laplace2d --grid 40x30 -o A.mtx -q
spmvpack encode A.mtx --updatable --transpose --layout csell | grep -E 'A\^T|updates'
spmvpack inspect A.spmvc | grep -E 'matrix  |options'
spmvpack encode A.mtx --updatable --layout dia -f | grep updates
spmvpack encode A.mtx --updatable --json --layout ccoo -f | grep updatable
for options in "--layout csell --set csell.values=mirror" "--set bitflag.values=table"; do
  # shellcheck disable=SC2086 # words of a command
  spmvpack encode A.mtx --updatable $options -f 2>&1
  echo "exit $?"
done
spmvpack generate laplace2d --grid 3x3 -o B.mtx --updatable 2>&1
echo "exit $?"
spmvpack report A.mtx --updatable -q | tr -s ' ' | grep -E '^Updatable|^auto takes|^ = |^ dia .*=$'
spmvpack report A.mtx --updatable --ranks 2 2>&1
echo "exit $?"
spmvpack bench A.spmvc --device host --updatable 2>&1 | grep -v -E '^host|^copy|runs each'
