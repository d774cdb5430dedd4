"""Profiles: the package's own as files, those in files as targets, and what a calibration refuses."""
import json
import os
import pathlib
import shutil
import subprocess

from cli import spmvpack

SCHEMA = pathlib.Path(os.environ["CASES"]).parents[2] / "docs/profile.schema.json"

spmvpack("generate", "laplace2d", "--grid", "40x30", "-o", "A.mtx", "-q")
for name in ("h200", "h100", "host"):
    shipped = json.loads(spmvpack("calibrate", "--print", name))
    spmvpack("calibrate", "--print", name, "-o", "mine.json", "--force")
    with open("mine.json") as file:
        mine = json.load(file)
    assert shipped | {"id": "mine"} == mine and shipped["id"] == name
    try:
        import jsonschema
        jsonschema.validate(mine, json.loads(SCHEMA.read_text()))
    except ImportError:
        pass
    # The same prices, the same choice; only the name differs.
    by_file, by_name = (json.loads(spmvpack("report", "A.mtx", "--json", "--target", t)) for t in ("mine.json", name))
    assert by_file["time_model"] == by_name["time_model"] | {"profile": "mine"}
    assert by_file["layouts"] == [layout | {"file_bytes": mine["file_bytes"]}
                                  for layout, mine in zip(by_name["layouts"], by_file["layouts"])]
    assert by_file["recommended"]["layout"] == by_name["recommended"]["layout"]
    spmvpack("encode", "A.mtx", "-q", "-f", "--target", "./mine.json")
    options = json.loads(spmvpack("inspect", "A.spmvc", "--json"))["provenance"]["options"]
    assert options == "--layout auto --target mine --value-type f64 --codec none", options
    assert by_file["recommended"]["file_bytes"] == os.path.getsize("A.spmvc")
shutil.copy("mine.json", "mine")  # a name without a dot is a file if there is one
spmvpack("encode", "A.mtx", "-q", "-f", "--target", "mine")

# What lies is refused, with its place.
for change, place in (({"id": "h200"}, "id"), ({"target": "tpu"}, "target"), ({"more": 1}, "more"),
                      ({"picoseconds": shipped["picoseconds"] | {"csr.rows": -1}}, "picoseconds.csr.rows")):
    with open("bad.json", "w") as file:
        json.dump(mine | change, file)
    done = subprocess.run(["spmvpack", "encode", "A.mtx", "-f", "--target", "bad.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and done.stderr.startswith(f"spmvpack encode: bad.json: {place}: "), done.stderr
for words in (["--print", "tpu"], ["--print", "h200", "-o", "h100.json"], ["-o", "host.json"], ["-o", "a b.json"], [],
              ["-o", "c.json", "--device", "tpu"], ["A.mtx", "-o", "c.json"]):
    spmvpack("calibrate", *words, exit_code=2)
spmvpack("calibrate", "-o", "mine.json", exit_code=1)
assert sorted(os.listdir()) == ["A.mtx", "A.spmvc", "bad.json", "mine", "mine.json"]
