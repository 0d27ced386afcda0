# SPDX-License-Identifier: BSD-3-Clause
"""The map of a tree, laid out by the script of the pages, in a real browser."""

from importlib.resources import files

import numpy as np
import pytest

from tests.test_explore import browser  # noqa: F401 - a fixture

pytestmark = pytest.mark.no_asan  # a browser, which has no room for a sanitizer

WIDTH, HEIGHT = 900, 600
SCRIPT = """
    const [blocks, later] = arguments;
    const frame = [[0, 0], [900, 0], [900, 600], [0, 600]];
    const memory = new Map();
    const told = (cell) => (cell === null ? null : [areaOf(cell), ...middleOf(cell)]);
    const now = cellsOf(blocks, frame, memory);
    const alone = { key: blocks[1].key, size: blocks[1].size };
    const below = blocks.map((block, i) => [block, i]).filter(([block]) => block.parent === 1);
    const part = [{ ...alone, parent: -1 }, ...below.map(([block]) => ({ ...block, parent: 0 }))];
    const large = (cell) => fitted(cell, 900, 600);
    const nearby = cellsOf(part, large(now[1]), new Map(memory)).slice(1);
    return {
      now: now.map(told),
      then: cellsOf(later, frame, memory).map(told),
      sizes: below.map(([, i]) => (now[i] === null ? null : told(now[i])[0] / told(now[1])[0])),
      alone: nearby.map((cell) => (cell === null ? null : told(cell)[0] / told(large(now[1]))[0])),
      nested: now.every((cell, i) => {
        if (cell === null || i === 0) return true;
        return isInside(now[blocks[i].parent], ...middleOf(cell));
      }),
    };
"""


def random_tree(rng, n_blocks):
    """Blocks as the page has them, by splitting one at a time; keys are not in any order."""
    keys = rng.permutation(10 * n_blocks)[:n_blocks].tolist()
    blocks = [{"key": keys[0], "parent": -1, "size": 10_000}]
    open_ = [0]
    while len(blocks) + 1 < n_blocks and open_:
        at = open_.pop(int(rng.integers(len(open_))))
        size = blocks[at]["size"]
        if size < 4:
            continue
        first = int(rng.integers(1, size))
        for part in (first, size - first):
            open_.append(len(blocks))
            blocks.append({"key": keys[len(blocks)], "parent": at, "size": part})
    return blocks


def grown(rng, blocks, points):
    """The same blocks after some more points, each of which is in all blocks above its own."""
    later = [dict(block) for block in blocks]
    for i in rng.integers(len(blocks), size=points).tolist():
        while any(block["parent"] == i for block in blocks):  # down to the end of a branch
            i = max((j for j, block in enumerate(blocks) if block["parent"] == i), key=lambda j: j)
        while i >= 0:
            later[i]["size"] += 1
            i = blocks[i]["parent"]
    return later


@pytest.mark.parametrize("seed", range(6))
def test_cells_are_as_large_as_their_shares_inside_one_another_and_stay(seed, browser):  # noqa: F811
    rng = np.random.default_rng(seed)
    blocks = random_tree(rng, 3 + 20 * seed)
    later = grown(rng, blocks, 100)  # one in a hundred
    script = (files("ramify.plot") / "page" / "map.js").read_text("utf-8")
    browser.get("data:,")
    found = browser.execute_script(script + SCRIPT, blocks, later)
    whole = WIDTH * HEIGHT
    assert found["nested"]
    seen = [i for i, cell in enumerate(found["now"]) if cell is not None]
    assert len(seen) > len(blocks) / 4
    for i in seen:
        share = blocks[i]["size"] / blocks[0]["size"]
        assert found["now"][i][0] / whole == pytest.approx(share, abs=1e-6)
        if share > 0.01:
            area, x, y = found["now"][i]
            _, u, v = found["then"][i]
            assert np.hypot(x - u, y - v) < np.sqrt(area) / 3  # an old region stays where it was
    # A part that fills the picture is divided as it is in the whole.
    for alone, inside in zip(found["alone"], found["sizes"], strict=True):
        assert alone is None or inside is None or alone == pytest.approx(inside)
