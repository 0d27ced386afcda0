"""core_trees.py: trees of the core itself, for tests that go past the estimators."""

import numpy as np

from ramify import _core


def core_options(algorithm, metric="sqeuclidean", linkage="average", **own):
    """An algorithm by name, with its own options."""
    return getattr(_core.Options, algorithm)(metric, linkage, **own)


def core_tree(algorithm, width, metric="sqeuclidean", linkage="average", dtype=np.float64, **own):
    """A tree without points."""
    kind = _core.LiveF32 if dtype == np.float32 else _core.LiveF64
    return kind(width, core_options(algorithm, metric, linkage, **own))
