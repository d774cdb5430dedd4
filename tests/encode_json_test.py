#!/usr/bin/env python3
"""Checks `spmvpack encode --json` against its schema, and against what `inspect` says of the file.

usage: encode_json_test.py SPMVPACK SCHEMA
"""

import json
import os
import subprocess
import tempfile

from json_support import SPMVPACK, run, told_by


def encode(*options):
    told = told_by("encode", "A.mtx", "-f", "-o", "A.spmvc", "--json", *options)
    inspected = json.loads(run("inspect", "A.spmvc", "--json"))
    assert told["file_bytes"] == os.path.getsize("A.spmvc"), told
    assert told["plan"]["device_bytes"] == inspected["device_bytes"], (told, inspected)
    assert [p["layout"] for p in told["plan"]["parts"]] == \
        [p["layout"] for p in inspected["parts"]][:len(told["plan"]["parts"])], told
    assert sum(p["nonzeros"] for p in told["plan"]["parts"]) == told["matrix"]["nonzeros"], told
    return told


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    run("generate", "laplace2d", "--grid", "60x50", "-o", "A.mtx")
    chosen = encode()
    assert chosen["target"] == "gpu" and chosen["profile"] == "h200" and chosen["tuning"] is None
    multiply = chosen["multiply"]
    assert not multiply["measured"] and 0 < multiply["seconds"] < multiply["csr_seconds"], multiply
    spent = chosen["seconds"]["plan"] + chosen["seconds"]["write"]
    saved = multiply["csr_seconds"] - multiply["seconds"]
    assert abs(multiply["pays_after"] * saved - spent) <= saved * 1.001, chosen
    assert "columns" not in chosen
    eight = encode("--columns", "8")
    assert eight["columns"] == 8 and multiply["seconds"] < eight["multiply"]["seconds"] < 8 * multiply["seconds"], eight
    assert encode("--target", "h100")["target"] == "h100"
    forced = encode("--layout", "csr")
    assert forced["multiply"] is None and forced["plan"]["reason"] == "" and forced["plan"]["layout"] == "csr"
    assert forced["plan"]["device_bytes"] == forced["csr_bytes"]
    assert encode("--optimize", "bytes")["multiply"] is None
    tuned = encode("--tune", "host")
    tuning = tuned["tuning"]
    assert tuning["layouts"][tuning["chosen"]]["layout"] == tuned["plan"]["layout"] and tuned["target"] == "host"
    assert tuned["multiply"]["measured"] == any(
        t["layout"] == "csr" and t["seconds"] is not None for t in tuning["layouts"]), tuned
    run("generate", "random", "--rows", "300", "--cols", "200", "--per-row", "5", "-f", "-o", "A.mtx")
    assert encode("--transpose")["transpose"]["parts"][0]["rows"] == 200
    failed = subprocess.run([SPMVPACK, "encode", "A.mtx", "-f", "--json", "--ranks", "2"], capture_output=True, text=True)
    assert failed.returncode == 2 and "--json" in failed.stderr, failed
