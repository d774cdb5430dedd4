"""Progress is drawn on a terminal, never into a file, and is gone before anything else is printed."""
import os
import pty
import subprocess

from cli import spmvpack

spmvpack("generate", "convection-diffusion", "--grid", "60x60x60", "--variable", "-o", "A.mtx")


def on_terminal(*words):
    """What `spmvpack words` writes with a terminal as standard error, and as standard output."""
    reader, terminal = pty.openpty()
    process = subprocess.Popen(["spmvpack", *words], stdout=terminal, stderr=terminal)
    os.close(terminal)
    text = b""
    while True:
        try:
            text += os.read(reader, 65536)
        except OSError:  # Linux's way to say that the terminal has no writer left
            break
    os.close(reader)
    assert process.wait() == 0
    return text.decode()


text = on_terminal("encode", "A.mtx", "-f", "--codec", "zstd:9")
assert "\r\x1b[Kwrite" in text and " %" in text
# The summary starts on a cleared line, and nothing is drawn after it.
assert "\r\x1b[KA.spmvc" in text and "\x1b" not in text[text.index("A.spmvc"):], text
assert on_terminal("encode", "A.mtx", "-fq") == ""
assert "\r\x1b[K%%MatrixMarket" in on_terminal("multiply", "A.spmvc")
done = subprocess.run(["spmvpack", "encode", "A.mtx", "-f", "--target", "gpu"], capture_output=True, check=True)
assert done.stderr == b"" and b"\x1b" not in done.stdout
