"""encode --tune: what is measured is told and kept, and what contradicts it is refused."""
import json
import os
import re
import subprocess

from cli import spmvpack

spmvpack("generate", "laplace2d", "--grid", "40x30", "-o", "A.mtx", "-q")
spmvpack("encode", "A.mtx", "-o", "plain.spmvc", "-q", "--target", "host")
text = spmvpack("encode", "A.mtx", "--tune", "host")
assert max(map(len, text.splitlines())) <= 110, text
assert re.search(r"\n           auto: \S+ \S+ measured, the best of \d+ layouts? on \S", text), text
lines = re.findall(r"\n  (?:tuned|     )    (\w+) +(\S+ \S+) \(cold \S+ \S+, warm \S+ \S+; predicted \S+ \S+\)(, taken)?", text)
assert len(lines) >= 2 and [taken for _, _, taken in lines].count(", taken") == 1, text

assert re.search(r"\n  pays     (after \S.* multipl(y|ies)|never: csr is as fast) \(measured\), beside csr in memory\n$", text), text
assert "csr" in [name for name, *_ in lines], text

facts = json.loads(spmvpack("inspect", "A.spmvc", "--json"))
provenance = facts["provenance"]
assert provenance["options"] == "--layout auto --target host --tune host --value-type f64 --codec none"
assert provenance["measured_on"]
taken = next(name for name, _, mark in lines if mark)
measured = provenance["measured"]
assert measured[0]["layout"] == taken and {m["layout"] for m in measured} <= {name for name, *_ in lines}
assert all(m["seconds"] >= 0 and m["predicted_seconds"] > 0 for m in measured)
assert [m["seconds"] for m in measured[1:]] == sorted(m["seconds"] for m in measured[1:])
text = spmvpack("inspect", "A.spmvc")
assert "\n  measured    on " in text and f"\n              {taken}: " in text, text
assert max(map(len, text.splitlines())) <= 80, text
spmvpack("verify", "A.spmvc", "--against", "A.mtx")

# As many bytes as any other file of that layout, but for the options and what was measured.
spmvpack("encode", "A.mtx", "-o", "taken.spmvc", "-q", "--layout", taken, "--target", "host")
sizes = []
for path in ("A.spmvc", "taken.spmvc"):
    sections = json.loads(spmvpack("inspect", path, "--json"))["sections"]
    sizes.append([s["raw_bytes"] for s in sections if s["name"] != "provenance"])
assert sizes[0] == sizes[1]

# Without --tune, nothing is measured, and a tuned file as a source leaves no trace of that.
assert json.loads(spmvpack("inspect", "plain.spmvc", "--json"))["provenance"]["measured"] == []
spmvpack("encode", "A.spmvc", "-o", "again.spmvc", "-q", "--target", "host")
with open("plain.spmvc", "rb") as plain, open("again.spmvc", "rb") as again:
    assert plain.read() == again.read()
spmvpack("encode", "A.mtx", "-f", "-q", "--tune", "host", "--target", "host", "--set", "sell.sigma=1", "--codec", "zstd")

for words in (["gpu", "--layout", "csr"], ["host", "--optimize", "bytes"], ["host", "--target", "gpu"],
              ["gpu", "--target", "host"], ["tpu"], [""]):
    spmvpack("encode", "A.mtx", "-o", "none.spmvc", "--tune", *words, exit_code=2)
    assert not os.path.exists("none.spmvc")
spmvpack("generate", "laplace2d", "--grid", "3x3", "-o", "none.spmvc", "--tune", "host", exit_code=2)

# On a GPU, if there is one; otherwise as bench says so.
done = subprocess.run(["spmvpack", "encode", "A.mtx", "-f", "--tune", "gpu"], capture_output=True, text=True, check=False)
bench = subprocess.run(["spmvpack", "bench", "A.mtx", "--device", "gpu", "--peers", "none", "--runs", "1", "--layout", "csr"],
                       capture_output=True, text=True, check=False)
assert done.returncode == bench.returncode, (done, bench)
if done.returncode != 0:
    assert done.returncode in (5, 6) and "\nhint: use --tune host" in done.stderr, done.stderr
else:
    assert json.loads(spmvpack("inspect", "A.spmvc", "--json"))["provenance"]["measured"]
