# SPDX-License-Identifier: BSD-3-Clause
"""_page.py: one HTML file that needs nothing else, with data from strangers in it."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ramify.scripts import joined
from ramify.writing import write_whole

#: The script of the page to explore, in the order in which its parts begin.
_PARTS = ["data", "map", "icicle", "map_view", "walk", "panel", "find", "begin"]


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """A page to open in a browser. Notebooks show it in place.

    Attributes
    ----------
    html : str
        The whole page.
    path : pathlib.Path or None
        Where it was last written.

    Examples
    --------
    >>> import ramify
    >>> from ramify.plot import explore
    >>> page = explore(ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy())
    >>> page.html.startswith("<!doctype html>"), page.path is None
    (True, True)
    """

    html: str
    path: Path | None = None

    def save(self, path: str | os.PathLike[str]) -> Page:
        """Write the page into a file, whole or not at all.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Page
            The same, with its new ``path``.

        Examples
        --------
        >>> import os, tempfile, ramify
        >>> from ramify.plot import explore
        >>> page = explore(ramify.HAC().fit([[0.0], [1.0], [5.0]]).hierarchy())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page.save(os.path.join(folder, "tree.html")).path.name
        'tree.html'
        """
        write_whole(path, self.html)
        return Page(self.html, Path(path))

    def __repr__(self) -> str:
        where = "" if self.path is None else f" in {self.path}"
        return f"<Page: {len(self.html.encode()):,} bytes{where}>"

    def _repr_html_(self) -> str:
        # A frame of its own, which may run scripts and reach nothing else.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads" '
            'style="width: 100%; height: 720px; border: 0"></iframe>'
        )


def fill_page(title: str, data: Mapping[str, Any]) -> str:
    """explore.html with its style, script and data in their places."""
    folder = files("ramify.plot")
    read = {
        name: (folder / f"explore.{name}").read_text(encoding="utf-8") for name in ("html", "css")
    }
    parts = {
        "title": html.escape(_printable(title)),
        "css": read["css"],
        "js": joined(*(folder / "page" / f"{part}.js" for part in _PARTS)),
        "data": script_safe_json(data),
    }
    # One pass, so that a name like {{js}} stays a name.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], read["html"])


def script_safe_json(data: Mapping[str, Any]) -> str:
    """JSON that no browser takes for markup, whatever the names in it.

    Examples
    --------
    >>> script_safe_json({"name": "</script>"})
    '{"name":"\\\\u003c/script>"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _printable(text.replace("<", "\\u003c"))


def _printable(text: str) -> str:
    """Half a surrogate pair is no character, and no file could hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")
