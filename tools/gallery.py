# SPDX-License-Identifier: BSD-3-Clause
"""gallery.py: the pictures of docs/gallery.md, drawn by the code of that page.

    python tools/gallery.py

Writes docs/pictures/gallery/*.png in at most 64 colours, and docs/pictures/growing.gif.
"""

import doctest
import os
import re
import runpy
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"


def draw() -> list[Path]:
    """Run the page in the current folder; return what it drew."""
    page = ROOT / "docs" / "gallery.md"
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    if doctest.DocTestRunner().run(test).failed:
        raise SystemExit("the page does not run")
    runpy.run_path(str(ROOT / "examples" / "growing.py"))
    return sorted(Path.cwd().glob("*.png"))


def main() -> None:
    mpl.use("Agg")
    (PICTURES / "gallery").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in draw():
            small = Image.open(path).convert("RGB").quantize(64, dither=Image.Dither.NONE)
            small.save(PICTURES / "gallery" / path.name, optimize=True)
        shutil.copy("growing.gif", PICTURES / "growing.gif")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
