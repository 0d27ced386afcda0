# SPDX-License-Identifier: BSD-3-Clause
"""_choices.py: what one may type where there is a choice.

The library has these lists, too, and is slow to load: help and completion should not wait
for it. tests/test_choices.py fails when the two differ.
"""

from enum import StrEnum


class Algorithm(StrEnum):
    """As the registry has them."""

    ohac = "ohac"
    otd = "otd"
    naive_hac = "naive-hac"
    naive_nn = "naive-nn"
    perch = "perch"
    grinch = "grinch"
    birch = "birch"
    random_cut = "random-cut"
    live_graph_hac = "live-graph-hac"
    hac = "hac"


class Metric(StrEnum):
    """As metric.py has them."""

    sqeuclidean = "sqeuclidean"
    euclidean = "euclidean"
    cosine = "cosine"
    dot = "dot"


class ZeroRows(StrEnum):
    """As the estimators have them."""

    error = "error"
    skip = "skip"
    apart = "apart"


class Linkage(StrEnum):
    """As the estimators have them."""

    average = "average"
    centroid = "centroid"
    ward = "ward"


class Similarity(StrEnum):
    """Of revenue: a kernel, or a metric."""

    rbf = "rbf"
    sqeuclidean = "sqeuclidean"
    cosine = "cosine"
    dot = "dot"


class By(StrEnum):
    """What a cut goes by."""

    height = "height"
    variance = "variance"
    stability = "stability"
    modularity = "modularity"


class Format(StrEnum):
    """Of files that can be read."""

    npy = "npy"
    npz = "npz"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"


class TableFormat(StrEnum):
    """Of tables that can be written."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"


class Real(StrEnum):
    """Of numbers."""

    float32 = "float32"
    float64 = "float64"


class Duplicates(StrEnum):
    """As the estimators have them."""

    keep = "keep"
    count_ = "count"  # str has a count of its own


def one_of(choices: type[StrEnum]) -> str:
    """The choices, for help.

    Examples
    --------
    >>> one_of(Real)
    'float32|float64'
    """
    return "|".join(choices)
