# SPDX-License-Identifier: BSD-3-Clause
"""_certificate.py: how much revenue is proven for a tree, from the tree itself.

    w(u)      sum of the similarities inside of u         w(u, A)  those between u and A
    beta      the least ratio of the mean similarity inside of an inner node u to that
              between u and its sibling A

With all w >= 0 a tree earns at least beta/(2 + beta) of (n - 2) Σw (docs/math.md,
"Interchanges").
"""

from dataclasses import dataclass
from math import inf, isinf

import numpy as np
import numpy.typing as npt

from ramify import _core
from ramify.hierarchy import FloatArray, Hierarchy, IntArray
from ramify.metrics._pairs import blocks_of_pairs
from ramify.metrics._similarity import Similarities, Similarity
from ramify.metrics._trees import Tree, gaps_between_leaves, read_tree, repeats_of


@dataclass(frozen=True, slots=True)
class TreeCertificate:
    """A proven lower bound on the revenue of a tree: see :func:`certificate`.

    Attributes
    ----------
    beta : float
        The least ratio of the mean similarity inside of an inner node to that between the
        node and its sibling; infinite if there is no such node, or nothing between them.
    node : int or None
        The inner node that attains it: where the tree is the least sure of itself.
    guaranteed : float
        Revenue that is proven: β/(2 + β) of the maximum.
    achieved : float
        Revenue of the tree.
    maximum : float
        (n - 2) times the sum of all similarities, which no tree exceeds.

    Examples
    --------
    >>> from ramify.metrics import certificate
    >>> W = [[9, 2, 1], [2, 9, 3], [1, 3, 9]]
    >>> certificate([[1, 2], [3, 0]], W, similarity="precomputed")
    TreeCertificate(beta=2.0, node=3, guaranteed=3.0, achieved=3.0, maximum=6.0)
    """

    beta: float
    node: int | None
    guaranteed: float
    achieved: float
    maximum: float

    @property
    def guaranteed_fraction(self) -> float:
        """``guaranteed`` as a fraction of the maximum; 1 if there is nothing to earn."""
        return self.guaranteed / self.maximum if self.maximum > 0 else 1.0

    @property
    def achieved_fraction(self) -> float:
        """``achieved`` as a fraction of the maximum; 1 if there is nothing to earn."""
        return self.achieved / self.maximum if self.maximum > 0 else 1.0


def certificate(
    tree: Tree,
    X: npt.ArrayLike,
    *,
    similarity: Similarity = "rbf",
    gamma: float | None = None,
) -> TreeCertificate:
    """The revenue that is proven for any tree, from how it separates its points.

    If in every inner node points are at least β times as similar to each other, on
    average, as to the points of the node's sibling, then the tree earns at least
    β/(2 + β) of the maximum: a third for β = 1, which all trees at a local optimum have
    (:func:`ramify.refine`), and more where groups are separated. No assumption is left: β is
    read off the tree. ``OTD(certify=True).certificate()`` has another β and another proof:
    of the stream that came, insertion by insertion.

    Parameters
    ----------
    tree : Hierarchy, SciPy linkage matrix, or scikit-learn ``children_`` array
    X : array-like
        As in :func:`revenue`.
    similarity : str or callable, default="rbf"
        As in :func:`revenue`; all similarities must be at least 0.
    gamma : float, optional
        Of ``"rbf"`` only; by default :func:`fitting_gamma` of the rows.

    Returns
    -------
    TreeCertificate

    Notes
    -----
    O(n d) for dot and cosine of rows without negative numbers, else O(n² d). Memory is
    O(n) beyond the points.

    Examples
    --------
    >>> import ramify
    >>> from ramify import datasets
    >>> from ramify.metrics import certificate
    >>> X = datasets.iris().points
    >>> proof = certificate(ramify.HAC().fit(X).hierarchy(), X)
    >>> round(proof.beta, 2), round(proof.guaranteed_fraction, 2), round(proof.achieved_fraction, 2)
    (1.0, 0.33, 0.53)
    """
    checked = read_tree(tree)
    if repeats_of(checked) is not None:
        raise ValueError(
            "a certificate is of single points, and these leaves have weights: take that of "
            "tree.expanded(), with a row for each point"
        )
    w = Similarities(X, similarity, gamma, "certificate", checked)
    across = _across(checked, w)
    n, sizes = checked.n_leaves, checked.sizes.astype(np.float64)
    within = _within(checked.children, across)
    maximum = max(n - 2, 0) * float(across.sum())
    achieved = float(across @ (n - sizes[n:]))
    beta, node = _beta(checked, within, across)
    share = 1.0 if isinf(beta) else beta / (2 + beta)
    # What is proven cannot be more than what is; rounding might say so.
    return TreeCertificate(beta, node, min(share * maximum, achieved), achieved, maximum)


def _across(tree: Hierarchy, w: Similarities) -> FloatArray:
    """The sum of similarities between the two children of every merge."""
    if w.name in ("cosine", "dot") and not (w.rows < 0).any():
        return np.asarray(_core.moment_across(tree.children, w.rows, w.name))
    rows = np.arange(tree.n_leaves - 1)  # numbers rise towards the root, as sizes do
    order, gaps = gaps_between_leaves(tree, rows)
    sums = np.zeros(len(rows))
    for block in blocks_of_pairs(gaps):
        alike = block.select(w.block(order[block.rows], order[block.columns]))
        if (alike < 0).any():
            raise ValueError(
                f"a similarity is {alike.min():g}: a certificate needs all of them to be at least 0"
            )
        at = block.select(block.at_lca).astype(np.int64)
        sums += np.bincount(at, weights=alike, minlength=len(sums))
    return sums


def _within(children: IntArray, across: FloatArray) -> FloatArray:
    """The sum of similarities inside of every node."""
    within = [0.0] * (len(children) + 1)
    for (a, b), between in zip(children.tolist(), across.tolist(), strict=True):
        within.append(within[a] + within[b] + between)
    return np.array(within)


def _beta(tree: Hierarchy, within: FloatArray, across: FloatArray) -> tuple[float, int | None]:
    """The least ratio, and the first inner node that attains it."""
    n = tree.n_leaves
    inner = np.arange(n, tree.root)
    above = tree.parents[inner]
    size = tree.sizes[inner].astype(np.float64)
    beside = tree.sizes[above] - size
    inside = within[inner] / (size * (size - 1) / 2)
    between = across[above - n] / (size * beside)
    some = between > 0
    if not some.any():
        return inf, None
    ratio = inside[some] / between[some]
    least = int(np.argmin(ratio))
    return float(ratio[least]), int(inner[some][least])
