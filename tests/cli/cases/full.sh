# A full device is an error on standard output as on any other.
spmvpack generate laplace2d --grid 100x100 -o A.mtx -q
spmvpack encode A.mtx -q
for command in "--version" "-h" "inspect A.spmvc" "inspect A.spmvc --json" "report A.mtx" "verify A.spmvc" \
    "multiply A.spmvc" "decode A.spmvc -o -" "generate laplace2d --grid 100x100 -o -"; do
  # shellcheck disable=SC2086 # words of a command
  spmvpack $command > /dev/full
  echo "exit $?"
done
