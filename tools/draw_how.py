# SPDX-License-Identifier: BSD-3-Clause
"""draw_how.py: the drawings of "How it works": docs/pictures/split.svg and otd.svg.

    python tools/draw_how.py

A tree is written as nested pairs of names; leaves stand at the bottom in the order
written, and a node above the middle of its children.
"""

from __future__ import annotations

from pathlib import Path

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
INK, FAINT, PATH, NEW, PAPER = "#333333", "#6b7177", "#ee6677", "#4477aa", "#ffffff"
TEXT = 'font-family="Helvetica, Arial, sans-serif"'


class Canvas:
    """SVG elements, in the order in which they are painted."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{title}">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>',
        ]

    def line(self, x1, y1, x2, y2, color=INK, width=2.0, dash="") -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" '
            f'stroke-width="{width:g}" stroke-linecap="round"{dashed}/>'
        )

    def dot(self, x, y, color=INK, r=4.5, fill=None, dash="") -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill or color}" stroke="{color}" '
            f'stroke-width="2"{dashed}/>'
        )

    def text(self, x, y, words, color=INK, size=15, anchor="middle", weight="normal") -> None:
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{color}" font-size="{size}" {TEXT} '
            f'text-anchor="{anchor}" font-weight="{weight}">{words}</text>'
        )

    def arrow(self, x1, y1, x2, y2, color=FAINT) -> None:
        self.line(x1, y1, x2, y2, color, 2)
        side = 6 if x2 > x1 else -6
        if abs(x2 - x1) > abs(y2 - y1):
            head = f"{x2 - side},{y2 - 5} {x2},{y2} {x2 - side},{y2 + 5}"
        else:
            head = f"{x2 - 5},{y2 - 6} {x2},{y2} {x2 + 5},{y2 - 6}"
        self.parts.append(
            f'<polyline points="{head}" fill="none" stroke="{color}" stroke-width="2" '
            f'stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def save(self, name: str) -> None:
        (PICTURES / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def leaves(tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for child in tree for leaf in leaves(child)]


def depth(tree) -> int:
    return 0 if isinstance(tree, str) else 1 + max(map(depth, tree))


def draw(canvas, tree, x, base, *, step=34, rise=34, path=(), new=()) -> tuple[float, float]:
    """Draw a tree whose leftmost leaf is at x, and return the place of its root.

    Nodes above a leaf named in ``path`` are marked, edges above one in ``new`` too.
    """
    if isinstance(tree, str):
        marked = PATH if tree in path else NEW if tree in new else INK
        canvas.dot(x, base, marked)
        canvas.text(x, base + 24, f"<tspan font-style='italic'>{tree}</tspan>", marked, 16)
        return x, base
    places, at = [], x
    for child in tree:
        places.append(draw(canvas, child, at, base, step=step, rise=rise, path=path, new=new))
        at += step * len(leaves(child))
    top = base - rise * depth(tree)
    middle = sum(place[0] for place in places) / len(places)
    marked = PATH if set(path) & set(leaves(tree)) else INK
    for child, (cx, cy) in zip(tree, places, strict=True):
        on_path = bool(set(path) & set(leaves(child)))
        color = PATH if on_path else INK
        canvas.parts.insert(3, _elbow(middle, top, cx, cy, color))
    canvas.dot(middle, top, marked, r=4, fill=PAPER)
    return middle, top


def _elbow(x1, y1, x2, y2, color) -> str:
    return (
        f'<polyline points="{x1:g},{y1:g} {x2:g},{y1:g} {x2:g},{y2:g}" fill="none" '
        f'stroke="{color}" stroke-width="2" stroke-linejoin="round"/>'
    )


def split() -> None:
    """OHAC's step: the tree, the forest, the new tree."""
    canvas = Canvas(860, 290, "An insert of OHAC: the root path is taken out, the rest merged")
    base = 215
    canvas.text(125, 34, "1. Find the nearest leaf", weight="bold")
    draw(canvas, ((("a", "b"), ("y", "c")), (("d", "e"), "f")), 40, base, path=("y",))
    canvas.dot(124, base + 50, NEW)
    canvas.text(142, base + 55, "<tspan font-style='italic'>x</tspan>, new", NEW, 16, "start")
    canvas.text(400, 34, "2. Split: take out its root path", weight="bold")
    draw(canvas, ("a", "b"), 296, base)
    draw(canvas, "y", 366, base)
    draw(canvas, "c", 402, base)
    draw(canvas, (("d", "e"), "f"), 438, base)
    draw(canvas, "x", 546, base, new=("x",))
    canvas.text(420, base + 55, "a forest: every subtree stays whole", FAINT)
    canvas.text(715, 34, "3. Merge the forest by HAC", weight="bold")
    draw(canvas, ((("a", "b"), "c"), (("x", "y"), (("d", "e"), "f"))), 610, base, new=("x",))
    canvas.text(715, base + 55, "closest two first", FAINT)
    canvas.arrow(262, 130, 288, 130)
    canvas.arrow(556, 130, 582, 130)
    canvas.save("split.svg")


