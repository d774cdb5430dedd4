"""A hint names no option that its command does not have: in what the other cases expect, and where a library's advice
reaches several commands."""
import os
import pathlib
import re
import subprocess

from cli import spmvpack

HELP = {}


def check(text):
    """Looks at every error and its hint; returns how many options the hints named."""
    named = 0
    for command, hint in re.findall(r"^spmvpack (\w+): .*\nhint: (.*)$", text, re.MULTILINE):
        if command not in HELP:
            done = subprocess.run(["spmvpack", command, "--help"], capture_output=True, text=True, check=False)
            HELP[command] = done.stdout if done.returncode == 0 else ""
        # What stands in quotes is another command, or its output.
        hint = re.sub(r"'spmvpack[^']*'|`[^`]*`|tail -c|ulimit -f", "", hint)
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", hint):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", HELP[command]), f"{command} has no {option}: {hint}"
            named += 1
    return named


expected = [file.read_text() for file in pathlib.Path(os.environ["CASES"]).iterdir() if file.suffix in (".err", ".out")]
assert sum(map(check, expected)) > 10


def error(*words):
    done = subprocess.run(["spmvpack", *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "\nhint: " in done.stderr, (words, done.stderr)
    check(done.stderr)


def matrix(name, *entries):
    with open(name, "w", encoding="ascii") as file:
        file.write("".join(f"{line}\n" for line in
                           ("%%MatrixMarket matrix coordinate real general", f"2 2 {len(entries)}", *entries)))


matrix("small.mtx", "1 1 1")
matrix("large.mtx", "1 1 1e300")
matrix("sum.mtx", "1 1 3e38", "1 1 3e38")
spmvpack("encode", "small.mtx", "-q", "--value-type", "f32")
for name in ("large", "sum"):
    spmvpack("encode", f"{name}.mtx", "-q")
    for source in (f"{name}.mtx", f"{name}.spmvc"):
        if source == "sum.spmvc":
            spmvpack("decode", source, "-o", "-")
        error("encode", source, "-o", "B.spmvc", "--value-type", "f32")
        error("report", source, "--value-type", "f32")
        error("verify", "small.spmvc", "--against", source)
# f32 values where f64 ones are asked for.
error("encode", "small.spmvc", "-o", "B.spmvc", "--value-type", "f64")
error("report", "small.spmvc", "--value-type", "f64")
error("verify", "large.spmvc", "--against", "small.spmvc")
with open("x.mtx", "w", encoding="ascii") as file:
    file.write("%%MatrixMarket matrix array real general\n2 1\n1e300\n1\n")
error("multiply", "small.spmvc", "--x", "x.mtx")
# Outputs that exist, limits, devices.
for words in (["encode", "small.mtx"], ["decode", "small.spmvc", "-o", "x.mtx"],
              ["multiply", "small.spmvc", "-o", "x.mtx"], ["generate", "laplace2d", "--grid", "3x3", "-o", "x.mtx"]):
    error(*words)
for words in (["encode", "small.mtx", "-f"], ["report", "small.mtx"], ["verify", "small.spmvc"],
              ["decode", "small.spmvc", "-o", "-"], ["multiply", "small.spmvc"], ["inspect", "-"],
              ["generate", "rmat", "--scale", "20", "-o", "B.mtx"], ["bench", "small.mtx", "--device", "host"]):
    with open("small.spmvc", "rb") as file:
        done = subprocess.run(["spmvpack", *words, "--memory-limit", "1"], stdin=file, capture_output=True, text=True,
                              check=False)
    assert done.returncode == 7, (words, done)
    check(done.stderr)
