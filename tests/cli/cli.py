"""What the Python cases share."""

import subprocess


def spmvpack(*words, exit_code=0, **keywords):
    """Runs spmvpack and returns its standard output; fails where it does not exit with `exit_code`."""
    command = ["spmvpack", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    assert done.returncode == exit_code, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
