# SPDX-License-Identifier: BSD-3-Clause
"""_cities.py: the world's cities, shipped with the package."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ramify.datasets._dataset import Dataset, packaged_arrays, packed_lines

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
class Cities(Dataset):
    """The world's cities: a :class:`Dataset` with more columns.

    ``points`` are places on the unit sphere: x towards (0°, 0°), y towards (0°, 90° E),
    z towards the north pole. Squared distances between rows are squared chords
    through the Earth, in units of its radius. ``labels`` are the countries.

    Attributes
    ----------
    latitude : (n,) float64 array
        Degrees, north positive.
    longitude : (n,) float64 array
        Degrees, east positive.
    country : (n,) array of str
        ISO 3166-1 alpha-2 codes; the same array as ``labels``.
    continent : (n,) array of str
        One continent per country.
    names : tuple of str
        City names in the local spelling GeoNames prefers.
    country_names : mapping
        English name of each country code.

    Examples
    --------
    >>> from ramify import datasets
    >>> cities = datasets.cities()
    >>> at = cities.names.index("Reykjavík")
    >>> str(cities.country[at]), str(cities.continent[at]), cities.points.shape[1]
    ('IS', 'Europe', 3)
    """

    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    country: NDArray[np.str_]
    continent: NDArray[np.str_]
    names: tuple[str, ...]
    country_names: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Cities: {len(self):,} cities in {len(self.country_names)} countries>"


def cities() -> Cities:
    """The world's cities as points on the unit sphere.

    Returns
    -------
    Cities
        Read-only arrays, ordered by country.

    Examples
    --------
    >>> from ramify import datasets
    >>> world = datasets.cities()
    >>> world
    <Cities: 171,075 cities in 246 countries>
    >>> i = world.names.index("Reykjavík")
    >>> print(world.country[i], world.continent[i])
    IS Europe
    >>> world.points[i].round(3)
    array([ 0.405, -0.163,  0.9  ])
    """
    table = packaged_arrays("cities.npz")
    latitude = table["latitude"] / _UNITS_PER_DEGREE
    longitude = table["longitude"] / _UNITS_PER_DEGREE
    codes = np.array(packed_lines(table["country_codes"]))
    continents = np.array(packed_lines(table["country_continents"]))
    country = codes[table["country"]]
    return Cities(
        name="cities",
        points=_on_unit_sphere(latitude, longitude),
        labels=country,
        description=_CITIES,
        latitude=latitude,
        longitude=longitude,
        country=country,
        continent=continents[table["country"]],
        names=tuple(packed_lines(table["names"])),
        country_names=MappingProxyType(
            dict(zip(codes.tolist(), packed_lines(table["country_names"]), strict=True))
        ),
    )


def _on_unit_sphere(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> NDArray[np.float64]:
    north, east = np.radians(latitude), np.radians(longitude)
    level = np.cos(north)
    return np.column_stack([level * np.cos(east), level * np.sin(east), np.sin(north)])
