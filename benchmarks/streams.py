# SPDX-License-Identifier: BSD-3-Clause
"""streams.py: the rows that cases run on, made from a seed or read from a folder.

Real data is looked for in the folder given by ``--data``; where it is missing,
FileNotFoundError says which file, and the case is skipped. Generated rows that
take its place have names of their own: they are not the real thing.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.floating]


def rows_of(stream: str, **options: Any) -> Rows:
    """Rows by the name of a function of this file."""
    rows: Rows = globals()[stream](**options)
    return rows


# --- made from a seed ---------------------------------------------------------------


def gmm100(n: int) -> Rows:
    """n points of 100 Gaussians (sd 0.05) with centres in the unit cube."""
    rng = np.random.default_rng(100)
    centres = rng.random((100, 3))
    points = centres[rng.integers(100, size=n)] + 0.05 * rng.standard_normal((n, 3))
    return points.astype(np.float32)


def uniform(n: int, width: int = 2) -> Rows:
    """n points, uniform in the unit cube."""
    return np.random.default_rng(2).random((n, width)).astype(np.float32)


def mixture(n: int, width: int) -> Rows:
    """Ten clusters of five clusters each, of any width.

    The mean squared distance of two points is 0.3 in one small cluster, 1.3 in one large
    one and 4.3 overall, so that similarities exp(-|x - y|^2) tell the levels apart.
    """
    rng = np.random.default_rng(3)

    def spread(count: int, variance: float) -> Rows:
        return np.asarray(rng.standard_normal((count, width)) * np.sqrt(variance / width))

    large = np.repeat(spread(10, 1.5), 5, axis=0)
    centres = large + spread(50, 0.5)
    return (centres[rng.integers(50, size=n)] + spread(n, 0.15)).astype(np.float32)


def latent(n: int, width: int) -> Rows:
    """Five dimensions in a table of any width, and a little noise: what most tables are."""
    rng = np.random.default_rng(width)
    rows = rng.standard_normal((n, 5)) @ rng.standard_normal((5, width))
    return (rows + 0.05 * rng.standard_normal((n, width))).astype(np.float32)


def records(n: int, width: int = 38, new: float = 0.29) -> Rows:
    """Like network records: six dimensions, and 71 % of the rows have come before."""
    rng = np.random.default_rng(38)
    is_new = rng.random(n) < new
    is_new[0] = True
    so_far = np.cumsum(is_new)
    kinds = rng.standard_normal((int(so_far[-1]), 6)) @ rng.standard_normal((6, width))
    kinds += 0.05 * rng.standard_normal(kinds.shape)
    often = (rng.random(n) ** 3 * so_far).astype(np.int64)  # the first ones the most
    return kinds[np.where(is_new, so_far - 1, often)].astype(np.float32)


def gaussian(n: int, width: int) -> Rows:
    """No structure at all."""
    return np.random.default_rng(width).standard_normal((n, width)).astype(np.float32)


def doubles(n: int, width: int) -> Rows:
    """The same in double precision."""
    return np.random.default_rng(width).standard_normal((n, width))


def words(n: int, width: int) -> Rows:
    """Like short texts by the words in them: zeros, and a few ones. Many linkages tie."""
    rng = np.random.default_rng(width)
    return (rng.random((n, width)) < 0.05).astype(np.float32)


def positive(n: int, width: int) -> Rows:
    """The same without signs: under dot, all alike."""
    return np.abs(gaussian(n, width))


def features(n: int, width: int) -> Rows:
    """Like what a network makes of pictures: 1,000 classes of 40 dimensions, turned, cut at 0."""
    rng = np.random.default_rng(width)
    turn = rng.standard_normal((40, width)).astype(np.float32)
    centres = rng.standard_normal((1_000, 40)).astype(np.float32)
    inner = centres[rng.integers(1_000, size=n)]
    inner += 0.5 * rng.standard_normal((n, 40)).astype(np.float32)
    rows = inner @ turn
    rows += 0.5 * rng.standard_normal((n, width)).astype(np.float32)
    return np.asarray(np.maximum(rows, 0))


def image_standin(n: int = 55_000) -> Rows:
    """Not MNIST: rows of its width in [0, 1], half of them zeros, variance fading as 1/j^1.2."""
    return np.clip(_fading(n, 784, groups=10, power=1.2, seed=784) * 12, 0, 1)


def news_standin(n: int = 38_918) -> Rows:
    """Not news: unit rows of MiniLM's width around 2,000 directions, variance fading slowly."""
    rows = _fading(n, 384, groups=2_000, power=0.5, seed=384)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def ilsvrc12_standin(n: int = 1_281_167) -> Rows:
    """The package's generated points of ILSVRC12's size, 10 wide."""
    from ramify import datasets

    return datasets.ilsvrc12_standin(n=n).points.astype(np.float32)


