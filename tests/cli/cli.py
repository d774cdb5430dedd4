"""What the Python cases share."""

import functools
import json
import os
import subprocess
import tempfile


def spmvpack(*words, exit_code=0, **keywords):
    """Runs spmvpack and returns its standard output; fails where it does not exit with `exit_code`."""
    command = ["spmvpack", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    assert done.returncode == exit_code, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@functools.cache
def layouts():
    """The names of all layouts, as the report for a host, which has all of them, lists them."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "one.mtx")
        with open(path, "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
        return [layout["name"] for layout in json.loads(spmvpack("report", path, "--json", "--target", "host"))["layouts"]]
