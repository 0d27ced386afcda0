# SPDX-License-Identifier: BSD-3-Clause
"""docs/durability.md: every promise has a test, and every test that it names is there."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "durability.md").read_text(encoding="utf-8")


def test_every_promise_names_a_test_that_is_there():
    everything = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    promises = [
        line
        for table in re.findall(r"^\| Promise.*\n\|---.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
        for line in table.splitlines()
    ]
    assert len(promises) > 20
    for line in promises:
        shown = line.rsplit("|", 2)[1]
        names = re.findall(r"test_\w+", shown)
        assert names, line
        for name in names:
            there = (HERE / f"{name}.py").exists() or f"def {name}(" in everything
            assert there, f"{name}: {line}"