def _fading(n: int, width: int, groups: int, power: float, seed: int) -> Rows:
    """Groups of points whose j-th leading direction has variance 1/j^power, in all 1."""
    rng = np.random.default_rng(seed)
    scale = (np.arange(1, width + 1) ** -power) ** 0.5
    scale /= np.linalg.norm(scale)
    turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
    basis = (scale[:, np.newaxis] * turn.T).astype(np.float32)
    centres = rng.standard_normal((groups, width), dtype=np.float32)
    points = rng.standard_normal((n, width), dtype=np.float32)
    points += centres[rng.integers(groups, size=n)]
    return np.asarray(points @ basis)


# --- read from a folder -------------------------------------------------------------


def mnist(data: str | None, n: int = 55_000) -> Rows:
    """Images 5000..59999 of MNIST's training set, scaled to [0, 1]."""
    import gzip

    path = _file(data, "mnist", "train-images-idx3-ubyte.gz")
    pixels = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16)
    return (pixels.reshape(-1, 784)[5000 : 5000 + n] / 255).astype(np.float32)


def patches(data: str | None, n: int | None = None) -> Rows:
    """1.28M x 10: image patches after PCA, of ILSVRC12's size."""
    return _embeddings(_file(data, "ilsvrc12-standin", "patches_pca10.f16.npy"), n)


def news(data: str | None, n: int | None = None) -> Rows:
    """38,918 x 384: sentence embeddings of news, in order of time."""
    return _embeddings(_file(data, "wcep", "wcep_story_minilm.f16.npy"), n)


def like_news(data: str | None, n: int) -> tuple[Rows, npt.NDArray[np.int64]]:
    """n x 384 rows made from those of news, and the number of the story that each is from.

    A row is a row of news that is moved towards one of its 50 neighbours, and along the
    difference of two others, by 0.03 to 0.8 of the way; unit length. As near to their
    neighbours as so many rows of news would be, but in more clumps.
    """
    X, stories = news(data), news_stories(data)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    rng = np.random.default_rng(384)
    near = np.concatenate(
        [
            np.argpartition(-(X[start : start + _BLOCK] @ X.T), 50, axis=1)[:, :50]
            for start in range(0, len(X), _BLOCK)
        ]
    )
    out, of = np.empty((n, X.shape[1]), np.float32), np.empty(n, np.int64)
    for start in range(0, n, _BLOCK):
        count = min(_BLOCK, n - start)
        a, c, d = rng.integers(len(X), size=(3, count))
        b = near[a, rng.integers(50, size=count)]
        towards, along = np.exp(rng.uniform(np.log(0.03), np.log(0.8), size=(2, count, 1)))
        rows = X[a] + towards * (X[b] - X[a]) + along / 2 * (X[c] - X[d])
        out[start : start + count] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        of[start : start + count] = stories[a]
    return out, of


#: Rows that are made at a time.
_BLOCK = 4_096


def news_stories(data: str | None) -> npt.NDArray[np.int64]:
    """The number of the story of each row of news."""
    return np.unique(_news_column(data, "story"), return_inverse=True)[1].astype(np.int64)


