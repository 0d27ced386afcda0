"""Iris as a file with names and species, for the command."""

from pathlib import Path

import numpy as np

from ramify.datasets import iris
from ramify.files import open_table

IRIS = iris()
NAMES = [f"flower-{i}" for i in range(len(IRIS))]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[IRIS.labels]
FEATURES = ["a", "b", "c", "d"]


def write(path: Path, part: slice = slice(None)) -> Path:
    """Some of the flowers, as csv."""
    with open_table(path, ["name", *FEATURES, "species"]) as table:
        table.write(NAMES[part], *IRIS.points[part].T, SPECIES[part])
    return path
