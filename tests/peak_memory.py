#!/usr/bin/python3
"""Runs commands and says how much memory each took at its peak.

As a program it reads one command a line, a JSON list of words, and answers each with a line of JSON: exit_code (negative:
a signal), peak_bytes, seconds and stderr. It imports next to nothing on purpose: a child's peak starts with the memory of
the process that starts it. measure() in other tests talks to one such process.
"""

import json
import os
import sys
import time


def run(words):
    read_end, write_end = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.dup2(write_end, 2)
        try:
            os.execv(words[0], words)
        finally:
            os._exit(127)
    os.close(write_end)
    text = b""
    while piece := os.read(read_end, 1 << 16):
        text += piece
    os.close(read_end)
    _, status, usage = os.wait4(child, 0)
    return {"exit_code": os.waitstatus_to_exitcode(status), "peak_bytes": usage.ru_maxrss * 1024,
            "seconds": time.monotonic() - started, "stderr": text.decode("utf-8", "replace")}


class Measurer:
    """Commands run one after the other in a process of its own."""

    def __init__(self):
        import subprocess  # not in the process that measures
        self.process = subprocess.Popen([sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
