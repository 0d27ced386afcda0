# SPDX-License-Identifier: BSD-3-Clause
"""demo.py: `ramify demo`: the world's cities."""

from pathlib import Path
from typing import Annotated

import typer

from ramify.cli._console import verb

NAME = "demo"
EXAMPLES = ("ramify demo --limit 20000 --out pictures",)


@verb(NAME)
def run(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for pictures.")] = Path(
        "demo-output"
    ),
    limit: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The first so many cities only.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Of the order of arrival.")] = 0,
    clusters: Annotated[int, typer.Option(metavar="NUMBER", help="Clusters on the first map.")] = 8,
) -> None:
    """Stream the world's cities into a live tree, and look at it."""
    from ramify import demo as cities

    words = ["--out", str(out), "--seed", str(seed), "--clusters", str(clusters)]
    cities.main(words if limit is None else [*words, "--limit", str(limit)])
