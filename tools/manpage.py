#!/usr/bin/env python3
"""Makes docs/spmvpack.1 of what `spmvpack --help` says.

usage: tools/manpage.py SPMVPACK > docs/spmvpack.1
       tools/manpage.py SPMVPACK --check docs/spmvpack.1
"""

import re
import subprocess
import sys

DESCRIPTION = """\
.B spmvpack
turns sparse matrices into containers (.spmvc) whose bytes a sparse matrix-vector product reads as they are, tells what
each layout costs before anything is written, and checks, decodes and multiplies containers.
.PP
Data and summaries go to standard output; progress goes to standard error, and only to a terminal.
Outputs appear whole or not at all.
The first Ctrl\\-C (or SIGTERM) stops the work at the next opportunity and removes what was begun; the second one ends
the process at once and may leave a file
.IR NAME .xxxxxxxx.tmp
behind.
"""

ENVIRONMENT = """\
.TP
.B OMP_NUM_THREADS
The number of threads where \\-\\-threads is not given.
.TP
.B SPMVPACK_ISA
.I generic
does without AVX2, BMI and FMA instructions, where a processor has them. The result is the same.
"""

SEE_ALSO = "The file format, the layouts and the generators are described in FORMAT.md, LAYOUTS.md and GENERATORS.md."


def escape(text):
    """Text that roff sets as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def verbatim(lines):
    return "\n".join([".PP", ".nf", *map(escape, lines), ".fi"])


def sections(text):
    """The help text by its headings: a paragraph that starts with 'Heading:' alone on a line, and what follows it."""
    found, name = {"": []}, ""
    for line in text.splitlines():
        if match := re.fullmatch(r"(Options|Common options|Exit codes):", line):
            name = match[1]
            found[name] = []
        elif name == "Common options" and not line:
            name = "details"
            found[name] = []
        else:
            found[name].append(line)
    return found


def options(lines):
    """[names, text] of each option: names start within six columns, the text stands beside and below them."""
    found = []
    for line in lines:
        if re.match(r" {2,6}-", line):
            names, *text = re.split(r" {2,}", line.strip(), maxsplit=1)
            found.append([names, *text] if text else [names, ""])
        elif line.strip():
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def option_list(lines):
    return "\n".join(f".TP\n.B {escape(names)}\n{escape(text)}" for names, text in options(lines))


def trim(lines):
    """Without empty lines at the ends."""
    return "\n".join(lines).strip("\n").splitlines()


def page(spmvpack):
    def output(*words):
        return subprocess.run([spmvpack, *words], capture_output=True, text=True, check=True).stdout

    overview = output("--help")
    version = output("--version").split()[1]
    commands = re.findall(r"^  (\w+) {2,}(.+)$", overview.split("Examples:")[0], re.MULTILINE)
    commands = [(name, summary) for name, summary in commands if name != "spmvpack"]
    parts = [f'.\\" Made by tools/manpage.py from the help texts: change those.\n.TH SPMVPACK 1 "" "spmvpack {version}"'
             ' "User Commands"',
             ".SH NAME\nspmvpack \\- sparse matrices compressed for the multiply that reads them",
             ".SH SYNOPSIS"]
    helps = {name: sections(output(name, "--help")) for name, _ in commands}
    for name, _ in commands:
        usage = next(line for line in helps[name][""] if line.startswith("usage: "))
        parts.append(f".B spmvpack {name}\n{escape(usage.split(name, 1)[1].strip())}\n.br")
    parts += [".B spmvpack \\-\\-help\n.br\n.B spmvpack \\-\\-version", ".SH DESCRIPTION\n" + DESCRIPTION.strip(),
              ".SH COMMANDS"]
    for name, summary in commands:
        parts.append(f".SS {name}: {escape(summary)}")
        if helps[name].get("Options"):
            parts.append(option_list(helps[name]["Options"]))
        parts.append(verbatim(trim(helps[name]["details"])))
    parts += [".SH COMMON OPTIONS\n" + option_list(helps[commands[0][0]]["Common options"]), ".SH EXIT STATUS"]
    # A line of exit codes is "  130  interrupted ...".
    for line in overview.split("Exit codes:\n")[1].splitlines():
        code, text = line.split(maxsplit=1)
        parts.append(f".TP\n.B {code}\n{escape(text)}")
    parts += [".SH ENVIRONMENT\n" + ENVIRONMENT.strip(),
              ".SH EXAMPLES\n" + verbatim(trim(overview.split("Examples:\n")[1].split("\n\n")[0].splitlines())),
              ".SH SEE ALSO\n" + SEE_ALSO]
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) == 2:
        sys.stdout.write(page(sys.argv[1]))
    elif len(sys.argv) == 4 and sys.argv[2] == "--check":
        with open(sys.argv[3], encoding="utf-8") as file:
            if file.read() != page(sys.argv[1]):
                sys.exit(f"{sys.argv[3]} is not what the help texts say; run: tools/manpage.py SPMVPACK > docs/spmvpack.1")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
