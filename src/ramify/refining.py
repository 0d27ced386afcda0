# SPDX-License-Identifier: BSD-3-Clause
"""refining.py: local search for a better tree, by interchanges of neighbouring branches."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.checks import one_of, whole_number
from ramify.hierarchy import Hierarchy
from ramify.hierarchy.seam import core_over, kept, read_own_rows
from ramify.metric import METRICS
from ramify.metrics._trees import Tree, read_tree

#: Gains below this share of a distance are rounding.
_SLACK = 1e-12
#: A proven bound may be missed by so much of the sums that it is made of.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Refinement:
    """A tree that local search has made better: see :func:`refine`.

    Attributes
    ----------
    tree : Hierarchy
        The better tree.
    revenue_before, revenue : float
        Moseley and Wang's revenue of the tree given and of the better one, exact.
    bound : float
        (n - 2)/3 Σw: a tree at which no interchange gains earns at least this.
    interchanges, sweeps : int
        How many were made, in how many passes over the tree.
    converged : bool
        Whether no interchange gains any more. Then ``revenue >= bound``.

    Examples
    --------
    >>> import ramify
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> ramify.refine([[0, 2], [1, 3], [4, 5]], X)
    <Refinement: 3 interchanges in 3 sweeps, converged; revenue -324 to -4>
    """

    tree: Hierarchy = field(repr=False)
    revenue_before: float
    revenue: float
    bound: float
    interchanges: int
    sweeps: int
    converged: bool

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        return (
            f"<Refinement: {self.interchanges:,} interchanges in {self.sweeps} sweeps, {end}; "
            f"revenue {self.revenue_before:.6g} to {self.revenue:.6g}>"
        )


def refine(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    metric: Literal["sqeuclidean", "cosine", "dot"] = "sqeuclidean",
    linkage: Literal["average", "centroid", "ward"] = "average",
    max_sweeps: int = 1000,
) -> Refinement:
    """Make a tree better by local search: nearest-neighbour interchanges, until none gains.

    Where a branch has the children B and C and the sibling A, the two of the three that are
    most alike become siblings. Each such step raises the tree's revenue (Moseley and Wang),
    under the similarity of the metric: minus the squared distance, the cosine, or the inner
    product. A tree at which none gains earns at least a third of (n - 2) Σw, whatever the
    similarities are. Trees of HAC and OHAC are nearly there; from others there is much to
    gain. Works on the trees of other libraries.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like of shape (n, d)
        The points, in the order of the leaves. Leaves' weights count.
    metric : {"sqeuclidean", "cosine", "dot"}, default="sqeuclidean"
    linkage : {"average", "centroid", "ward"}, default="average"
        What the heights of the new tree are.
    max_sweeps : int, default=1000
        The most passes over the tree, O(n d) each, from the second on only over what
        has changed.

    Returns
    -------
    Refinement
        ``tree``, and how it came about.

    Examples
    --------
    >>> import numpy as np
    >>> import ramify
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> found = ramify.refine(ramify.OTD().fit(X).hierarchy(), X)
    >>> found.converged, found.revenue > found.revenue_before, found.revenue >= found.bound
    (True, True, True)
    """
    sweeps = whole_number("max_sweeps", max_sweeps)
    how = METRICS[one_of("metric", metric, tuple(METRICS))]
    known = read_tree(tree)
    direction = "cosine" if how.unit_rows else "sqeuclidean"
    rows = read_own_rows(X, known, direction).astype(np.float64, copy=False)
    if how.name == "sqeuclidean":  # far from the origin means lose digits
        rows = rows - rows.mean(axis=0)
    core = core_over(known, rows, how.name, linkage)
    done, interchanges, converged = core.refine(sweeps, _SLACK)
    better = Hierarchy(*core.snapshot(), *kept(known))
    total, before = _earned(known, rows, how.name)
    _, after = _earned(better, rows, how.name)
    n = float(known.weights[known.root])
    bound = (n - 2) / 3 * total
    if converged and known.leaf_weights is None:
        slack = _ROUNDING * (abs(after) + abs(bound))
        assert after >= bound - slack, "a local optimum below the bound that is proven for it"
    return Refinement(better, before, after, bound, interchanges, done, converged)


def _earned(tree: Hierarchy, rows: npt.NDArray[np.float64], similarity: str) -> tuple[float, float]:
    """The sum of all similarities, and the tree's revenue."""
    total, revenue, _ = _core.moment_sums(tree.children, np.ascontiguousarray(rows), similarity)
    return total, revenue
