# SPDX-License-Identifier: BSD-3-Clause
"""check_wheel.py: what an installed wheel must do, without the tests and without a checkout.

    python tools/check_wheel.py

cibuildwheel runs this for every wheel, and ``make release-check`` for the one that was built here.
Trees are compared with digests that were written down on another machine: the architecture must
not be seen in them.
"""

import hashlib
import json
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

import ramify

#: Of children and heights; made of whole numbers, so that rows are the same everywhere.
DIGESTS = {
    ("OHAC", 3): "f59223ac6f915913",
    ("OHAC", 40): "97ab9bf940fab9c0",
    ("OTD", 3): "141a70b380194758",
    ("PERCH", 20): "c5b4c754bd5420b4",
}


def rows(width: int) -> np.ndarray:
    """400 rows of whole numbers in twelve groups."""
    steps = np.arange(400 * width, dtype=np.uint64)
    noise = (steps * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(59)
    group = (np.arange(400, dtype=np.uint64) * np.uint64(7919)) % np.uint64(12)
    return (noise.reshape(400, width) + group[:, None] * np.uint64(40)).astype(np.float64)


def digest(name: str, width: int) -> str:
    """Of the tree that an estimator grows on such rows."""
    model = getattr(ramify, name)()
    for batch in np.array_split(rows(width), 7):
        model.partial_fit(batch)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "tree.ramify")
        tree = ramify.load(Path(folder) / "tree.ramify").hierarchy()
    parts = (np.ascontiguousarray(part).tobytes() for part in (tree.children, tree.heights))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def main() -> int:
    found = {key: digest(*key) for key in DIGESTS}
    wrong = {key: value for key, value in found.items() if value != DIGESTS[key]}
    files = distribution("ramify").files or []
    boms = [file for file in files if "sboms" in file.parts]
    names = [part["name"] for bom in boms for part in json.loads(bom.read_text())["components"]]
    same = f"{len(found) - len(wrong)} of {len(found)} trees"
    print(f"ramify {ramify.__version__}: {same}, parts {names}")
    if wrong:
        print(f"other trees than elsewhere: {wrong}", file=sys.stderr)
    return 1 if wrong or "nanobind" not in names else 0


if __name__ == "__main__":
    sys.exit(main())