def otd() -> None:
    """OTD's two cases at a node."""
    canvas = Canvas(860, 320, "The two cases of an insert of OTD: stop above the node, or go down")
    _cloud(canvas, 60, 150, far=True)
    canvas.text(215, 34, "Far from T: stop", weight="bold")
    canvas.text(215, 58, "x is less like T than T's points are like each other", FAINT, 14)
    _triangle(canvas, 300, 225, "A", 50)
    _triangle(canvas, 370, 225, "B", 50)
    _join(canvas, 300, 370, 175, 157, "T")
    canvas.dot(410, 157, NEW)
    canvas.text(410, 181, "<tspan font-style='italic'>x</tspan>", NEW, 16)
    canvas.parts.insert(3, _elbow(372, 118, 335, 157, NEW))
    canvas.parts.insert(3, _elbow(372, 118, 410, 157, NEW))
    canvas.dot(372, 118, NEW, r=4, fill=PAPER)
    canvas.text(345, 270, "x becomes the sibling of T", INK, 14)
    canvas.line(440, 30, 440, 290, "#e3e5e8", 1.5)
    _cloud(canvas, 480, 150, far=False)
    canvas.text(645, 34, "Among T's points: go down", weight="bold")
    canvas.text(645, 58, "to the child that is more like x, and ask again there", FAINT, 14)
    _triangle(canvas, 720, 225, "A", 50)
    _triangle(canvas, 790, 225, "B", 50)
    _join(canvas, 720, 790, 175, 138, "T")
    canvas.dot(755, 92, NEW)
    canvas.text(770, 97, "<tspan font-style='italic'>x</tspan>", NEW, 16, "start")
    canvas.arrow(755, 102, 755, 126, NEW)
    canvas.line(760, 138, 790, 138, NEW)
    canvas.arrow(790, 138, 790, 171, NEW)
    canvas.text(760, 270, "at a single point x stops, too", INK, 14)
    canvas.save("otd.svg")


def _cloud(canvas: Canvas, left: float, middle: float, *, far: bool) -> None:
    """T's points in the plane, its parts A and B, and the new point."""
    a = [(20, 30), (38, 12), (44, 44), (62, 28), (30, 58)]
    b = [(96, 62), (112, 94), (128, 50), (148, 84)]
    for dx, dy in a + b:
        canvas.dot(left + dx, middle + dy - 20, INK, r=3.5)
    canvas.dot(left + 40, middle + 14, FAINT, r=46, fill="none", dash="4 4")
    canvas.dot(left + 121, middle + 50, FAINT, r=42, fill="none", dash="4 4")
    canvas.text(left - 6, middle - 24, "A", FAINT)
    canvas.text(left + 160, middle + 100, "B", FAINT)
    x, y = (left + 150, middle - 62) if far else (left + 119, middle + 48)
    canvas.dot(x, y, NEW)
    canvas.text(x + 14, y - 4 if far else y + 6, "<tspan font-style='italic'>x</tspan>", NEW, 16)


def _triangle(canvas: Canvas, x: float, base: float, name: str, height: float) -> None:
    """A subtree that is not looked into."""
    canvas.parts.append(
        f'<polygon points="{x},{base - height} {x - 26},{base} {x + 26},{base}" fill="#f1f3f4" '
        f'stroke="{INK}" stroke-width="2" stroke-linejoin="round"/>'
    )
    canvas.text(x, base - 12, name)


def _join(canvas: Canvas, x1: float, x2: float, y: float, top: float, name: str) -> None:
    middle = (x1 + x2) / 2
    for x in (x1, x2):
        canvas.parts.insert(3, _elbow(middle, top, x, y, INK))
    canvas.dot(middle, top, INK, r=4, fill=PAPER)
    canvas.text(middle - 16, top - 6, name)


if __name__ == "__main__":
    split()
    otd()
