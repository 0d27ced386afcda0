# SPDX-License-Identifier: BSD-3-Clause
"""recommend.py: `ramify recommend`: which metric, linkage and cut suit the rows of a file."""

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ramify.cli import _options as options
from ramify.cli._console import note, print_json, verb

if TYPE_CHECKING:
    from ramify.advice import Recommendation

NAME = "recommend"
EXAMPLES = ("ramify recommend vectors.npy", "ramify recommend flowers.csv --id-column name")

_ROWS, _BYTES = 100_000, 2**28  # the first of a file
_BATCH = 1_000


@verb(NAME)
def run(
    data: options.Data,
    columns: options.Columns = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    field: options.Field = None,
    member: options.Member = None,
    format: options.InputFormat = None,
    header: options.Header = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say which metric, linkage and cut suit the rows of a file, and why.

    Looks at 2,000 of the first 100,000 rows; of fewer where these are very long.
    """
    import numpy as np  # not for --help

    from ramify.advice import recommend

    reading = options.read_options(columns, id_column, label_column, field, member, header, _BATCH)
    with options.open_data(data, reading, format) as source:
        parts = list(_first(batch.rows for batch in source))
    if not parts:
        raise ValueError(f"{data} holds no rows")
    advice = recommend(np.concatenate(parts))
    if json:
        print_json(_plain(advice))
        return
    print(advice)
    name = shlex.quote(data)
    note(
        f"ramify fit {name} -o tree.ramify --metric {advice.metric} --linkage {advice.linkage}"
        f"{'' if advice.zero_rows == 'error' else f' --zero-rows {advice.zero_rows}'}\n"
        f"ramify cut tree.ramify {_words(advice)}",
        quiet=quiet,
    )
    if advice.graph_clusters is not None:
        note(
            f"or: ramify fit {name} -o tree.ramify --algorithm live-graph-hac "
            f"--metric {advice.metric}\nramify cut tree.ramify -k {advice.graph_clusters}",
            quiet=quiet,
        )


def _first(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches up to so many rows, or so many bytes of them."""
    rows = size = 0
    for batch in batches:
        yield batch
        rows, size = rows + len(batch), size + batch.nbytes
        if rows >= _ROWS or size >= _BYTES:
            return


def _words(advice: "Recommendation") -> str:
    """The cut as options of `ramify cut`."""
    if "height" in advice.cut:
        return f"--height {advice.cut['height']:.6g}"
    return f"-k {advice.cut['n_clusters']}"


def _plain(advice: "Recommendation") -> dict[str, object]:
    names = ("kind", "metric", "linkage", "zero_rows", "gamma", "scale", "graph_clusters")
    facts: dict[str, object] = {name: getattr(advice, name) for name in names}
    return facts | {"cut": dict(advice.cut), "reasons": dict(advice.reasons)}
