# SPDX-License-Identifier: BSD-3-Clause
"""_measure.py: what a measure returns, and the chance that samples are made of."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ramify.checks import whole_number
from ramify.hierarchy import IntArray

#: What ``random_state=`` takes.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


class Measure(float):
    """A float that knows how sure it is of itself.

    Attributes
    ----------
    stderr : float
        Standard error of the value: 0 when it was computed from everything there
        is, else from a sample. Two values that differ by many of these do differ.
    exact : bool
        False for a value that was estimated from a sample.
    gamma : float or None
        Of the similarity exp(-gamma ‖x - y‖²), if the value depends on one: figures can
        be compared only if they have this in common.

    Examples
    --------
    >>> from ramify.metrics import Measure
    >>> Measure(0.75)
    0.75
    >>> Measure(0.75, stderr=0.01, exact=False)
    Measure(0.75, stderr=0.01)
    >>> Measure(0.75, gamma=0.5)
    Measure(0.75, gamma=0.5)
    """

    __slots__ = ("exact", "gamma", "stderr")

    exact: bool
    gamma: float | None
    stderr: float

    def __new__(
        cls, value: float, stderr: float = 0.0, *, exact: bool = True, gamma: float | None = None
    ) -> "Measure":
        measure = super().__new__(cls, value)
        measure.stderr = float(stderr)
        measure.exact = bool(exact)
        measure.gamma = None if gamma is None else float(gamma)
        return measure

    def __repr__(self) -> str:
        if self.exact and self.gamma is None:
            return repr(float(self))
        error = "" if self.exact else f", stderr={self.stderr:.2g}"
        scale = "" if self.gamma is None else f", gamma={self.gamma:.3g}"
        return f"Measure({float(self):.6g}{error}{scale})"

    def __str__(self) -> str:
        return str(float(self))

    def __reduce__(self) -> tuple[object, ...]:
        return _measure, (float(self), self.stderr, self.exact, self.gamma)


def _measure(value: float, stderr: float, exact: bool, gamma: float | None = None) -> Measure:
    return Measure(value, stderr, exact=exact, gamma=gamma)


def check_sample(sample: object) -> int:
    """Return the size of a sample if it is a whole number from 2.

    Examples
    --------
    >>> check_sample(1000)
    1000
    """
    why = "or None for the exact value"
    return whole_number("sample", sample, least=2, why=why, kind="an int or None")


def generator(random_state: RandomState) -> np.random.Generator:
    """Turn a seed, or an old or new NumPy generator, into a new one.

    Examples
    --------
    >>> generator(7).bit_generator.state == generator(7).bit_generator.state
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def draw_pairs(rng: np.random.Generator, n: int, count: int) -> tuple[IntArray, IntArray]:
    """``count`` pairs of different numbers below ``n``, all pairs equally likely.

    Examples
    --------
    >>> i, j = draw_pairs(generator(0), 2, 5)
    >>> (i + j).tolist()
    [1, 1, 1, 1, 1]
    """
    first = rng.integers(n, size=count)
    second = rng.integers(n - 1, size=count)
    return first, second + (second >= first)


def draw_triples(
    rng: np.random.Generator, n: int, count: int
) -> tuple[IntArray, IntArray, IntArray]:
    """``count`` triples of different numbers below ``n``, all triples equally likely.

    Examples
    --------
    >>> i, j, k = draw_triples(generator(0), 3, 5)
    >>> (i + j + k).tolist()
    [3, 3, 3, 3, 3]
    """
    first, second = draw_pairs(rng, n, count)
    third = rng.integers(n - 2, size=count)
    third += third >= np.minimum(first, second)
    return first, second, third + (third >= np.maximum(first, second))


def mean_and_error(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The mean of a sample and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> mean_and_error(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
