# SPDX-License-Identifier: BSD-3-Clause
"""_naming.py: ids of clusters that stay, as the router's file has them."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from ramify.estimators.seam import Identity


def written(identity: Identity) -> bytes:
    """As bytes.

    Examples
    --------
    >>> read(written(Identity(next_id=3))).next_id
    3
    """
    plain = identity.plain()
    cuts = [(by, value, *least) for by, value, _, _, *least in plain["cuts"]]
    arrays: dict[str, Any] = {"head": np.array(json.dumps([plain["next_id"], cuts]))}
    for at, (_, _, points, ids, *_) in enumerate(plain["cuts"]):
        arrays |= {f"points{at}": points, f"ids{at}": ids}
    room = io.BytesIO()
    np.savez(room, **arrays)
    return room.getvalue()


def read(body: bytes) -> Identity:
    """The inverse of :func:`written`."""
    with np.load(io.BytesIO(body)) as found:
        next_id, cuts = json.loads(str(found["head"]))
        seen = [
            (by, value, found[f"points{at}"], found[f"ids{at}"], *least)
            for at, (by, value, *least) in enumerate(cuts)
        ]
    return Identity.from_plain({"next_id": next_id, "cuts": seen})
