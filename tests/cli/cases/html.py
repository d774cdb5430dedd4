"""report --html writes one page that loads nothing and that a screen reader can read; --spy draws the same picture."""
import html.parser
import pathlib
import re

from cli import spmvpack

VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """Elements must nest; pictures must have a name, or be hidden as what is beside them says the same."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not {"src", "href", "onload", "onclick", "id"} & set(attrs), (tag, attrs)
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or (attrs["role"] == "img" and attrs["aria-label"]), attrs
        self.seen.append(tag)
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.get_starttag_text() or tag not in ("rect", "path"):
            assert self.open.pop() == tag, tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        self.text.append(data)


def page_of(*words):
    text = spmvpack("report", "--html", "-", *words)
    assert text.startswith("<!DOCTYPE html>\n") and len(text) < 1_000_000, len(text)
    assert "://" not in text and "url(" not in text and "@import" not in text
    page = Page()
    page.feed(text)
    assert not page.open and not {"script", "link", "img", "iframe"} & set(page.seen), page.open
    return page, " ".join(" ".join(page.text).split())


spmvpack("generate", "convection-diffusion", "--grid", "12x12x12", "-o", "A.mtx", "-q")
spmvpack("generate", "rmat", "--scale", "10", "-o", "R.mtx", "-q")
spmvpack("generate", "full", "--rows", "1", "--cols", "3000", "-o", "row.mtx", "-q")
spmvpack("generate", "full", "--rows", "3000", "--cols", "1", "-o", "column.mtx", "-q")
for name, rows, cols in (("none", 0, 0), ("empty", 3, 4), ("no_rows", 0, 5), ("no_columns", 5, 0)):
    pathlib.Path(f"{name}.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} 0\n")
    page, text = page_of(f"{name}.mtx")
    assert f"{rows} x {cols}, 0 nonzeros" in text and "Where the entries are" not in text, text
for name in ("A", "R", "row", "column"):
    page, text = page_of(f"{name}.mtx")
    report = spmvpack("report", f"{name}.mtx")
    use = re.search(r"^Use (\w+): (.*)$", report, re.MULTILINE)
    assert f"Use {use[1]} : {use[2]}" in text, text
    for part in ("Where the entries are", "Bytes", "Predicted time of a multiply", "Row lengths", "Structure"):
        assert part in text, part
    # The numbers of the report's table, in both tables of the page.
    for line in re.findall(r"^  (\w+) +([\d,]+) +[\d.]+ +\S+ % +(\S+ \S+)", report, re.MULTILINE):
        assert all(word in text for word in line), line
    assert page.text.count("csr") >= 2
assert "nine in ten" in page_of("A.mtx")[1]
# A name is text.
pathlib.Path("<b>&.mtx").write_bytes(pathlib.Path("empty.mtx").read_bytes())
assert "<b>&.mtx" in page_of("<b>&.mtx")[1]

# The output.
assert spmvpack("report", "A.mtx", "--html", "A.html").startswith("A.html\n  layout   ")
first = pathlib.Path("A.html").read_text()
spmvpack("report", "A.mtx", "--html", "A.html", exit_code=1)
assert spmvpack("report", "A.mtx", "--html", "A.html", "-f", "-q") == "" and pathlib.Path("A.html").read_text() == first
for words in (["--html", "A.mtx", "R.mtx"], ["--html", "B.html", "A.mtx", "R.mtx"], ["--html", "B.html", "--json", "A.mtx"],
              ["--spy", "--csv", "A.mtx"], ["--spy", "--html", "B.html", "A.mtx"], ["-f", "A.mtx"],
              ["--html", "B.html", "--ranks", "2", "A.mtx"]):
    spmvpack("report", *words, exit_code=2)
assert not pathlib.Path("B.html").exists()

# The picture in characters: a triangle, whose first row is full, and rows and columns that end within a cell.
pathlib.Path("T.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n8 8 36\n" + "".join(
    f"{i} {j}\n" for i in range(1, 9) for j in range(i, 9)))
assert spmvpack("report", "--spy", "T.mtx").splitlines() == [
    "T.mtx", "8 x 8, 36 nonzeros", "  +--------+", "  |#@@@@@@@|", "  |  #@@@@@|", "  |    #@@@|", "  |      #@|",
    "  +--------+", "  a character covers 2 x 1 places", "  @ is 100 % full; each shade of .:-=+*#@ is 2 times the one before"]
assert spmvpack("report", "--spy", "none.mtx") == "none.mtx\n0 x 0, 0 nonzeros\nno rows or no columns\n"
assert "  no entries\n" in spmvpack("report", "--spy", "empty.mtx")
several = spmvpack("report", "--spy", "T.mtx", "empty.mtx")
assert several.startswith("T.mtx\n") and "\n\nempty.mtx\n" in several
lines = spmvpack("report", "--spy", "column.mtx", "row.mtx", "R.mtx").splitlines()
assert max(map(len, lines)) <= 80 and len(lines) <= 3 * 55
