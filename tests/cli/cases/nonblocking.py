"""Pipes that another process has made non-blocking are waited for."""
import os
import subprocess
import time

from cli import spmvpack

spmvpack("generate", "laplace2d", "--grid", "200x200", "-o", "A.mtx")
spmvpack("encode", "A.mtx")
with open("A.mtx", encoding="ascii") as file:
    text = file.read()


def read_slowly(*words):
    """What `spmvpack words` writes to a non-blocking pipe that is full for a while."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    process = subprocess.Popen(["spmvpack", *words], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    time.sleep(0.3)
    with open(reader, encoding="ascii") as pipe:
        written = pipe.read()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == b"", f"{words}: {process.returncode} {err}"
    return written


assert read_slowly("generate", "laplace2d", "--grid", "200x200", "-o", "-") == text
assert read_slowly("decode", "A.spmvc", "-o", "-") == text
assert read_slowly("multiply", "A.spmvc") == spmvpack("multiply", "A.spmvc")

# An empty pipe to read from.
reader, writer = os.pipe()
os.set_blocking(reader, False)
process = subprocess.Popen(["spmvpack", "encode", "-", "-o", "B.spmvc", "-q"], stdin=reader)
os.close(reader)
time.sleep(0.3)
with open(writer, "w", encoding="ascii") as pipe:
    pipe.write(text)
assert process.wait(timeout=60) == 0
spmvpack("verify", "B.spmvc", "--against", "A.mtx")
