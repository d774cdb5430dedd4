"""An interrupted command exits with 128 + signal and leaves nothing behind, whenever the signal comes."""
import os
import signal
import subprocess
import time

from cli import spmvpack

# What an interrupted process may take to end, in seconds: several of the longest steps between two looks at the flag.
LONGEST = 6

# At zstd's slowest level this takes much longer than the signal needs to arrive.
spmvpack("generate", "convection-diffusion", "--grid", "60x60x60", "--variable", "-o", "A.mtx")


def catches_interrupts(process):
    with open(f"/proc/{process.pid}/status") as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
    return all(int(caught, 16) >> (number - 1) & 1 for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))


def start():
    """The command, once it catches signals: before, which on a busy machine may take long, it ends as any other."""
    process = subprocess.Popen(["spmvpack", "encode", "A.mtx", "--layout", "csr", "--codec", "zstd:19"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not catches_interrupts(process):
        time.sleep(0.001)
    return process


def expect_interrupted(process, signal_number, name):
    start = time.monotonic()
    out, err = process.communicate(timeout=120)
    # A block takes this codec half a second, a batch of them ten.
    assert time.monotonic() - start < LONGEST, f"{name}: {time.monotonic() - start:.1f} s"
    assert process.returncode == 128 + signal_number, f"{name}: exit {process.returncode} {out} {err}"
    assert out == b"" and b"interrupted" in err, f"{name}: {out} {err}"
    assert os.listdir() == ["A.mtx"], f"{name}: {os.listdir()}"


for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    # While it writes: as soon as the temporary file is there.
    process = start()
    while len(os.listdir()) == 1 and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal_number)
    expect_interrupted(process, signal_number, f"writing, {signal_number.name}")
    # Soon after the start: while it reads or plans.
    process = start()
    time.sleep(0.15)
    process.send_signal(signal_number)
    expect_interrupted(process, signal_number, f"reading, {signal_number.name}")
# While the filters are chosen, or later.
for delay in (0.3, 1):
    process = start()
    while len(os.listdir()) == 1 and process.poll() is None:
        time.sleep(0.001)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    expect_interrupted(process, signal.SIGINT, f"{delay} s of writing")

# The second Ctrl-C does not wait for anything. Sometimes the first one has ended the process before.
for attempt in range(10):
    process = start()
    while len(os.listdir()) == 1 and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    ended = process.wait(timeout=60)
    for name in os.listdir():
        if name.endswith(".tmp"):
            os.remove(name)
    if ended == -signal.SIGINT:
        break
    assert ended == 128 + signal.SIGINT, ended
assert ended == -signal.SIGINT

# A job that ignores Ctrl-C, as those that scripts start in the background, goes on ignoring it.
process = subprocess.Popen(["sh", "-c", "trap '' INT; exec spmvpack encode A.mtx --layout csr --codec zstd:9 -q"])
while len(os.listdir()) == 1 and process.poll() is None:
    time.sleep(0.001)
process.send_signal(signal.SIGINT)
assert process.wait(timeout=60) == 0 and sorted(os.listdir()) == ["A.mtx", "A.spmvc"]

# A generator that writes to a pipe which nobody reads stops, too.
process = subprocess.Popen(["spmvpack", "generate", "laplace2d", "--grid", "3000x3000", "-o", "-"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
time.sleep(0.5)
process.send_signal(signal.SIGINT)
assert process.wait(timeout=60) == 130

# So does all else that waits for a pipe: to read from it, to open it, to write to it. A.mtx is not touched.
os.remove("A.mtx")
os.mkfifo("pipe")
waiting = (["encode", "-", "-o", "B.spmvc"], ["encode", "pipe", "-o", "B.spmvc"], ["decode", "A.spmvc", "-o", "-"],
           ["multiply", "A.spmvc"], ["multiply", "A.spmvc", "--x", "pipe", "-o", "y.mtx"])
for words in waiting:
    process = subprocess.Popen(["spmvpack", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    time.sleep(1)
    assert process.poll() is None, words
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130, words
    assert process.stderr.read() == b"spmvpack: interrupted\n", words
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    assert sorted(os.listdir()) == ["A.spmvc", "pipe"], words
