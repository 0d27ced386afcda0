# SPDX-License-Identifier: BSD-3-Clause
"""scripts.py: the script of a page, out of several files that share their names."""

from importlib.resources.abc import Traversable


def joined(*parts: Traversable) -> str:
    """Pieces of a script in one function, which shares its names with nothing else on the page.

    Examples
    --------
    >>> from importlib.resources import files
    >>> joined(files("ramify.plot") / "page" / "map.js").splitlines()[0]
    '"use strict";'
    """
    pieces = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    return f'"use strict";\n(() => {{\n{pieces}}})();\n'
