# What an output may be, and what becomes of what -f replaces.
try() { spmvpack "$@" -q; echo "exit $?"; }
umask 022
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' > A.mtx
try encode A.mtx
# Only regular files are replaced, with their permissions, and links stay.
mkfifo pipe
ln -s pipe link
for output in pipe link; do
  try encode A.mtx -fo $output
  try encode A.mtx -o $output
  # Text goes into a pipe or a device as it is, and needs no -f for that.
  for words in 'decode A.spmvc' 'multiply A.spmvc' 'generate laplace2d --grid 1x1'; do
    cat $output > got &
    # shellcheck disable=SC2086 # words
    try $words -o $output
    wait && cat got && rm got
  done
done
for words in 'decode A.spmvc' 'multiply A.spmvc' 'generate laplace2d --grid 3x3'; do
  # shellcheck disable=SC2086 # words
  spmvpack $words -o /dev/null; echo "exit $?"
done
stat -c '%N: %F' /dev/null
try encode A.mtx -fo /dev/null
try multiply A.spmvc -o /dev/full
stat -c '%N: %F' pipe link
mkdir sub
echo precious > sub/B.mtx
chmod 460 sub/B.mtx
ln -s sub/B.mtx B.mtx
try decode A.spmvc -fo B.mtx
stat -c '%N: %F, %a' B.mtx sub/B.mtx
cmp A.mtx sub/B.mtx && echo same
ln -s missing nowhere.mtx
try decode A.spmvc -fo nowhere.mtx
# The output is not the input.
cp A.mtx text
ln -s text source
cp A.spmvc container
try encode text -fo text
try encode source -fo text
# shellcheck disable=SC2094 # that is the point
try encode - -fo text < text
try encode A.spmvc -fo ./A.spmvc
try decode container -fo container
cmp A.spmvc container && cmp A.mtx text && echo same
# Text is not written under the name of something else.
for ending in mtx.gz mtx.zst mtx.bz2 mtx.xz spmvc; do
  try decode A.spmvc -fo C.$ending
  try multiply A.spmvc -o C.$ending
done
try generate laplace2d --grid 3x3 -o C.mtx.gz
for ending in mtx MTX mtx.gz mtx.zst rua RSA rb hb tar.gz tgz spmvc.gz; do
  try encode A.mtx -fo C.$ending
done
# A file is not written over a directory, nor is one read.
mkdir directory
for output in directory directory/ sub/directory/; do
  try encode A.mtx -o $output
  try decode A.spmvc -fo $output
  try multiply A.spmvc -o $output
  try generate laplace2d --grid 3x3 -fo $output
done
for command in encode report 'verify A.spmvc --against' inspect verify 'multiply A.spmvc --x' multiply; do
  # shellcheck disable=SC2086 # words
  try $command directory
done
# A limit on the size of files is an error, and nothing is left.
(ulimit -f 8; try generate laplace2d --grid 300x300 -o C.mtx)
ls -R
