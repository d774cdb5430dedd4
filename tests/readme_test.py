#!/usr/bin/env python3
"""README.md and its pages tell the truth: commands print what they say, C++ and C compile, links lead somewhere.

usage: readme_test.py SPMVPACK COMPILER

Blocks ```console test are sessions: lines that start with "$ " are run by bash, one after the other in one directory,
and must print the lines below them, where "..." stands for any lines, and times, measured or predicted, may differ.
Blocks ```cpp test and ```c test compile. docs/USING.md and docs/CHOOSING.md have such blocks, too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def blocks(text, kind):
    return re.findall(rf"^```{kind} test\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def session(block):
    """[command, expected output] of each command."""
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append([line[2:], ""])
        else:
            steps[-1][1] += line + "\n"
    return steps


def pattern(expected):
    """The regular expression of an expected output."""
    lines = []
    for line in expected.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*")
        elif line.startswith("  time "):
            lines.append(re.sub(r"\d+\\\.\d\d", r"\\d+\\.\\d\\d", re.escape(line)) + r"\n")
        else:  # a predicted time follows the model's prices, which are fitted anew from time to time
            text = re.sub(r"(?:\\ )*\d+(?:\\\.\d+)?\\ [um]s", r" *[\\d.]+ [um]s", re.escape(line))
            text = re.sub(r"(s(?:\\ )+)[\d,]+(?:\\\.\d+)?(?=\\ %$)", r"s *[\\d.,]+", text)  # and its share of csr's
            text = re.sub(r"\d+(?:\\\.\d+)?(?=\\ %\\ of\\ its\\ time)", r"[\\d.]+", text)
            text = re.sub(r"after\\ about\\ [\d,]+(?=\\ multiplies)", r"after about [\\d,]+", text)
            text = re.sub(r"predicted:\\ [\d.\\]+\\ \w+", r"predicted: [\\d.]+ \\w+", text)
            lines.append(re.sub(r"\d+(?:\\\.\d+)?(?=\\ %\\ of\\ csr's\\ time)", r"[\\d.]+", text) + r"\n")
    return "".join(lines)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    spmvpack, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if not shutil.which("jq"):
        print("skipped: there is no jq")
        sys.exit(SKIPPED)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = text + "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in ("USING", "CHOOSING"))
    failures, count = [], 0
    environment = dict(os.environ, LC_ALL="C", PATH=f"{spmvpack.parent}{os.pathsep}{os.environ['PATH']}")
    with tempfile.TemporaryDirectory(prefix="spmvpack-readme-") as directory:
        for command, expected in (step for block in blocks(pages, "console") for step in session(block)):
            done = subprocess.run(["bash", "-c", command], cwd=directory, env=environment, text=True, timeout=300,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            count += 1
            told = re.sub("^spmvpack: note: .*\n", "", done.stdout, flags=re.MULTILINE)  # notes are of the machine
            if not re.fullmatch(pattern(expected), told):
                failures.append(f"$ {command}\n{told}--- but the page says\n{expected}---")
    includes = [f"-I{path}" for path in ROOT.glob("*/include")]
    for kind, flags in (("cpp", ["-std=c++20", "-fopenmp", "-x", "c++"]), ("c", ["-std=c99", "-Wall", "-x", "c"])):
        for block in blocks(pages, kind):
            count += 1
            done = subprocess.run([compiler, *flags, "-Werror", "-fsyntax-only", *includes, "-"],
                                  input=block, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failures.append(f"{block}{done.stderr}")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            count += 1
            if not link.startswith("https://") and not (page.parent / link).exists():
                failures.append(f"{page.name} links to {link}, which is not there")
    codes = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    told = subprocess.run([spmvpack, "--help"], capture_output=True, text=True, check=True).stdout
    if codes != re.findall(r"^  (\d+) ", told.split("Exit codes:")[1], re.MULTILINE):
        failures.append("the exit codes of README.md are not those of --help")
    print("\n".join(failures + [f"{count} commands, programs and links, {len(failures)} failed"]))
    sys.exit(1 if failures or count < 10 else 0)


if __name__ == "__main__":
    main()
