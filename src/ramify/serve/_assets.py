# SPDX-License-Identifier: BSD-3-Clause
"""_assets.py: the files of the live page."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from starlette.responses import Response

from ramify.scripts import joined

#: The page's script, in the order in which its parts begin.
_PARTS = ["ask", "map", "icicle", "panel", "timeline", "walk", "find", "curves", "begin"]
_OWN, _SHARED = files("ramify.serve"), files("ramify.plot")


def _html() -> str:
    return (_OWN / "live.html").read_text(encoding="utf-8")


def _script() -> str:
    own = [_OWN / "page" / f"{part}.js" for part in _PARTS]
    return joined(_SHARED / "page" / "map.js", *own)


def _looks() -> str:
    looks = (_SHARED / "explore.css", _OWN / "live.css")
    return "".join(one.read_text(encoding="utf-8") for one in looks)


def _answer(read: Callable[[], str], kind: str) -> Callable[[], Awaitable[Response]]:
    async def answer() -> Response:
        return Response(read(), media_type=f"{kind}; charset=utf-8")

    return answer


PAGE = {
    "/": _answer(_html, "text/html"),
    "/live.js": _answer(_script, "text/javascript"),
    "/live.css": _answer(_looks, "text/css"),
}
