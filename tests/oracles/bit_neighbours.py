"""The nearest of rows of zeros and ones, in exact fractions, one pair after the other."""

from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[int]


def distance(a: Row, b: Row, metric: str) -> Fraction:
    """Share of the columns that differ, of all or (jaccard) of those with a one in either."""
    differing = sum(x != y for x, y in zip(a, b, strict=True))
    either = sum(bool(x or y) for x, y in zip(a, b, strict=True))
    whole = len(a) if metric == "hamming" else either
    return Fraction(differing, whole) if whole else Fraction(0)


def nearest(rows: Sequence[Row], k: int, metric: str, rank: Sequence[int]) -> list[list[int]]:
    """The k nearest others of each row; of equal distances the smaller rank."""
    lists = []
    for i, row in enumerate(rows):
        others = [j for j in range(len(rows)) if j != i]
        others.sort(key=lambda j, row=row: (distance(row, rows[j], metric), rank[j]))
        lists.append(others[:k])
    return lists
