# SPDX-License-Identifier: BSD-3-Clause
"""Folders as a version of Ramify leaves them: ``python -m tests.golden_folders FILE``.

Run once by each version that is published, and its file is kept in tests/golden for good. In it are
two folders of one stream, and what the tree said: ``closed`` by its program, ``left`` by one that
was killed, with operations to replay. Only verbs that 0.1 has are used.
"""

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

import ramify

ROWS = np.random.default_rng(0).normal(size=(36, 3)).round(2)
MODEL = {"metric": "cosine", "linkage": "average", "n_clusters": 4}


def batch(begin):
    """A call, which is answered once."""
    names = [f"p{i}" for i in range(begin, begin + 6)]
    payloads = [{"title": f"text of {name}"} for name in names]
    return {"ids": names, "payloads": payloads, "key": f"batch {begin}"}


def grow(tree):
    """A bit of everything that a journal holds."""
    for begin in range(0, 30, 6):
        tree.add(ROWS[begin : begin + 6], **batch(begin))
    tree.forget(["p3", "p4"])
    tree.add(ROWS[30:31], ids=["later"], marks={"source": "17"})


def facts(tree):
    """What a tree says, in words that stay."""
    still = tree.hierarchy()
    ids = [str(one) for one in tree.ids_]
    return {
        "ids": ids,
        "linkage": still.to_linkage().tolist(),
        "labels": tree.labels_.tolist(),
        "payloads": [tree.payload(one) for one in ids],
        "found": [hit.id for hit in tree.search("text")],
        "source": tree.marks.get("source"),
        "version": tree.version,
    }


def make(file):
    """Write the file."""
    with tempfile.TemporaryDirectory() as room:
        place = Path(room)
        with ramify.open(place / "closed", ramify.OHAC(**MODEL), erase_within=None) as tree:
            grow(tree)
            said = facts(tree)
            shutil.copytree(place / "closed", place / "left")
            (place / "left" / "lock").unlink(missing_ok=True)
        (place / "facts.json").write_text(json.dumps(said))
        with tarfile.open(file, "w:xz") as archive:
            for name in ("facts.json", "closed", "left"):
                archive.add(place / name, name)


if __name__ == "__main__":
    make(sys.argv[1])
