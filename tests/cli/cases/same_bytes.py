"""The same matrix and options make the same bytes, whatever GPU is there and however many threads; unless it is tuned,
which then says so."""
import json
import os
import subprocess

from cli import spmvpack

spmvpack("generate", "convection-diffusion", "--grid", "20x20x20", "--coefficients", "blocks:4", "-o", "A.mtx", "-q")
spmvpack("generate", "powerlaw", "--rows", "3000", "--exponent", "1.8", "--longest", "900", "-o", "B.mtx", "-q")
spmvpack("calibrate", "--print", "h100", "-o", "mine.json")
ENVIRONMENTS = ({}, {"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "99"},
                {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "3"})


def encoded(path, environment, *options):
    done = subprocess.run(["spmvpack", "encode", path, "-o", "out.spmvc", "-f", "-q", *options],
                          env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    with open("out.spmvc", "rb") as file:
        return file.read()


for path in ("A.mtx", "B.mtx"):
    for options in ([], ["--target", "host"], ["--target", "h100"], ["--target", "mine.json"], ["--optimize", "bytes"],
                    ["--transpose"], ["--layout", "csell"], ["--layout", "bitflag"]):
        files = {encoded(path, environment, *options) for environment in ENVIRONMENTS}
        assert len(files) == 1, (path, options)
        provenance = json.loads(spmvpack("inspect", "out.spmvc", "--json"))["provenance"]
        assert provenance["measured_on"] == "" and provenance["measured"] == [], provenance
    encoded(path, {}, "--tune", "host")
    provenance = json.loads(spmvpack("inspect", "out.spmvc", "--json"))["provenance"]
    assert provenance["measured_on"] and provenance["measured"] and "--tune host" in provenance["options"], provenance
