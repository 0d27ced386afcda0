# SPDX-License-Identifier: BSD-3-Clause
"""With SciPy: our trees in its functions, its trees in ours."""

import numpy as np
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import pdist

import ramify
from ramify import datasets

X = datasets.iris().points
tree = ramify.OHAC().fit(X).hierarchy()

# Ours, there: a sorted, monotone linkage matrix.
Z = tree.to_linkage()
labels = fcluster(Z, 3, "maxclust")
print("the same cut:", len(set(zip(labels, tree.cut(n_clusters=3), strict=True))) == 3)
print(f"cophenetic correlation: {cophenet(Z, pdist(X, 'sqeuclidean'))[0]:.3f}")

# Theirs, here: linear cuts by number, height or size, paths, exports and pictures.
theirs = ramify.Hierarchy.from_linkage(linkage(X, "ward"))
print("largest of at most 30:", np.bincount(theirs.cut(max_size=30)).max())
print("the way to the first point:", theirs.path_code(0))
