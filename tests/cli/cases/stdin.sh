# Where a file is read, - is standard input: a file or a pipe, for containers as for matrices.
try() { spmvpack "$@"; echo "exit $?"; }
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 2\n3 1 -0.5\n' > A.mtx
spmvpack encode A.mtx --layout csr -q
for command in verify 'verify --against A.mtx' 'decode -o -' 'multiply' 'inspect'; do
  # shellcheck disable=SC2002,SC2086 # a pipe, not a file; words
  cat A.spmvc | try ${command%% *} - ${command#"${command%% *}"} > piped
  # shellcheck disable=SC2086 # words
  try ${command%% *} - ${command#"${command%% *}"} < A.spmvc | cmp - piped
  head -3 piped
  tail -1 piped
done
# shellcheck disable=SC2002 # a pipe, not a file
cat A.spmvc | spmvpack bench - --device host --runs 1 > piped; echo "exit $?"
grep -oE '^standard input: 3 x 3|^ *[a-z_0-9]*/' piped
spmvpack bench - --device host --runs 1 --layout csr < A.spmvc; echo "exit $?"
# What is not a container is not one there either, and is not read to its end to find out.
for input in A.mtx /dev/zero; do
  for command in verify 'decode -o -' multiply inspect; do
    # shellcheck disable=SC2086 # words
    try ${command%% *} - ${command#"${command%% *}"} < $input
  done
done
for command in verify 'decode -o -' multiply inspect; do
  # shellcheck disable=SC2086 # words
  try ${command%% *} A.mtx ${command#"${command%% *}"}
done
head -c 5 A.spmvc > begun
try verify begun
head -c 5000 A.spmvc | try verify -
try verify - < /dev/null
# One standard input is not two.
try verify - --against - < A.spmvc
try multiply - --x - < A.spmvc
try inspect - --memory-limit 100 < /dev/zero
# shellcheck disable=SC2002 # a pipe is what this is about
cat A.spmvc | try inspect - --memory-limit 1K
