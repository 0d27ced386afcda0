# SPDX-License-Identifier: BSD-3-Clause
"""streams.py: the rows that cases run on, made from a seed or read from a folder."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.floating]


def gmm100(n: int, dtype: str = "float32") -> Rows:
    """n points of 100 Gaussians (sd 0.05) with centres in the unit cube."""
    rng = np.random.default_rng(100)
    centres = rng.random((100, 3))
    points = centres[rng.integers(100, size=n)] + 0.05 * rng.standard_normal((n, 3))
    return points.astype(dtype)


def uniform(n: int, dim: int = 2, dtype: str = "float32") -> Rows:
    """n points, uniform in the unit cube."""
    return np.random.default_rng(2).random((n, dim)).astype(dtype)


def mnist(data: str, n: int = 55_000) -> Rows:
    """Images 5000..59999 of MNIST's training set, scaled to [0, 1]."""
    raw = gzip.decompress(Path(data, "mnist", "train-images-idx3-ubyte.gz").read_bytes())
    pixels = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784)[5000 : 5000 + n]
    return (pixels / 255).astype(np.float32)


def patches(data: str, n: int | None = None) -> Rows:
    """1.28M x 10 image patches, the stand-in for ILSVRC12."""
    rows = np.load(Path(data, "ilsvrc12-standin", "patches_pca10.f16.npy"), mmap_mode="r")
    return np.asarray(rows[:n], dtype=np.float32)


def news(data: str, n: int | None = None) -> Rows:
    """38,918 x 384 sentence embeddings of news, in order of time."""
    rows = np.load(Path(data, "wcep", "wcep_story_minilm.f16.npy"), mmap_mode="r")
    return np.asarray(rows[:n], dtype=np.float32)


HARD: dict[str, Callable[[np.random.Generator, int], Rows]] = {
    "shuffled Gaussian": lambda rng, n: rng.standard_normal((n, 3)),
    "all identical": lambda rng, n: np.ones((n, 3)),
    "1,000 distinct values": lambda rng, n: rng.standard_normal((1000, 3))[
        rng.integers(1000, size=n)
    ],
    "sorted by one coordinate": lambda rng, n: _sorted(rng.standard_normal((n, 3))),
    "slow drift": lambda rng, n: rng.standard_normal((n, 3)) + np.linspace(0, 1000, n)[:, None],
    "two far clusters, alternating": lambda rng, n: (
        rng.standard_normal((n, 3)) + np.where(np.arange(n) % 2, 1e6, 0.0)[:, None]
    ),
    "integer grid": lambda rng, n: rng.permutation(_grid(n)),
    "one-hot rows": lambda rng, n: np.eye(10)[rng.integers(10, size=n)],
    "Cauchy": lambda rng, n: rng.standard_cauchy((n, 3)),
    "half at offset 1e9": lambda rng, n: (
        rng.standard_normal((n, 3)) + np.where(rng.random(n) < 0.5, 1e9, 0.0)[:, None]
    ),
}


def hard(name: str, n: int) -> Rows:
    """A stream that breaks naive code."""
    return np.ascontiguousarray(HARD[name](np.random.default_rng(5), n), dtype=np.float64)


def _sorted(points: Rows) -> Rows:
    return points[np.argsort(points[:, 0])]


def _grid(n: int) -> Rows:
    side = int(np.ceil(n ** (1 / 3)))
    return np.stack(np.unravel_index(np.arange(n), (side, side, side)), axis=1).astype(np.float64)