def news_texts(data: str | None) -> list[str]:
    """The sentence of each row of news."""
    return _news_column(data, "text")


def _news_column(data: str | None, name: str) -> list[str]:
    import gzip

    path = _file(data, "wcep", "wcep_story.meta.tsv.gz")
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    column = lines[0].split("\t").index(name)
    return [line.split("\t")[column] for line in lines[1:]]


def _file(data: str | None, folder: str, name: str) -> Path:
    if data is None:
        raise FileNotFoundError(f"needs {folder}/{name}: give its folder by --data or RAMIFY_DATA")
    path = Path(data, folder, name)
    if not path.is_file():
        raise FileNotFoundError(f"needs {folder}/{name}, which the data folder lacks")
    return path


def _embeddings(path: Path, n: int | None) -> Rows:
    return np.asarray(np.load(path, mmap_mode="r")[:n], dtype=np.float32)


# --- streams that break naive code --------------------------------------------------

#: The stream that the others are compared with.
CALM = "shuffled Gaussian"


def hard(name: str, n: int, width: int = 3) -> Rows:
    """A stream by its name in HARD."""
    rows = HARD[name](np.random.default_rng(5), n, width)
    return np.ascontiguousarray(rows, dtype=np.float64)


def _normal(rng: np.random.Generator, n: int, width: int) -> Rows:
    return rng.standard_normal((n, width))


def _thousand(rng: np.random.Generator, n: int, width: int) -> Rows:
    return _normal(rng, 1_000, width)[rng.integers(1_000, size=n)]


def _sorted(rng: np.random.Generator, n: int, width: int) -> Rows:
    points = _normal(rng, n, width)
    return points[np.argsort(points[:, 0])]


def _drift(rng: np.random.Generator, n: int, width: int) -> Rows:
    return _normal(rng, n, width) + np.linspace(0, 1_000, n)[:, np.newaxis]


def _alternating(rng: np.random.Generator, n: int, width: int) -> Rows:
    return _normal(rng, n, width) + np.where(np.arange(n) % 2, 1e6, 0.0)[:, np.newaxis]


def _grid(rng: np.random.Generator, n: int, width: int) -> Rows:
    side = int(np.ceil(n ** (1 / width)))
    places = np.stack(np.unravel_index(np.arange(n), (side,) * width), axis=1)
    return rng.permutation(places.astype(np.float64))


def _one_hot(rng: np.random.Generator, n: int, width: int) -> Rows:
    return np.eye(width)[rng.integers(width, size=n)]


def _far_half(rng: np.random.Generator, n: int, width: int) -> Rows:
    return _normal(rng, n, width) + np.where(rng.random(n) < 0.5, 1e9, 0.0)[:, np.newaxis]


def _exponential(rng: np.random.Generator, n: int, width: int) -> Rows:
    """Up and down the axes in turn, each point further out than the last; then shuffled.

    The tree is a true chain, and a newcomer's neighbour can be anywhere in it. Points on
    one side of an axis are a factor of 2.5 apart; those of two sides are farther from each
    other than from everything below. The numbers fit up to 500 points a side.
    """
    sides = 2 * width
    steps = np.arange(n) / sides
    radius = 1e-100 * 2.5**steps
    rows = np.zeros((n, width))
    rows[np.arange(n), np.arange(n) % width] = np.where(np.arange(n) % sides < width, 1, -1)
    return np.asarray(rng.permutation(rows * radius[:, np.newaxis]))


HARD: dict[str, Callable[[np.random.Generator, int, int], Rows]] = {
    CALM: _normal,
    "all identical": lambda rng, n, width: np.ones((n, width)),
    "1,000 distinct values": _thousand,
    "sorted by one coordinate": _sorted,
    "slow drift": _drift,
    "two far clusters, alternating": _alternating,
    "integer grid": _grid,
    "one-hot rows": _one_hot,
    "Cauchy": lambda rng, n, width: rng.standard_cauchy((n, width)),
    "half at offset 1e9": _far_half,
    "exponentially spaced": _exponential,
}
