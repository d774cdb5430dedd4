"""The package as a whole: documentation, examples, what it brings along, interruption."""

import doctest
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import spmvpack as sp

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run_examples(text, name):
    test = doctest.DocTestParser().get_doctest(text, {"sp": sp}, name, None, 0)
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)


def sections_on_torch(text):
    return re.findall(r"^## PyTorch\n.*?(?=^## )", text, re.MULTILINE | re.DOTALL)


def test_the_documentation_is_true():
    text = (ROOT / "docs/PYTHON.md").read_text()
    [on_torch] = sections_on_torch(text)
    failed, count = run_examples(text.replace(on_torch, ""), "PYTHON.md")
    assert count > 20 and failed == 0


def test_the_documentation_of_torch_is_true():
    pytest.importorskip("torch")
    [on_torch] = sections_on_torch((ROOT / "docs/PYTHON.md").read_text())
    failed, count = run_examples(on_torch, "PYTHON.md")
    assert count > 5 and failed == 0


def test_the_documentation_of_operators_is_true(monkeypatch):
    text = (ROOT / "docs/OPERATORS.md").read_text()
    on_petsc = text[text.index("## petsc4py") : text.index("## Trilinos")]
    failed, count = run_examples(text.replace(on_petsc, ""), "OPERATORS.md")
    assert count > 10 and failed == 0
    for path in pathlib.Path("/usr/lib/petscdir").glob("petsc*/*-real/lib/python3/dist-packages"):  # Debian's
        monkeypatch.syspath_prepend(str(path))
    pytest.importorskip("petsc4py.PETSc")
    failed, count = run_examples(text, "OPERATORS.md")
    assert count > 25 and failed == 0


def test_the_readme_is_true():
    blocks = re.findall(r"^```pycon test\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    assert run_examples(blocks[0], "README.md").failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(path, tmp_path):
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "matrix" in done.stdout


def test_everything_public_is_documented():
    for name in sp.__all__:
        thing = getattr(sp, name)
        assert name == "__version__" or thing.__doc__, name
        if isinstance(thing, type) and thing.__module__.startswith("spmvpack"):
            for member, value in vars(thing).items():
                if callable(value) and not member.startswith("_"):
                    assert value.__doc__, f"{name}.{member}"


def test_other_libraries_are_imported_when_they_are_needed():
    code = """if True:
        import sys, spmvpack as sp
        sp.encode, sp.load, sp.report
        assert not {"torch", "cupy", "scipy"} & set(sys.modules), "imported"
        sys.modules["torch"] = None  # as if it were not installed
        try:
            sp.torch
        except ImportError as error:
            assert "torch" in str(error)
        else:
            raise AssertionError("no error")
        assert not hasattr(sp, "tensorflow")
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("chosen, spins", [({}, "2000"), ({"GOMP_SPINCOUNT": "70"}, "70"),
                                           ({"OMP_WAIT_POLICY": "active"}, "30000000000")])
def test_threads_that_wait_give_their_processor_up_soon_unless_asked_not_to(chosen, spins):
    code = "import os; before = dict(os.environ); import spmvpack; assert os.environ == before"
    unset = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    done = subprocess.run([sys.executable, "-c", code], env={**unset, **chosen, "OMP_DISPLAY_ENV": "verbose"},
                          capture_output=True, text=True, check=True)
    told = re.findall("GOMP_SPINCOUNT = '(.*)'", done.stderr)
    assert told and set(told) == {spins}, done.stderr


def test_the_version_is_that_of_the_project():
    assert sp.__version__ == re.search(r"project\(spmvpack VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def test_the_wheel_brings_its_libraries_along():
    """No library of this machine but those that every Linux has."""
    if "site-packages" not in sp.__file__:
        pytest.skip("not installed from a wheel")
    code = "import spmvpack; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[-1] for line in maps.splitlines() if re.search(r"lib(archive|zstd|xxhash|isal|fmt)", line)]
    assert ours and all("spmvpack.libs" in path for path in ours), ours


def test_ctrl_c_ends_a_long_call(tmp_path):
    """And leaves no partial file; the process goes on."""
    code = """
import os, signal, sys, threading, numpy as np, spmvpack as sp
from scipy import sparse
rng = np.random.default_rng(1)
n = 3_000_000
a = sparse.csr_array((rng.standard_normal(n), rng.integers(0, 2**20, n), np.arange(0, n + 1, 3)), shape=(n // 3, 2**20))
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(0.3, interrupt)
timer.start()
try:
    for _ in range(100):
        sp.encode(a, "auto", codec="zstd:19")
    print("ended")
except KeyboardInterrupt:
    print("interrupted")
print(sp.encode(sparse.csr_array((2, 2))).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                          env=dict(os.environ, OMP_WAIT_POLICY="passive"), check=False)
    assert done.stdout == "interrupted\n(2, 2)\n", done.stdout + done.stderr
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
