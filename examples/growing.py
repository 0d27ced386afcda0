# SPDX-License-Identifier: BSD-3-Clause
"""A tree that grows, as an animation: the world's cities as they arrive. Writes growing.gif.

Left the cities so far, right the top of their tree, in the same colours. A cluster keeps its
colour from frame to frame, because the colour belongs to its stable label.
City data: GeoNames, CC BY 4.0.
"""

import io

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import ramify
from ramify import datasets
from ramify.plot import dendrogram, world_map

FRAMES, CLUSTERS = 16, 6
COLORS = plt.get_cmap("tab10").colors

cities = datasets.cities()
order = np.random.default_rng(0).permutation(len(cities))
arrivals = np.geomspace(60, len(cities), FRAMES).astype(int)
model = ramify.OHAC(linkage="ward")


def picture() -> Image.Image:
    """The map and the tree as they are now."""
    so_far = order[: len(model)]
    lasting = model.stable_labels(n_clusters=CLUSTERS)
    labels = model.cut(n_clusters=CLUSTERS)
    firsts = np.unique(labels, return_index=True)[1]
    colors = [COLORS[lasting[first] % len(COLORS)] for first in firsts]
    figure = plt.figure(figsize=(9, 3.4))
    left, right = figure.add_axes((0, 0.02, 0.62, 0.86)), figure.add_axes((0.65, 0.14, 0.25, 0.74))
    world_map(cities.latitude[so_far], cities.longitude[so_far], labels, colors=colors, ax=left)
    dendrogram(model.hierarchy(), truncate=12, colors=colors, ax=right)
    right.get_legend().remove()
    right.set_title("the top of their tree", fontsize=11)
    left.set_title(f"{len(model):,} cities, {CLUSTERS} clusters", fontsize=11)
    page = io.BytesIO()
    figure.savefig(page, dpi=80)
    plt.close(figure)
    return Image.open(page).convert("RGB")


pictures = []
for start, end in zip([0, *arrivals[:-1]], arrivals, strict=True):
    model.partial_fit(cities.points[order[start:end]])
    pictures.append(picture())
palette = pictures[-1].quantize(64, Image.Quantize.MAXCOVERAGE)
pictures = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
pauses = [400] * (FRAMES - 1) + [2500]  # milliseconds
pictures[0].save(
    "growing.gif", save_all=True, append_images=pictures[1:], duration=pauses, loop=0, optimize=True
)
