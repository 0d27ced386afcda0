# SPDX-License-Identifier: BSD-3-Clause
"""A stream's tree may have its neighbours from elsewhere."""

import numpy as np
import pytest

from tests.core_parts import part


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 12, 40])
def test_neighbours_from_elsewhere_make_the_tree_of_exact_ones(dtype, d):
    rng = np.random.default_rng(d)
    X = rng.integers(-3, 4, size=(300, d)).astype(dtype)
    own, scanned = part("Live", dtype)(d, False), part("Live", dtype)(d, True)
    begin = 0
    for size in (1, 1, 150, 3, 1, 100, 44):
        gone = rng.integers(max(begin, 1), size=size // 2).tolist() if begin else []
        for tree in (own, scanned):
            assert tree.insert_many(X[begin : begin + size]) == size
            for number in gone:
                tree.erase(number)
            tree.check()
        assert own.tree() == scanned.tree()
        begin += size
