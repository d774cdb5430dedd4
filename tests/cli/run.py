#!/usr/bin/env python3
"""Runs the command-line cases: scripts with expected output.

usage: run.py SPMVPACK [CASE ...] [--update]

cases/NAME.sh and cases/NAME.py run in an empty directory with `spmvpack` and $CASES set. A case passes if it exits
with 0, or 77 for "skipped", and its output is that of NAME.out (standard output) and NAME.err (standard error); a
missing file means empty. In these files * stands for any text within its line. Notes are left out, as they are of the
machine. --update writes what came out: read the difference before you commit it.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
SKIPPED = 77
# Not under a sanitizer, whose processes start slowly: many of them, for texts alone, or the same commands again with
# other numbers of threads, which ThreadSanitizer looks at.
MANY_PROCESSES = {"completion", "help", "manpage", "same_bytes"} if "SPMVPACK_TEST_SANITIZED" in os.environ else set()


def matches(expected, actual):
    """True where every line of `actual` matches its line of `expected`."""
    expected, actual = expected.splitlines(), actual.splitlines()
    return len(expected) == len(actual) and all(
        re.fullmatch(".*".join(re.escape(text) for text in pattern.split("*")), line)
        for pattern, line in zip(expected, actual))


def run_case(script, spmvpack, update):
    """Runs one case and returns (state, what to tell)."""
    if script.stem in MANY_PROCESSES:
        return "skipped", "many processes, which other builds start"
    environment = dict(os.environ, LC_ALL="C", PYTHONPATH=str(HERE), CASES=str(CASES),
                       PATH=f"{spmvpack.parent}{os.pathsep}{os.environ['PATH']}")
    # -P: the cases' directory is no place to import from; a case may be called like a module.
    interpreter = ["bash"] if script.suffix == ".sh" else [sys.executable, "-P"]
    with tempfile.TemporaryDirectory(prefix="spmvpack-cli-") as directory:
        done = subprocess.run([*interpreter, script], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600, check=False)
    if done.returncode == SKIPPED:
        return "skipped", done.stdout.decode(errors="replace")
    failures = []
    if done.returncode != 0:
        failures.append(f"the script exited with {done.returncode}")
    for name, data in (("out", done.stdout), ("err", done.stderr)):
        actual = re.sub("^spmvpack: note: .*\n", "", data.decode(errors="backslashreplace"), flags=re.MULTILINE)
        file = script.with_suffix("." + name)
        expected = file.read_text() if file.exists() else ""
        if matches(expected, actual):
            continue
        if update and done.returncode == 0:
            file.write_text(actual)
        failures.append(f"{file.name} expects\n{expected}--- but there was\n{actual}---")
    return ("FAILED", "\n".join(failures)) if failures else ("passed", "")


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    update = "--update" in sys.argv
    if not words:
        sys.exit(__doc__)
    spmvpack = pathlib.Path(words[0]).resolve()
    if not os.access(spmvpack, os.X_OK):
        sys.exit(f"{spmvpack} is not a program")
    scripts = sorted(p for p in CASES.iterdir() if p.suffix in (".sh", ".py") and (not words[1:] or p.stem in words[1:]))
    if not scripts:
        sys.exit("no such case")

    def timed(script):
        start = time.monotonic()
        return script, *run_case(script, spmvpack, update), time.monotonic() - start

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for script, state, text, seconds in pool.map(timed, scripts):
            print(f"{state:8} {script.stem} ({seconds:.1f} s)", flush=True)
            if text:
                print(text.rstrip())
            failed += state == "FAILED"
    print(f"{len(scripts)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
