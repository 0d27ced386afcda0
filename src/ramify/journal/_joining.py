# SPDX-License-Identifier: BSD-3-Clause
"""_joining.py: the door of a folder for edges: plain ids and weights, checked as far as can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ramify.estimators.seam import plain_list, read_triple
from ramify.ids import Ids
from ramify.journal._door import plain_ids, plain_point
from ramify.journal._payloads import check_payloads
from ramify.journal._requests import Joining


def joining(
    edges: Any, ids: Any, payloads: Any, marks: Mapping[str, str] | None, most: int
) -> Joining:
    """What a call without rows asks for; ``most`` are the bytes of a payload.

    Examples
    --------
    >>> joining((["a"], ["b"], [0.5]), None, None, None, 100).ends
    ['a', 'b']
    """
    if edges is None and ids is None:
        raise TypeError("expected rows, or edges=(i, j, weight), or ids= of points that come alone")
    named = given = triple = None
    if ids is not None:
        listed = plain_list(ids, "ids")
        named = plain_ids(Ids().read(listed, len(listed)))
    if payloads is not None:
        if named is None:
            raise TypeError("payloads of points that come with edges go by ids=; give these")
        given = check_payloads(payloads, len(named), most)
    if edges is not None:
        read_triple(edges)  # which finds the words
        a, b = ([plain_point(one) for one in plain_list(end, "edges")] for end in edges[:2])
        triple = a, b, np.asarray(edges[2], np.float64)
    return Joining(triple, named, given, marks)
