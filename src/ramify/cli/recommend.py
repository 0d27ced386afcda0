# SPDX-License-Identifier: BSD-3-Clause
"""recommend.py: `ramify recommend`: which metric, linkage and cut suit the rows of a file."""

import shlex
from itertools import islice
from typing import TYPE_CHECKING

from ramify.cli import _options as options
from ramify.cli._console import note, print_json, verb

if TYPE_CHECKING:
    from ramify.advice import Recommendation

NAME = "recommend"
EXAMPLES = ("ramify recommend vectors.npy", "ramify recommend flowers.csv --id-column name")

_ROWS = 100_000  # the first of a file


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

    Looks at 2,000 of the first 100,000 rows.
    """
    import numpy as np  # not for --help

    from ramify.advice import recommend

    reading = options.read_options(columns, id_column, label_column, field, member, header, 10_000)
    with options.open_data(data, reading, format) as source:
        parts = [batch.rows for batch in islice(source, _ROWS // 10_000)]
    if not parts:
        raise ValueError(f"{data} holds no rows")
    advice = recommend(np.concatenate(parts))
    if json:
        print_json(_plain(advice))
        return
    print(advice)
    name = shlex.quote(data)
    note(
        f"ramify fit {name} -o tree.ramify --metric {advice.metric} --linkage {advice.linkage}\n"
        f"ramify cut tree.ramify {_words(advice)}",
        quiet=quiet,
    )


def _words(advice: "Recommendation") -> str:
    """The cut as options of `ramify cut`."""
    if "height" in advice.cut:
        return f"--height {advice.cut['height']:.6g}"
    return f"-k {advice.cut['n_clusters']}"


def _plain(advice: "Recommendation") -> dict[str, object]:
    names = ("kind", "metric", "linkage", "gamma", "scale")
    facts: dict[str, object] = {name: getattr(advice, name) for name in names}
    return facts | {"cut": dict(advice.cut), "reasons": dict(advice.reasons)}
