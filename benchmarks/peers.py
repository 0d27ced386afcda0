# SPDX-License-Identifier: BSD-3-Clause
"""peers.py: the same work by what a user could pick instead. Read like ours.py.

A peer that makes a tree hands it over as ``tree``; one that makes flat clusters
hands over ``labels``, again as a function to be called after the clock stopped.
A library that is not installed is skipped by the worker.
"""

from typing import Any

import numpy as np

from benchmarks.ours import Figures, Timed
from benchmarks.streams import Rows

# --- yardsticks: not clustering, but what clustering cannot well do without ----------


def ckdtree(X: Rows, sample: int | None = None) -> Timed:
    """SciPy's k-d tree: build, then everyone's nearest neighbour (or a sample's, scaled)."""
    import time

    from scipy.spatial import cKDTree

    points = X.astype(np.float64)
    queries = points if sample is None else points[:: max(1, len(points) // sample)]

    def work() -> Figures:
        start, start_cpu = time.perf_counter(), time.process_time()
        tree = cKDTree(points)
        built, built_cpu = time.perf_counter() - start, time.process_time() - start_cpu
        start, start_cpu = time.perf_counter(), time.process_time()
        tree.query(queries, k=2)
        share = len(points) / len(queries)
        return {
            "wall": built + (time.perf_counter() - start) * share,
            "cpu": built_cpu + (time.process_time() - start_cpu) * share,
        }

    return work


def block_products(X: Rows, block: int = 2048) -> Timed:
    """NumPy's products of all n^2/2 pairs of rows, block by block, in the rows' own type."""

    def work() -> Figures:
        for start in range(0, len(X), block):
            for other in range(0, start + 1, block):
                X[start : start + block] @ X[other : other + block].T
        return {}

    return work


def usearch_graph(X: Rows) -> Timed:
    """usearch's HNSW graph: look up each row's nearest, then add it."""
    from usearch.index import Index

    graph = Index(ndim=X.shape[1], metric="l2sq", dtype="f32")

    def work() -> Figures:
        for i, row in enumerate(X):
            graph.search(row, 1, threads=1)
            graph.add(i, row, threads=1)
        return {}

    return work


# --- trees, offline -------------------------------------------------------------------


def fastcluster_average(X: Rows) -> Timed:
    """fastcluster's average linkage on squared distances."""
    import fastcluster

    points = X.astype(np.float64)

    def work() -> Figures:
        Z = fastcluster.linkage(points, method="average", metric="sqeuclidean")
        return {"tree": lambda: Z}

    return work


def fastcluster_ward(X: Rows) -> Timed:
    """fastcluster's Ward linkage in O(n) memory."""
    import fastcluster

    points = X.astype(np.float64)

    def work() -> Figures:
        Z = fastcluster.linkage_vector(points, method="ward")
        return {"tree": lambda: Z}

    return work


def scipy_average(X: Rows) -> Timed:
    """SciPy's average linkage on squared distances."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    points = X.astype(np.float64)

    def work() -> Figures:
        Z = linkage(pdist(points, "sqeuclidean"), "average")
        return {"tree": lambda: Z}

    return work


def sklearn_average(X: Rows) -> Timed:
    """scikit-learn's AgglomerativeClustering, average linkage on squared distances."""
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=None, distance_threshold=0, linkage="average", metric="sqeuclidean"
    )

    def work() -> Figures:
        model.fit(X)
        return {"tree": lambda: model.children_}

    return work


def genie(X: Rows) -> Timed:
    """genieclust's Genie: single linkage that keeps cluster sizes even."""
    import genieclust

    model = genieclust.Genie(n_clusters=1)

    def work() -> Figures:
        model.fit(X)
        return {"tree": lambda: model.children_}

    return work


def hdbscan_tree(X: Rows) -> Timed:
    """hdbscan: single linkage of mutual reachability."""
    import hdbscan

    model = hdbscan.HDBSCAN(core_dist_n_jobs=1)
    points = X.astype(np.float64)

    def work() -> Figures:
        model.fit(points)
        return {"tree": lambda: model.single_linkage_tree_.to_numpy()}

    return work


# --- flat, or micro-clusters ------------------------------------------------------------


def sklearn_birch(X: Rows, threshold: float, batch: int = 1_000) -> Timed:
    """scikit-learn's Birch, fed batch by batch; its subclusters are the flat clusters."""
    from sklearn.cluster import Birch

    model = Birch(threshold=threshold, n_clusters=None)

    def work() -> Figures:
        for start in range(0, len(X), batch):
            model.partial_fit(X[start : start + batch])
        return {"labels": lambda: model.predict(X)}

    return work


def betula(X: Rows, n_clusters: int) -> Timed:
    """betula-cluster: stable cluster features under a cap on memory, then Ward of the leaves."""
    import betula_cluster

    model = betula_cluster.Betula(n_clusters=n_clusters, method="ward")

    def work() -> Figures:
        model.fit(X)
        return {"labels": lambda: model.predict(X)}

    return work


def river_stream(X: Rows, algorithm: str, **options: Any) -> Timed:
    """One of river's clusterers, point by point."""
    from river import cluster

    model = getattr(cluster, algorithm)(**options)
    points = [dict(enumerate(row)) for row in X.tolist()]

    def work() -> Figures:
        for point in points:
            model.learn_one(point)
        return {"labels": lambda: np.array([model.predict_one(point) for point in points])}

    return work
