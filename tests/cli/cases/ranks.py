"""encode --ranks: containers that multiply as the whole does; inspect, verify, decode; report --ranks; what is refused."""
import json
import os
import subprocess

import numpy as np
import scipy.io
import scipy.sparse as sparse

from cli import spmvpack


def failure(*words, code):
    done = subprocess.run(["spmvpack", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done)
    return done.stderr


def product(name, x):
    """What `spmvpack multiply` makes of the container."""
    scipy.io.mmwrite("x.mtx", x.reshape(-1, 1), precision=17)
    text = spmvpack("multiply", name, "--x", "x.mtx")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    return np.array([float(line) for line in lines[1:]])


def check(a, ranks, *options):
    """All shares together are A."""
    scipy.io.mmwrite("A.mtx", a, precision=17, symmetry="general")
    spmvpack("encode", "A.mtx", "-f", "-q", "--ranks", ranks, *options)
    names = [f"A.{rank}of{ranks}.spmvc" for rank in range(ranks)]
    rng = np.random.default_rng(1)
    x, y, order, ghosts, shares = rng.standard_normal(a.shape[1]), [], [], [], []
    for name in names:
        assert spmvpack("verify", name).startswith(f"{name}: ok\n")
        facts = json.loads(spmvpack("inspect", name, "--json"))
        shares.append(facts["share"] | {"rows": facts["matrix"]["rows"]})
        ghosts.append(u32(name, facts, "ghosts"))
        text = spmvpack("inspect", name)
        assert f"rank {facts['share']['rank']} of {ranks}" in text and max(map(len, text.splitlines())) <= 80, text
        order.append(u32(name, facts, "original_rows") if facts["share"]["renumbered"]
                     else facts["share"]["first_row"] + np.arange(facts["matrix"]["rows"]))
    order = np.concatenate(order).astype(int)  # what the source calls the whole's rows
    assert sorted(order) == list(range(a.shape[0]))
    columns = order if a.shape[0] == a.shape[1] else np.arange(a.shape[1])
    begin = {"rows": 0, "columns": 0}
    for name, share, others in zip(names, shares, ghosts):
        assert (share["first_row"], share["first_column"]) == (begin["rows"], begin["columns"])
        own = np.arange(share["first_column"], share["first_column"] + share["own_columns"])
        local = np.concatenate([own, others]).astype(int)
        y.append(product(name, x[columns[local]]))
        begin["rows"] += share["rows"]
        begin["columns"] += share["own_columns"]
    assert (begin["rows"], begin["columns"]) == a.shape
    assert len({(s["partition"], s["global_digest"], s["global_nonzeros"]) for s in shares}) == 1
    found = np.empty(a.shape[0])
    found[order] = np.concatenate(y)
    assert np.allclose(found, a @ x, rtol=1e-13, atol=1e-13)
    return names, shares


def u32(name, facts, section):
    """A list of a share, which is stored as it is."""
    s = next(s for s in facts["sections"] if s["name"] == section)
    return np.fromfile(name, "<u4", s["count"], offset=s["offset"])


grid = sparse.csr_matrix(sparse.kronsum(*[sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(20, 20))] * 2))
odd = sparse.random(61, 61, 0.05, random_state=3, format="csr")  # some rows are empty
names, shares = check(grid, 4)
assert [s["ghosts"] for s in shares] == [20, 40, 40, 20]
assert max(s["rows"] for s in shares) - min(s["rows"] for s in shares) <= 4
first = [open(name, "rb").read() for name in names]
spmvpack("encode", "A.mtx", "-f", "-q", "--ranks", 4, "--threads", 3)
assert first == [open(name, "rb").read() for name in names]
check(odd, 3, "--layout", "csr")
check(odd, 1)
check(sparse.random(30, 70, 0.1, random_state=4), 3)
check(sparse.random(70, 30, 0.1, random_state=5), 4)
check(sparse.random(3, 3, 1.0, random_state=6), 5)  # more ranks than rows
check(sparse.csr_matrix((6, 6)), 2)  # without nonzeros

# report --ranks is the plan of what encode --ranks makes.
def plan(*options):
    return json.loads(spmvpack("report", "A.mtx", "--ranks", 4, "--json", *options))


_, shares = check(grid, 4)
planned = plan()
assert [r["ghosts"] for r in planned["ranks"]] == [s["ghosts"] for s in shares]
assert [r["rows"] for r in planned["ranks"]] == [s["rows"] for s in shares]
assert [r["sent_messages"] for r in planned["ranks"]] == [1, 2, 2, 1]
assert [r["received_bytes"] for r in planned["ranks"]] == [8 * s["ghosts"] for s in shares]
slow = plan("--link", 0.5, "--latency", 20, "--bandwidth", 100)
assert (slow["link_bytes_per_second"], slow["memory_bytes_per_second"]) == (5e8, 1e11)
assert abs(slow["ranks"][1]["exchange_seconds"] - (2 * 20e-6 + 320 / 5e8)) < 1e-12
text = spmvpack("report", "A.mtx", "A.mtx", "--ranks", 32)
assert text.count("rank     rows") == 2 and max(map(len, text.splitlines())) <= 80, text
assert len(json.loads(spmvpack("report", "A.mtx", "A.mtx", "--ranks", 3, "--json"))) == 2
for words in (["--link", 5], ["--latency", 5], ["--ranks", 2, "--csv"], ["--ranks", 2, "--details"],
              ["--ranks", 2, "--latency", -1], ["--ranks", 0]):
    failure("report", "A.mtx", *words, code=2)
