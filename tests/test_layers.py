"""Data walks one way: who may include whom in the core, and a stub that is fresh.

(The Python rooms are import-linter's affair: `make check`.)
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "core"
BINDINGS = ROOT / "bindings"

# Every file of the core, in an order in which each includes only earlier ones.
# A new file must be given its place.
ORDER = [
    "ids.hpp",
    "growth.hpp",
    "boxes.hpp",
    "sum.hpp",
    "certificate.hpp",
    "pulse.hpp",
    "dispatch.hpp",
    "dispatch.cpp",
    "kernels.hpp",
    "kernels.cpp",
    "tiles.hpp",
    "tiles.cpp",
    "projection.hpp",
    "projection.cpp",
    "short_rows.hpp",
    "order.hpp",
    "points.hpp",
    "summary.hpp",
    "linkage.hpp",
    "tree.hpp",
    "tree.cpp",
    "bucket_tree.hpp",
    "neighbours.hpp",
    "neighbours.cpp",
    "lookahead.hpp",
    "lookahead.cpp",
    "forest_hac.hpp",
    "forest_spaces.hpp",
    "forest_hac.cpp",
    "settled.hpp",
    "settled.cpp",
    "otd.hpp",
    "otd.cpp",
    "hac.hpp",
    "hac.cpp",
    "ohac.hpp",
    "ohac.cpp",
    "nested.hpp",
    "nested.cpp",
    "perch.hpp",
    "perch.cpp",
    "grinch.hpp",
    "grinch.cpp",
    "scout.hpp",
    "live.hpp",
    "live.cpp",
    "dendrogram.hpp",
    "dendrogram.cpp",
    "heavy_paths.hpp",
    "heavy_paths.cpp",
    "measures.hpp",
    "measures.cpp",
    "rbf_sums.hpp",
    "rbf_sums.cpp",
    "triplets.hpp",
    "triplets.cpp",
]

# No files, clocks, printing, threads or chance: the core computes.
OUTSIDE = {
    *("iostream", "ostream", "istream", "fstream", "sstream", "iomanip", "cstdio", "print"),
    *("filesystem", "chrono", "ctime", "random", "thread", "mutex", "future", "atomic"),
    *("csignal", "cstdlib", "locale"),
}

# What no standard header has.
UNAVOIDABLE = {
    "growth.hpp": {"sys/mman.h"},  # huge pages, on Linux
    "boxes.hpp": {"emmintrin.h"},  # the larger of two numbers, for two at once
}


def includes(path: Path) -> list[tuple[str, str]]:
    """('"' or '<', name) of every include line."""
    return re.findall(r'^\s*#\s*include\s*(["<])([^">]+)[">]', path.read_text(), re.MULTILINE)


def core_files() -> list[Path]:
    return sorted(path for path in CORE.rglob("*") if path.is_file())


def test_every_file_of_the_core_has_its_place():
    assert sorted(ORDER) == [str(path.relative_to(CORE)) for path in core_files()]


@pytest.mark.parametrize("path", core_files(), ids=lambda path: path.name)
def test_the_core_includes_only_earlier_files_of_the_core(path):
    earlier = ORDER[: ORDER.index(path.name)]
    own = [name for mark, name in includes(path) if mark == '"']
    assert set(own) <= set(earlier), f"{path.name} looks ahead"


@pytest.mark.parametrize("path", core_files(), ids=lambda path: path.name)
def test_the_core_knows_only_the_standard_library(path):
    headers = {name for mark, name in includes(path) if mark == "<"}
    strange = {name for name in headers if "." in name or "/" in name}
    strange -= UNAVOIDABLE.get(path.name, set())
    assert not strange, "standard headers have neither a dot nor a slash"
    assert not headers & OUTSIDE, f"{path.name} reaches out of the core"
    assert not re.search(r"\b(PyObject|Py_|nanobind|nb::)", path.read_text())


def test_bindings_include_core_nanobind_and_the_standard_library_only():
    files = sorted(BINDINGS.glob("*.[ch]pp"))
    assert files
    known = {*ORDER, *(path.name for path in files)}
    for path in files:
        for mark, name in includes(path):
            if mark == '"':
                assert name in known, f"{path.name} includes {name}"
            else:
                standard = "." not in name and "/" not in name
                assert standard or name.startswith("nanobind/") or name == "Python.h"


@pytest.mark.no_asan
def test_the_committed_stub_is_fresh(tmp_path):
    pytest.importorskip("nanobind", reason="only where the extension is built")
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-m", "ramify._core", "-o", str(fresh)],
        check=True,
        capture_output=True,
    )
    committed = ROOT / "src" / "ramify" / "_core.pyi"
    assert committed.read_text() == fresh.read_text(), "run `make stub`"
