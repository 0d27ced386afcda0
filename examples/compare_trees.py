# SPDX-License-Identifier: BSD-3-Clause
"""Compare trees: online and offline, ours and other libraries', on the same points."""

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import AgglomerativeClustering

import ramify
from ramify import datasets, metrics

iris = datasets.iris()
order = np.random.default_rng(0).permutation(len(iris))
X, species = iris.points[order], iris.labels[order]

trees = {
    "OHAC, online": ramify.OHAC().fit(X).hierarchy(),
    "OHAC, 5 neighbours": ramify.OHAC(n_neighbors=5).fit(X).hierarchy(),
    "OTD, online": ramify.OTD().fit(X).hierarchy(),
    "HAC, offline": ramify.HAC().fit(X).hierarchy(),
    "SciPy, ward": linkage(X, "ward"),  # a linkage matrix is a tree, too
    "scikit-learn, complete": AgglomerativeClustering(linkage="complete").fit(X).children_,
}
reference = trees["HAC, offline"]

print(f"{'':24}revenue  purity  triplets differ from HAC")
for name, tree in trees.items():
    revenue = metrics.revenue_fraction(tree, X)  # Moseley–Wang, of its maximum
    purity = metrics.dendrogram_purity(tree, species)
    distance = metrics.triplet_distance(tree, reference)
    print(f"{name:24}{revenue:7.3f} {purity:7.3f} {distance:9.3f}")
