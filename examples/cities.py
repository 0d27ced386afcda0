# SPDX-License-Identifier: BSD-3-Clause
"""Eight clusters of the world's cities. Writes cities.png and tree.png into the current folder."""

import numpy as np

import ramify
from ramify import datasets
from ramify.plot import dendrogram, distinct_colors, world_map

cities = datasets.cities()
order = np.random.default_rng(0).permutation(len(cities))

model = ramify.OHAC(n_clusters=8)
for batch in np.array_split(order, 200):  # the stream: any batch size, one row included
    model.partial_fit(cities.points[batch])

tree = model.hierarchy()  # a frozen snapshot; the model can go on
colors = distinct_colors(cities.points[order], model.labels_)
ax = world_map(cities.latitude[order], cities.longitude[order], model.labels_, colors=colors)
ax.figure.savefig("cities.png", dpi=80)
dendrogram(tree, truncate=24, colors=colors).figure.savefig("tree.png", dpi=80)
