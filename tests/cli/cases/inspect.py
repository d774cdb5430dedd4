"""inspect, as text and as JSON."""
import json
import os
import subprocess

from cli import spmvpack

spmvpack("generate", "laplace2d", "--grid", "30x40", "-o", "A.mtx")
spmvpack("encode", "A.mtx", "-q", "--layout", "csr", "--codec", "zstd")
facts = json.loads(spmvpack("inspect", "A.spmvc", "--json"))
assert facts["file_bytes"] == os.path.getsize("A.spmvc")
nnz = 5 * 1200 - 2 * 70
matrix = facts["matrix"]
assert (matrix["rows"], matrix["columns"], matrix["nonzeros"]) == (1200, 1200, nnz)
assert (matrix["value_type"], matrix["field"], matrix["symmetry"]) == ("f64", "real", "general")
assert matrix["bitwise_symmetry"] == "symmetric"  # as it happens, whatever the source says
assert facts["device_bytes"] == 1201 * 4 + nnz * 12
assert facts["provenance"]["source"] == "A.mtx" and facts["provenance"]["entries"] == nnz
assert facts["provenance"]["options"] == "--layout csr --value-type f64 --codec zstd:3"
assert any("5-point" in comment for comment in facts["provenance"]["comments"])
assert [p["layout"] for p in facts["parts"]] == ["csr"]
sections = {s["name"]: s for s in facts["sections"]}
assert list(sections) == ["row_ptr", "col_idx", "values", "provenance"]
assert sections["values"]["raw_bytes"] == nnz * 8 and sections["values"]["codec"] == "zstd"
assert sections["values"]["stored_bytes"] < sections["values"]["raw_bytes"]
assert sections["provenance"]["part"] is None and not sections["provenance"]["device"]
text = spmvpack("inspect", "A.spmvc")
assert matrix["digest"] in text and all(name in text for name in sections)
assert max(map(len, text.splitlines())) <= 80, text

# What numbers mean is said beside them, and many of them take several lines.
spmvpack("encode", "A.mtx", "-q", "-f", "--layout", "bitflag", "--set", "bitflag.values=table")
text = spmvpack("inspect", "A.spmvc")
assert "  parameters  source 1 (table), tile_chunks " in text and "docs/FORMAT.md" in text, text
assert max(map(len, text.splitlines())) <= 80, text
listed = text.split("  parameters  ")[1].split("  workspace ")[0].split(",")
assert [item.split()[0] for item in listed] == list(json.loads(spmvpack("inspect", "A.spmvc", "--json"))["parts"][0]["parameters"])

# For which machine it was chosen, where that makes a difference.
for words, target, told in ((["--layout", "csr", "--target", "host"], None, None),
                            (["--optimize", "bytes"], None, None),
                            ([], "gpu", "gpu; for a CPU, see 'report --target host'"),
                            (["--target", "h100"], "h100", "h100; for a CPU, see 'report --target host'"),
                            (["--target", "host"], "host", "host; for a GPU, see 'report --target gpu'"),
                            (["--tune", "host"], "host", "host; for a GPU, see 'report --target gpu'"),
                            (["--target", "mine.json"], "mine", "mine")):
    if target == "mine":
        spmvpack("calibrate", "--print", "host", "-o", "mine.json")
    spmvpack("encode", "A.mtx", "-q", "-f", *words)
    assert json.loads(spmvpack("inspect", "A.spmvc", "--json"))["provenance"]["target"] == target, words
    text = spmvpack("inspect", "A.spmvc")
    assert (f"\n  chosen for  {told}\n" in text) if told else ("chosen for" not in text), text
    assert max(map(len, text.splitlines())) <= 80, text

# The workspace of a multiply: in the file what the report says, by the formulas of docs/LAYOUTS.md.
for rows, entries, expected in ((3, 16384, {"csr": 0, "coo": 64 * 24}), (3, 16385, {"csr": 65 * 16, "coo": 65 * 24}),
                                (1, 16385, {"csr": 16 * 8, "coo": 65 * 24})):
    with open("C.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate pattern general\n{rows} {entries} {entries}\n")
        file.writelines(f"1 {c}\n" for c in range(1, entries + 1))
    costs = {c["name"]: c["workspace_bytes"] for c in json.loads(spmvpack("report", "C.mtx", "--json"))["layouts"]
             if not c["too_large"]}
    assert {layout: costs[layout] for layout in expected} == expected, costs
    for layout, workspace in costs.items():
        spmvpack("encode", "C.mtx", "-q", "-f", "--layout", layout)
        inspected = json.loads(spmvpack("inspect", "C.spmvc", "--json"))
        parts, counts = inspected["parts"], {s["name"]: s["count"] for s in inspected["sections"]}
        assert max(part["workspace_bytes"] for part in parts) == workspace, parts
        assert layout != "ccoo" or workspace == 16 * counts["encoding"], counts
        assert f"  workspace   {workspace:,} bytes\n" in spmvpack("inspect", "C.spmvc")

# Text of a file is escaped before it reaches a terminal.
with open("B.mtx", "wb") as file:
    file.write(b"%%MatrixMarket matrix coordinate pattern general\n%\x1b[31mred\x07\n1 1 1\n1 1\n")
spmvpack("encode", "B.mtx", "-q")
text = spmvpack("inspect", "B.spmvc")
assert "\x1b" not in text and "\\x1B[31mred\\x07" in text, text
assert json.loads(spmvpack("inspect", "B.spmvc", "--json"))["provenance"]["comments"] == ["\x1b[31mred\x07"]

# Of long comments, whole lines up to 1 MiB, and a warning of how many are left out. decode writes those that are there.
with open("D.mtx", "w") as file:
    file.write("%%MatrixMarket matrix coordinate pattern general\n" + "%" * 500000 + "\n%b\n" + "%" * 600000 +
               "\n%too late\n1 1 1\n1 1\n")
done = subprocess.run(["spmvpack", "encode", "D.mtx", "-q"], capture_output=True, text=True, check=True)
assert done.stdout == "" and done.stderr == ("spmvpack: warning: 2 comment lines of the source left out: a container has "
                                             "room for 1 MiB of them\n"), done.stderr
provenance = json.loads(spmvpack("inspect", "D.spmvc", "--json"))["provenance"]
assert [len(c) for c in provenance["comments"]] == [499999, 1] and provenance["comments_left_out"] == 2
assert "2 more lines left out" in spmvpack("inspect", "D.spmvc")
spmvpack("decode", "D.spmvc", "-o", "E.mtx")
with open("E.mtx") as file:
    assert len(file.readlines()) == 5
