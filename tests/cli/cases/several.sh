# Several files: a line for each; one that fails does not stop the others.
try() { spmvpack "$@"; echo "exit $?"; }
spmvpack generate laplace2d --grid 5x5 -o A.mtx -q
spmvpack generate hpcg --grid 2x2x2 -o B.mtx -q
spmvpack encode A.mtx -q --layout csr
echo nonsense > bad.mtx
head -c 2000 A.spmvc > cut.spmvc
mkdir directory
cp B.mtx directory/a_name_that_is_long_and_longer.mtx
gzip -k B.mtx
try report A.mtx B.mtx.gz directory/a_name_that_is_long_and_longer.mtx
# The exit code is the highest, wherever its file stands; the last file is still there.
try report bad.mtx missing.mtx A.mtx
try report missing.mtx A.mtx cut.spmvc bad.mtx B.mtx -q
try report missing.mtx bad.mtx --csv
try report missing.mtx bad.mtx --json
# With --details, whole reports; of standard input, too.
try report A.mtx - --details < B.mtx | grep -E '^(A.mtx|standard input|Structure|exit)'
try report - A.mtx - < B.mtx
try report A.mtx ''
try report A.mtx --csv --json
try bench A.mtx --device host --csv --json
# What ends everything ends it at once.
spmvpack report A.mtx B.mtx missing.mtx > /dev/full; echo "exit $?"
try report A.mtx --json > one
try report A.mtx B.mtx --json | python3 -c '
import json, sys
array, _ = json.JSONDecoder().raw_decode(sys.stdin.read())
print([r["name"] for r in array], array[0] == json.loads(open("one").read().split("exit")[0]))'
spmvpack report A.mtx A.spmvc --csv -q | cut -d, -f1-7 | grep -E '^name|,csr,'
# bench: a block and then a line for each, of those that could be read.
try bench A.mtx bad.mtx A.spmvc missing.mtx --device host --runs 1 > out
grep -E '^(A.mtx|A.spmvc|fastest|exit)' out
try bench missing.mtx bad.mtx --device host --runs 1
try bench A.mtx cut.spmvc B.mtx --device host --runs 1 --csv --layout csr | cut -d, -f1-10
try bench A.mtx B.mtx A.spmvc --device host --runs 1 --layout csr --json | grep -E '"name": "[AB]\.mtx|exit'
try bench --suite A.mtx B.mtx
