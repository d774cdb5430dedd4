"""When encoding pays: report and encode say it, where times are predicted."""
import json
import re

from cli import spmvpack

spmvpack("generate", "convection-diffusion", "--grid", "40x40x40", "-o", "A.mtx", "-q")
text = spmvpack("report", "A.mtx")
assert spmvpack("report", "A.mtx", "--threads", "1") == text  # nothing of this machine is in it
told = re.search(r"\nEncoding pays after about ([\d,]+) multiplies \(predicted: \S+ ms on one core\)\n", text)
assert told, text
found = json.loads(spmvpack("report", "A.mtx", "--json"))["recommended"]
assert abs(int(told[1].replace(",", "")) / found["pays_after_multiplies"] - 1) <= 0.05, (told[1], found)

text = spmvpack("encode", "A.mtx")
assert re.search(r"\n  pays     after about [\d,]+ multiplies \(predicted\), beside csr in memory\n$", text), text
# Times are not predicted where they decide nothing.
for words in (["--layout", "csell"], ["--optimize", "bytes"]):
    assert "\n  pays  " not in spmvpack("encode", "A.mtx", "-f", *words)

# Of a few rows a host gains nothing: csr.
spmvpack("generate", "full", "--rows", "5", "--cols", "20", "-o", "B.mtx", "-q")
assert "\nEncoding never pays by time: csr is as fast (predicted)\n" in spmvpack("report", "B.mtx", "--target", "host")
found = json.loads(spmvpack("report", "B.mtx", "--target", "host", "--json"))["recommended"]
assert found["layout"] == "csr" and found["pays_after_multiplies"] is None, found
assert "\n  pays     never: csr is as fast (predicted)" in spmvpack("encode", "B.mtx", "--target", "host")
