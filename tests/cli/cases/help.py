"""Every -h fits a screen; every --help has the exit codes and no line that wraps."""
import re

from cli import layouts, spmvpack

commands = ["encode", "report", "inspect", "verify", "decode", "multiply", "generate", "bench",
            "calibrate"]
for words in [["-h"]] + [[c, "-h"] for c in commands]:
    lines = spmvpack(*words).splitlines()
    assert len(lines) <= 24, f"{words}: {len(lines)} lines"
    assert max(map(len, lines)) <= 80, f"{words}: {max(lines, key=len)!r}"
for words in [["--help"]] + [[c, "--help"] for c in commands]:
    text = spmvpack(*words)
    assert "Exit codes:" in text and "130" in text
    assert max(map(len, text.splitlines())) <= 80, f"{words}: {max(text.splitlines(), key=len)!r}"
    if len(words) == 2:
        assert spmvpack("help", words[0]) == text
assert spmvpack("help") == spmvpack("--help")
for words in [["help", "frobnicate"], ["help", "encode", "decode"], ["help", "-x"]]:
    spmvpack(*words, exit_code=2)
overview = spmvpack("-h")
assert all(f"\n  {c} " in overview for c in commands)
assert spmvpack("--version").startswith("spmvpack ")
assert spmvpack("version") == spmvpack("--version")
# Help is served whatever else is on the line.
assert spmvpack("encode", "no-such-file", "-h") == spmvpack("encode", "-h")
# What each layout suits, in the order of the report; those of papers come last.
text = spmvpack("help", "layouts")
assert max(map(len, text.splitlines())) <= 80, text
ours, papers = (re.findall(r"^  (\w+) +\S", part, re.MULTILINE) for part in text.split("\nLayouts reproduced from papers"))
assert papers == ["ellpack_r", "pjds", "amb", "pkt", "hyb", "segmented_sell", "nus_sell"], text
assert ours == ["auto", *(name for name in layouts() if name not in papers)], text
assert "help layouts" in overview
# Every other layout is named where one is chosen, and all are described.
for words in (["encode", "-h"], ["generate", "-h"]):
    choice = re.search(r"--layout NAME +(.*?)\n +(-|$)", spmvpack(*words), re.DOTALL)[1]
    named = [name for name in re.findall(r"\w+", choice) if name in layouts()]
    assert named[:len(ours) - 1] == ours[1:] and not set(named) & set(papers) and "help layouts" in choice, choice
described = re.findall(r"^  (\w+)\n      ", spmvpack("encode", "--help"), re.MULTILINE)
assert [name for name in described if name in layouts()] == layouts(), described
