# SPDX-License-Identifier: BSD-3-Clause
"""Data to try things on: shipped, generated from a seed, or read from files you have.

Each data set is one function that returns a small frozen :class:`Dataset`: points in
the order the paper's protocol inserts them, labels where there are any, and a
description that names source and licence. Only :func:`mnist` may ask the network,
and says so. The shipped files and their licences lie in `ramify/data`.
"""

from ramify.datasets._cities import Cities, cities
from ramify.datasets._dataset import Dataset
from ramify.datasets._files import data_folder, find_mnist, ilsvrc12, mnist
from ramify.datasets._generated import gmm_1, gmm_8, gmm_100, ilsvrc12_standin, uniform_square
from ramify.datasets._intents import Intents, intents
from ramify.datasets._small import glass, iris

__all__ = [
    "Cities",
    "Dataset",
    "Intents",
    "cities",
    "data_folder",
    "find_mnist",
    "glass",
    "gmm_1",
    "gmm_8",
    "gmm_100",
    "ilsvrc12",
    "ilsvrc12_standin",
    "intents",
    "iris",
    "mnist",
    "uniform_square",
]
