# SPDX-License-Identifier: BSD-3-Clause
"""certificate.py: the revenue that OTD's theorem guarantees for the stream that came."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proven lower bound on the revenue of a tree, beside the revenue itself.

    The paper's Theorem 1: on data that is β-well-separated, OTD earns at least β/3 of
    the maximum. The model keeps the β that its stream turned out to have, so nothing
    has to be assumed. The proof goes step by step, and so does ``guaranteed``: each
    insertion with its own β, which is never worse than the least of them for all.

    Revenue is that of :func:`ramify.metrics.revenue` with ``similarity="dot"`` (or
    ``"cosine"``). All numbers are sums of floats, and true up to rounding; with
    float32 rows that is the rounding of float32.

    Attributes
    ----------
    n_points : int
        Points so far.
    beta : float
        The least separation of all insertions, from 0 to 1: how much more similar the
        points of a subtree were to each other, on average, than to a new point that
        turned away from them.
    guaranteed : float
        Revenue that is proven: the sum of β/3 times the growth of the maximum, over
        all insertions.
    achieved : float
        Revenue of the tree.
    maximum : float
        (n - 2) times the sum of all similarities, which no tree exceeds.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OTD(metric="dot", certify=True)
    >>> proof = model.fit([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]).certificate()
    >>> proof.beta, proof.achieved, proof.maximum
    (1.0, 2.0, 2.0)
    >>> proof.guaranteed <= proof.achieved
    True
    """

    n_points: int
    beta: float
    guaranteed: float
    achieved: float
    maximum: float

    @property
    def theorem_bound(self) -> float:
        """The plain bound of the theorem: β/3 of the maximum, with the least β."""
        return self.beta * self.maximum / 3

    @property
    def guaranteed_fraction(self) -> float:
        """``guaranteed`` as a fraction of the maximum; 1 if there is nothing to earn."""
        return self.guaranteed / self.maximum if self.maximum > 0 else 1.0

    @property
    def achieved_fraction(self) -> float:
        """``achieved`` as a fraction of the maximum; 1 if there is nothing to earn."""
        return self.achieved / self.maximum if self.maximum > 0 else 1.0