try:
    import jsonschema
    folder = os.path.join(os.environ["CASES"], "..", "..", "..", "docs")
    with open(os.path.join(folder, "ranks.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    for found in (planned, slow, json.loads(spmvpack("report", "A.mtx", "--ranks", 401, "--json"))):
        jsonschema.validate(found, schema)
except ImportError:
    pass

# METIS, in a build that has it; else an error that says so.
scipy.io.mmwrite("A.mtx", grid, symmetry="general")
metis = subprocess.run(["spmvpack", "encode", "A.mtx", "-q", "-f", "--ranks", "4", "--partition", "metis"],
                       capture_output=True, text=True, check=False)
if metis.returncode == 0:
    # Four squares of 10 x 10 have 20 ghosts each.
    _, shares = check(grid, 4, "--partition", "metis")
    assert [r["ghosts"] for r in plan("--partition", "metis")["ranks"]] == [s["ghosts"] for s in shares]
    assert all(s["renumbered"] for s in shares) and sum(s["ghosts"] for s in shares) < 120
    again = [open(f"A.{rank}of4.spmvc", "rb").read() for rank in range(4)]
    spmvpack("encode", "A.mtx", "-f", "-q", "--ranks", 4, "--partition", "metis")
    assert again == [open(f"A.{rank}of4.spmvc", "rb").read() for rank in range(4)]
    check(odd, 3, "--partition", "metis")
    check(odd, 1, "--partition", "metis")
    scipy.io.mmwrite("wide.mtx", sparse.random(3, 9, 0.5, random_state=1))
    assert "3 x 9" in failure("encode", "wide.mtx", "--ranks", 2, "--partition", "metis", code=5)
    assert "61 rows for 62 ranks" in failure("encode", "A.mtx", "-o", "B.spmvc", "--ranks", 62, "--partition", "metis", code=5)
else:
    assert metis.returncode == 5 and "takes METIS, " in metis.stderr and "libmetis" in metis.stderr, metis

# A share that is encoded again is the same share; decoded, its matrix alone, with a warning.
scipy.io.mmwrite("A.mtx", grid, symmetry="general")
spmvpack("encode", "A.mtx", "-f", "-q", "--ranks", 4)
spmvpack("encode", "A.2of4.spmvc", "-q", "--layout", "coo", "-o", "again.spmvc")
one, other = (json.loads(spmvpack("inspect", name, "--json")) for name in ("A.2of4.spmvc", "again.spmvc"))
assert one["share"] == other["share"] and one["matrix"] == other["matrix"]
assert np.array_equal(u32("A.2of4.spmvc", one, "ghosts"), u32("again.spmvc", other, "ghosts"))
assert spmvpack("verify", "again.spmvc", "--against", "A.2of4.spmvc")
assert "a share itself: rank 2 of 4" in failure("encode", "A.2of4.spmvc", "-o", "o", "--ranks", 2, code=2)
done = subprocess.run(["spmvpack", "decode", "A.2of4.spmvc", "-o", "share.mtx", "-q"], capture_output=True, text=True, check=True)
assert "warning: A.2of4.spmvc is the share of rank 2 of 4 of 400 x 400; " in done.stderr, done.stderr
assert scipy.io.mmread("share.mtx").shape == (one["matrix"]["rows"], one["matrix"]["columns"])

# The summary; names without .spmvc; what is there already, and what is refused, leave nothing behind.
said = spmvpack("encode", "A.mtx", "--ranks", 2, "-o", "out")
assert said.startswith("out.0of2 to out.1of2\n") and "200" in said and max(map(len, said.splitlines())) <= 80, said
os.remove("out.0of2")
before = sorted(os.listdir())
assert "already exists" in failure("encode", "A.mtx", "--ranks", 2, "-o", "out", code=1)
assert "--ranks" in failure("encode", "A.mtx", "-o", "o", "--ranks", 0, code=2)
assert "--ranks" in failure("encode", "A.mtx", "-o", "o", "--ranks", 1025, code=2)
assert "rows or metis" in failure("encode", "A.mtx", "-o", "o", "--ranks", 2, "--partition", "columns", code=2)
assert "--partition without --ranks" in failure("encode", "A.mtx", "-o", "o", "--partition", "rows", code=2)
scipy.io.mmwrite("none.mtx", sparse.csr_matrix((0, 4)))
assert "without rows" in failure("encode", "none.mtx", "--ranks", 2, code=2)
failure("encode", "A.mtx", "-o", "o", "--ranks", 2, "--memory-limit", "40K", code=7)
os.remove("none.mtx")
assert sorted(os.listdir()) == before
