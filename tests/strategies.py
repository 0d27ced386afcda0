"""What streams look like: Hypothesis strategies, and the sizes of the large ones.

Random rows come from a drawn seed, so Hypothesis varies and shrinks the number
of rows and columns and not a thousand separate floats.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
from hypothesis import strategies as st

SMALL = os.environ.get("RAMIFY_TEST_SCALE") == "small"


def scaled(n: int) -> int:
    """n, or about a fiftieth of it when a slow tool (a sanitizer) is watching."""
    return max(n // 50, 2) if SMALL else n


def examples(n: int) -> int:
    """How many examples a property is tried on: fewer under a slow tool, and
    RAMIFY_TEST_EXAMPLES times as many in a long search (HYPOTHESIS_PROFILE=search)."""
    return max(n // 4, 2) if SMALL else n * int(os.environ.get("RAMIFY_TEST_EXAMPLES", "1"))


def seeds() -> st.SearchStrategy[int]:
    return st.integers(0, 2**32 - 1)


def dtypes() -> st.SearchStrategy[type]:
    return st.sampled_from([np.float64, np.float32])


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def _mixture(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    centres = rng.normal(size=(1 + n // 8, d)) * 10
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, d))


def _sorted(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    return X[np.argsort(X[:, 0])]


def _skewed(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.exp(2 * rng.normal(size=(n, d)))


SHAPES = (_normal, _mixture, _sorted, _skewed)


@st.composite
def loose_rows(draw, min_size: int = 1, max_size: int = 40, max_dim: int = 5) -> np.ndarray:
    """float64 rows that in all likelihood hold no ties."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(1, max_dim), label="columns")
    shape = draw(st.sampled_from(SHAPES), label="shape")
    return shape(np.random.default_rng(draw(seeds(), label="seed")), n, d)


@st.composite
def rows_at_an_angle(draw, min_size: int = 1, max_size: int = 40) -> np.ndarray:
    """Rows whose directions differ: two columns at least, so that cosines do."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(2, 6), label="columns")
    return np.random.default_rng(draw(seeds(), label="seed")).normal(size=(n, d))


def rows_for(metric: str, min_size: int = 1, max_size: int = 40) -> st.SearchStrategy[np.ndarray]:
    """Rows without ties under a metric."""
    if metric == "cosine":
        return rows_at_an_angle(min_size, max_size)
    return loose_rows(min_size, max_size)


@st.composite
def grid_rows(
    draw, min_size: int = 1, max_size: int = 30, max_dim: int = 3, levels: int = 4
) -> np.ndarray:
    """Small whole numbers: many ties, many duplicates; no row is zero."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(1, max_dim), label="columns")
    rng = np.random.default_rng(draw(seeds(), label="seed"))
    return rng.integers(1, levels + 1, size=(n, d)).astype(np.float64)


@st.composite
def few_values(draw, min_size: int = 1, max_size: int = 40) -> np.ndarray:
    """At most three different rows of whole numbers, each many times."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(1, 3), label="columns")
    rng = np.random.default_rng(draw(seeds(), label="seed"))
    values = rng.integers(-3, 4, size=(3, d)).astype(np.float64)
    return values[rng.integers(3, size=n)]


@st.composite
def non_negative_rows(draw, min_size: int = 1, max_size: int = 40) -> np.ndarray:
    """Rows whose products are similarities ≥ 0: dense, sparse, clustered or repeated."""
    n = draw(st.integers(min_size, max_size), label="rows")
    d = draw(st.integers(1, 6), label="columns")
    kind = draw(st.sampled_from(["dense", "sparse", "clustered", "repeated"]), label="kind")
    rng = np.random.default_rng(draw(seeds(), label="seed"))
    X = rng.exponential(size=(n, d))
    if kind == "sparse":
        X *= rng.random((n, d)) < 0.4
    elif kind == "clustered":
        X = np.eye(d)[rng.integers(d, size=n)] * 5 + 0.3 * X
    elif kind == "repeated":
        X = X[rng.integers(1 + n // 4, size=n)]
    return X


@st.composite
def far_away_rows(draw, min_size: int = 1, max_size: int = 40) -> np.ndarray:
    """Unit noise at an offset of 1e8."""
    return 1e8 + draw(loose_rows(min_size, max_size, max_dim=3))


@st.composite
def batches(draw, n: int) -> list[slice]:
    """Any way to hand over n rows in order: a list of consecutive slices."""
    cuts = draw(st.lists(st.integers(1, n), max_size=6), label="cuts") if n > 1 else []
    edges = [0, *sorted(set(cuts) - {n}), n]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


# Streams that are hard by construction.


def chain_rows(n: int) -> np.ndarray:
    """Rows in n-1 dimensions whose OHAC tree is a chain, grown at the root.

    Squared distance of i < j: f(j), slowly growing, and a little less for j = i + 1.
    So the newest point is always the next one's nearest neighbour, hangs just below
    the root, and is yet closer to all the earlier ones than to the next.
    """
    j = np.arange(n)
    f = 1 + j / n
    D = np.maximum(f[:, None], f[None, :])
    D[j[:-1], j[1:]] -= 0.5 / n
    D[j[1:], j[:-1]] -= 0.5 / n
    np.fill_diagonal(D, 0)
    gram = (D[0][:, None] + D[0][None, :] - D)[1:, 1:] / 2
    return np.vstack([np.zeros(n - 1), np.linalg.cholesky(gram)])


def powers_of_two() -> np.ndarray:
    """2^-480 … 2^480: their squares still fit a double, and their sums."""
    return np.exp2(np.arange(-480, 481, dtype=np.float64))[:, None]
