# SPDX-License-Identifier: BSD-3-Clause
"""_edits.py: what people say about a tree, over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ramify.journal.seam import plain_name, plain_node
from ramify.serve._served import Served

_BIGGEST = 2**53  # beyond, JSON's readers differ

Point = Annotated[str, Field(max_length=1000)] | Annotated[int, Field(ge=-_BIGGEST, le=_BIGGEST)]

#: What each edit speaks of.
_PARTS = {
    **dict.fromkeys(("must_link", "cannot_link", "unlink"), ("i", "j")),
    "move": ("node", "under"),
    "release": ("node",),
    "rename": ("node", "text"),
}


class Edit(BaseModel):
    """One edit: of two points ``i`` and ``j``, or of a ``node``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    edit: Literal["must_link", "cannot_link", "unlink", "move", "release", "rename"]
    i: Point | None = None
    j: Point | None = None
    node: Point | None = None
    under: Point | None = None
    text: Annotated[str, Field(max_length=1000)] | None = None

    def options(self) -> dict[str, Any]:
        """What the estimator's verb is called with; ValueError if something is missing."""
        wanted = _PARTS[self.edit]
        given = {name for name in self.model_fields_set if name != "edit"}
        if given != set(wanted):
            raise ValueError(f"{self.edit} speaks of {' and '.join(wanted)}")
        found = {name: getattr(self, name) for name in wanted}
        for name, value in found.items():
            if name == "text":
                plain_name(value)
            elif value is None:
                raise ValueError(f"{name} is missing")
            else:
                plain_node(value)
        if self.edit in ("release", "rename") and isinstance(self.node, str):
            raise ValueError("node: expected the id of a node, a number")
        return found


def told(served: Served) -> dict[str, Any]:
    """All that people have said about a tree."""
    found = served.tree.edit.list()
    return {
        "names": [{"node": node, "text": text} for node, text in found.names.items()],
        "lost_names": [{"node": node, "text": text} for node, text in found.lost_names.items()],
        "linked": [group.tolist() for group in found.linked],
        "apart": found.apart.tolist(),
        "held": found.held.tolist(),
    }
