# SPDX-License-Identifier: BSD-3-Clause
"""Real data to try things on, shipped with the package: no download, no network.

Each data set is one `load_*()` that returns a small frozen object with plain
arrays and a `description` naming source and licence. The files and their
licences lie in `ramify/data`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cities", "load_cities"]

_Array = TypeVar("_Array", bound=NDArray[Any])

_UNITS_PER_DEGREE = 10_000  # as written by tools/make_cities.py

_CITIES = """\
Cities of the world: name, coordinates and country of 171,075 populated places,
ordered by country. Shuffle them before streaming.

Source: GeoNames, https://www.geonames.org/, licensed under CC BY 4.0
(https://creativecommons.org/licenses/by/4.0/). Changed: coordinates rounded to
0.0001 degrees, administrative divisions dropped. Country names and continents
are added by Ramify.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Cities:
    """The world's cities; row i of every array belongs to the same city.

    Attributes
    ----------
    points : (n, 3) float64 array
        Places on the unit sphere: x towards (0°, 0°), y towards (0°, 90° E),
        z towards the north pole. Squared distances between rows are squared
        chords through the Earth, in units of its radius.
    latitude : (n,) float64 array
        Degrees, north positive.
    longitude : (n,) float64 array
        Degrees, east positive.
    country : (n,) array of str
        ISO 3166-1 alpha-2 codes.
    continent : (n,) array of str
        One continent per country.
    names : tuple of str
        City names in the local spelling GeoNames prefers.
    country_names : mapping
        English name of each country code.
    description : str
        What it is, where it comes from and its licence.
    """

    points: NDArray[np.float64]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    country: NDArray[np.str_]
    continent: NDArray[np.str_]
    names: tuple[str, ...]
    country_names: Mapping[str, str]
    description: str

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Cities({len(self):,} cities in {len(self.country_names)} countries)"


def load_cities() -> Cities:
    """Load the world's cities as points on the unit sphere.

    Returns
    -------
    Cities
        Read-only arrays, ordered by country.

    Examples
    --------
    >>> from ramify.datasets import load_cities
    >>> cities = load_cities()
    >>> cities
    Cities(171,075 cities in 246 countries)
    >>> i = cities.names.index("Reykjavík")
    >>> print(cities.country[i], cities.continent[i])
    IS Europe
    >>> cities.points[i].round(3)
    array([ 0.405, -0.163,  0.9  ])
    """
    table = _read("cities.npz")
    latitude = table["latitude"] / _UNITS_PER_DEGREE
    longitude = table["longitude"] / _UNITS_PER_DEGREE
    codes = np.array(_lines(table["country_codes"]))
    continents = np.array(_lines(table["country_continents"]))
    return Cities(
        points=_read_only(_on_unit_sphere(latitude, longitude)),
        latitude=_read_only(latitude),
        longitude=_read_only(longitude),
        country=_read_only(codes[table["country"]]),
        continent=_read_only(continents[table["country"]]),
        names=tuple(_lines(table["names"])),
        country_names=MappingProxyType(
            dict(zip(codes.tolist(), _lines(table["country_names"]), strict=True))
        ),
        description=_CITIES,
    )


def _read(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a packaged .npz; never unpickles."""
    with (
        as_file(files("ramify") / "data" / name) as path,
        np.load(path, allow_pickle=False) as archive,
    ):
        return dict(archive)


def _lines(text: NDArray[Any]) -> list[str]:
    return text.tobytes().decode().split("\n")


def _on_unit_sphere(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> NDArray[np.float64]:
    north, east = np.radians(latitude), np.radians(longitude)
    level = np.cos(north)
    return np.column_stack([level * np.cos(east), level * np.sin(east), np.sin(north)])


def _read_only(array: _Array) -> _Array:
    array.flags.writeable = False
    return array
