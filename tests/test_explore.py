# SPDX-License-Identifier: BSD-3-Clause
"""The page to explore a tree: what it knows is right, and a real browser shows it."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import os
import re
import shutil
import time
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

import ramify
from ramify import Hierarchy
from ramify.palette import cluster_colors
from ramify.plot import _explore, _page, explore
from tests.shapes import balanced, chain, trees
from tests.strategies import seeds

NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"double\" 'single' `back` \\slash",
    "日本語の名前 🌳",
    "Ærøskøbing, Łódź",
    "{{js}} {{data}} $& $1",
    "line\u2028separator\u2029 and\ttab\nnewline",
    "half a pair \ud83c here",
    "<!-- comment --> & &amp; ]]>",
    "",
]


def payload_in(page):
    """The data of a page, as a browser would read it."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.S)
    return json.loads(text[1])


def numbers(text, width):
    return np.frombuffer(base64.b64decode(text), dtype=f"<u{width}").astype(int)


def tree_of(children):
    return Hierarchy(children, np.arange(len(children), dtype=float))


def children_of(data, i):
    return [j for j, parent in enumerate(data["parent"]) if parent == i]


def clusters_on_the_page(data, k):
    """The cluster of each block as the page finds it: a block, or -1 above the cut."""
    heads = []
    for i, parent in enumerate(data["parent"]):
        if children_of(data, i) and data["last"][i] >= 2 * data["n"] - k:
            heads.append(-1)
        else:
            heads.append(i if parent < 0 or heads[parent] < 0 else heads[parent])
    return heads


# --- what the page knows -----------------------------------------------------------


@st.composite
def payloads(draw):
    """A tree, its points, and what a page with little room knows of it."""
    tree = tree_of(draw(trees(max_size=40)))
    rows = np.random.default_rng(draw(seeds())).integers(0, 5, size=(tree.n_leaves, 2))
    room = draw(st.integers(9, 90), label="blocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_explore, "_MOST_CLUSTERS", 5)
        points = draw(st.sampled_from([rows.astype(float), None]))
        return tree, points, _explore._payload(tree, points, None, 1, room)


@given(known=payloads())
def test_every_point_is_in_one_innermost_block_and_counts_add_up(known):
    tree, _, data = known
    owner = numbers(data["index"]["owner"], data["index"]["width"])
    own = np.bincount(owner, minlength=len(data["top"]))
    for i, v in enumerate(data["top"]):
        below = children_of(data, i)
        assert data["size"][i] == tree.sizes[v] == own[i] + sum(data["size"][j] for j in below)
        inside = set(np.flatnonzero(owner == i).tolist())
        outside = [set(tree.leaves(data["top"][j]).tolist()) for j in below]
        assert inside == set(tree.leaves(v).tolist()).difference(*outside)


@given(known=payloads())
def test_the_clusters_of_the_page_are_those_of_the_cut(known):
    tree, _, data = known
    owner = numbers(data["index"]["owner"], data["index"]["width"])
    assert data["max_k"] == min(5, tree.n_leaves)
    for k in range(1, data["max_k"] + 1):
        heads = np.array(clusters_on_the_page(data, k))[owner]
        assert (heads >= 0).all()
        pairs = set(zip(heads.tolist(), tree.cut(n_clusters=k).tolist(), strict=True))
        assert len(pairs) == len({head for head, _ in pairs}) == k


@given(known=payloads())
def test_heights_depths_and_paths_are_those_of_the_nodes(known):
    tree, _, data = known
    path = []
    for i, (v, parent) in enumerate(zip(data["top"], data["parent"], strict=True)):
        path.append("" if parent < 0 else path[parent] + data["run"][parent] + data["turn"][i])
        assert path[i] == tree.path_code(v)
        assert data["depth"][i] == len(path[i])
        at = tree.monotone_heights[v - tree.n_leaves] if v >= tree.n_leaves else 0.0
        assert data["height"][i] == pytest.approx(at)


@given(known=payloads())
def test_the_points_listed_are_the_nearest_to_the_mean(known):
    tree, rows, data = known
    for v, members in zip(data["top"], data["members"], strict=True):
        leaves = tree.leaves(v)
        assert set(members) <= set(leaves.tolist())
        assert len(members) == len(set(members)) == min(5, len(leaves))
        if rows is not None:
            gaps = ((rows - rows[leaves].mean(axis=0)) ** 2).sum(axis=1)
            worst = max(gaps[members])
            others = leaves[~np.isin(leaves, members)]
            assert (gaps[others] >= worst - 1e-9).all()


def test_means_are_added_up_in_batches(monkeypatch):
    monkeypatch.setattr(_explore, "_NUMBERS_AT_ONCE", 64)
    X = np.random.default_rng(0).normal(size=(700, 3)) + 1e6
    tree = ramify.HAC().fit(X).hierarchy()
    top = _explore.outline(tree, 61)
    order = _explore.leaf_order(tree)
    means = _explore._means(top, order, X, _explore._stretches(top, order))
    wanted = [X[tree.leaves(v)].mean(axis=0) for v in top.top]
    np.testing.assert_allclose(means, wanted, rtol=0, atol=1e-8)


def test_long_paths_are_begun_and_counted():
    tree = tree_of(chain(3_000))
    data = payload_in(explore(tree, max_blocks=399))
    deepest = int(np.argmax(data["depth"]))
    turns, i = "", deepest
    while i >= 0:
        parent = data["parent"][i]
        turns = ("" if parent < 0 else data["run"][parent]) + data["turn"][i] + turns
        i = parent
    code = tree.path_code(data["top"][deepest])
    assert data["depth"][deepest] == len(code) > 64
    assert code.startswith(turns[:64])
    assert len(turns) >= 64


@given(known=payloads())
def test_the_first_point_of_a_block_is_its_earliest(known):
    tree, _, data = known
    assert data["first"] == [int(tree.leaves(v).min()) for v in data["top"]]


def test_columns_are_means_and_majorities_of_blocks():
    X = np.random.default_rng(0).normal(size=(40, 2))
    tree = ramify.HAC().fit(X).hierarchy()
    heat = np.where(np.arange(40) == 7, np.nan, X[:, 0])
    kind = np.where(X[:, 1] > 0, "up", "down")
    data = payload_in(explore(tree, columns={"heat": heat, "kind": kind}))
    by_name = {column["name"]: column for column in data["columns"]}
    assert by_name["heat"]["kind"] == "number"
    words = by_name["kind"]["words"]
    for i, v in enumerate(data["top"]):
        leaves = tree.leaves(v)
        known = heat[leaves][~np.isnan(heat[leaves])]
        if len(known) == 0:
            assert by_name["heat"]["values"][i] is None
        else:
            assert by_name["heat"]["values"][i] == pytest.approx(known.mean(), rel=1e-3, abs=1e-4)
        up = (kind[leaves] == "up").mean()
        assert by_name["kind"]["share"][i] == pytest.approx(max(up, 1 - up), abs=1e-3)
        if up != 0.5:
            assert words[by_name["kind"]["values"][i]] == ("up" if up > 0.5 else "down")
    with pytest.raises(ValueError, match="column 'heat': expected 40, one for each point"):
        explore(tree, columns={"heat": heat[:3]})
    with pytest.raises(ValueError, match="columns: expected at most 20, got 21"):
        explore(tree, columns={str(i): heat for i in range(21)})


def test_rare_words_share_a_colour():
    tree = tree_of(balanced(100))
    column = payload_in(explore(tree, columns={"id": [f"w{i}" for i in range(100)]}))["columns"][0]
    assert len(column["words"]) == 25
    assert column["words"][-1] == "other"


def test_colours_repeated_after_36_clusters():
    assert len(set(cluster_colors(60))) == 60
    assert payload_in(explore(tree_of(balanced(9))))["colors"] == cluster_colors(60)


# --- what the page is ----------------------------------------------------------------


def test_names_of_any_kind_come_through_unharmed():
    X = np.arange(float(len(NASTY)))[:, None] ** 2
    page = explore(ramify.HAC().fit(X).hierarchy(), X, NASTY, title="<b>&{{css}}")
    wanted = [" ".join(name.split()).replace("\ud83c", "?") for name in NASTY]
    assert payload_in(page)["index"]["names"] == wanted
    assert page.html.count("<script") == page.html.count("</script>") == 2
    assert "<img" not in page.html
    assert "<title>&lt;b&gt;&amp;{{css}}</title>" in page.html
    page.html.encode("utf-8")


def test_names_that_people_gave_are_on_the_page():
    model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [5.5], [6.0]])
    node = model.lca(2, 4)
    model.edit.rename(node, NASTY[0])
    tree = model.hierarchy()
    data = payload_in(explore(tree))
    ((block, text),) = data["called"]
    assert tree.node_ids[data["top"][block] - 5] == node
    assert text == " ".join(tree.node_names[int(node)].split())
    assert payload_in(explore(tree.with_node_names({})))["called"] == []


def test_the_page_asks_for_nothing_from_outside():
    page = explore(tree_of(balanced(50)))
    assert "default-src 'none'" in page.html
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:|//)""", page.html)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket", page.html)


def test_the_same_tree_gives_the_same_page():
    X = np.random.default_rng(0).normal(size=(300, 2))
    tree = ramify.OHAC().fit(X).hierarchy()
    assert explore(tree, X).html == explore(tree, X).html


def test_a_page_is_written_whole_and_shown_in_notebooks(tmp_path):
    tree = tree_of(balanced(9)).with_names([f"leaf {i}" for i in range(9)])
    page = explore(tree, path=tmp_path / "tree.html")
    assert page.path == tmp_path / "tree.html"
    assert page.path.read_text(encoding="utf-8") == page.html
    assert list(tmp_path.iterdir()) == [page.path]
    assert re.fullmatch(r"<Page: [\d,]+ bytes in .*tree\.html>", repr(page))
    assert payload_in(page)["index"]["names"][3] == "leaf 3"
    frame = re.search(r'srcdoc="([^"]*)"', page._repr_html_())
    assert html.unescape(frame[1]) == page.html
    with pytest.raises(FileNotFoundError):
        page.save(tmp_path / "no such folder" / "tree.html")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": 0}, ValueError, "k=0: expected 1 to 50"),
        ({"k": 51}, ValueError, "k=51: expected 1 to 50"),
        ({"max_blocks": 10}, ValueError, "max_blocks=10: expected at least 399"),
        ({"names": ["a"]}, ValueError, "names: expected 50, one for each point, got 1"),
        ({"X": np.ones((3, 2))}, ValueError, "X: expected 50 rows, one for each point, got 3"),
        ({"X": [["a"]] * 50}, TypeError, "expected an array of numbers"),
    ],
)
def test_wrong_options_say_what_would_be_right(options, error, message):
    with pytest.raises(error, match=message):
        explore(tree_of(balanced(50)), **options)


@pytest.mark.parametrize("maker", [chain, balanced])
def test_the_page_of_a_large_tree_is_small_and_soon_made(maker):
    n = 300_000
    tree = tree_of(maker(n))
    names = [f"日本語 <b> point number {i} with a long name" for i in range(n)]
    X = np.random.default_rng(0).normal(size=(n, 3))
    start = time.perf_counter()
    page = explore(tree, X, names)
    assert time.perf_counter() - start < 30  # 3 s on a quiet machine
    assert len(page.html.encode()) < 10_000_000
    data = payload_in(page)
    kept = numbers(data["index"]["points"], 4)
    assert 30_000 < len(kept) == len(data["index"]["names"]) < n
    assert (np.diff(kept) > 0).all()  # the page looks points up by halving
    assert {i for some in data["members"][:500] for i in some} <= set(kept.tolist())
    for at in range(0, len(kept), 1000):
        assert data["index"]["names"][at] == names[kept[at]]


def test_many_short_names_do_not_fill_the_page_with_numbers(monkeypatch):
    monkeypatch.setattr(_explore, "_INDEXED", 1000)
    monkeypatch.setattr(_explore, "_NAME_BYTES", 3500)  # of 4000
    index = payload_in(explore(tree_of(balanced(1000)), names=["x"] * 1000))["index"]
    assert len(index["names"]) == len(numbers(index["points"], 4)) == 500


def test_points_beyond_the_index_are_left_out_by_chance(monkeypatch):
    monkeypatch.setattr(_explore, "_INDEXED", 100)
    data = payload_in(explore(tree_of(balanced(300))))
    kept = numbers(data["index"]["points"], 4)
    assert len(kept) == len(numbers(data["index"]["owner"], 2)) == 50
    assert (np.diff(kept) > 0).all()
    assert data["index"]["names"] is None


# --- in a browser ------------------------------------------------------------------------


def find_browser():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    return browser, shutil.which("chromedriver")


class Window:
    """A headless browser, and what a person would do with it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, page, folder):
        target = page.path or page.save(Path(folder) / "page.html").path
        self.driver.get(target.as_uri())
        self.settle()

    def picture(self):
        """The canvas as an array of pixels: (height, width, 3)."""
        script = "return document.getElementById('icicle').toDataURL()"
        address = self.driver.execute_script(script)
        data = base64.b64decode(address.split(",")[1])
        return (255 * imread(io.BytesIO(data), format="png")[..., :3]).round().astype(int)

    def settle(self):
        """Wait until nothing moves: two pictures some frames apart are equal."""
        before = self.picture()
        for _ in range(100):
            time.sleep(0.08)
            now = self.picture()
            if now.shape == before.shape and (now == before).all():
                return
            before = now
        raise AssertionError("the picture does not come to rest")

    def find(self, css):
        return self.driver.find_elements("css selector", css)

    def text(self, css):
        return self.find(css)[0].text

    def rows(self):
        """The middle of each row of blocks, in pixels of the picture from its top."""
        edge = self.picture()[:, 3]  # left of all texts and of the frame of the chosen block
        painted = np.concatenate([[False], (edge != edge[-1]).any(axis=1), [False]])
        ends = np.flatnonzero(painted[1:] != painted[:-1])
        return (ends[::2] + ends[1::2]) // 2

    def color(self, x, row):
        """The usual colour around a share of the width, in the n-th row of blocks."""
        picture, y = self.picture(), self.rows()[row]
        x = int(x * picture.shape[1])
        seen = picture[y - 8 : y + 9, max(x - 4, 0) : x + 5].reshape(-1, 3)
        colors, counts = np.unique(seen, axis=0, return_counts=True)
        return tuple(colors[counts.argmax()].tolist())

    def paper(self):
        """The colour of the last pixel."""
        return tuple(self.picture()[-1, -1].tolist())

    def colors(self):
        """All colours of the picture that cover more than a little of it."""
        codes = (self.picture() @ [1 << 16, 1 << 8, 1]).ravel()
        found = np.flatnonzero(np.bincount(codes) > 100)
        return {(code >> 16, code >> 8 & 255, code & 255) for code in found.tolist()}

    def click(self, x, row):
        """Click at a share of the width, into the n-th row of blocks."""
        from selenium.webdriver import ActionChains

        canvas = self.find("#icicle")[0]
        y = self.rows()[row] * canvas.size["height"] / len(self.picture())
        left = round((x - 0.5) * canvas.size["width"])
        top = round(y - canvas.size["height"] / 2)
        ActionChains(self.driver).move_to_element_with_offset(canvas, left, top).click().perform()
        self.settle()

    def press(self, css, *keys):
        for key in keys:
            self.find(css)[0].send_keys(key)
        self.settle()

    def facts(self):
        names, values = self.find("#details dt"), self.find("#details dd")
        return {name.text: value.text for name, value in zip(names, values, strict=True)}

    def crumbs(self):
        return [button.text for button in self.find("#crumbs button")]

    def requests(self):
        """Addresses asked for since this was last called."""
        found = []
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                found.append(event["params"]["request"]["url"])
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path, driver_path = find_browser()
    if path is None or driver_path is None:
        pytest.skip("no browser: chromium and chromedriver are not both on the PATH")
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("no browser starts below a sanitizer")
    pytest.importorskip("selenium", reason="selenium drives the browser")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = path
    flags = "headless disable-gpu disable-dev-shm-usage disable-quic no-first-run hide-scrollbars"
    flags += " disable-background-networking disable-component-update disable-sync"
    if os.name == "posix" and os.geteuid() == 0:
        flags += " no-sandbox"  # which root cannot have
    for flag in flags.split():
        options.add_argument(f"--{flag}")
    options.add_argument("--window-size=1280,900")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    yield driver
    driver.quit()


@pytest.fixture
def window(browser):
    """A window that complains about errors on the console and requests to anywhere."""
    view = Window(browser)
    browser.set_window_size(1280, 900)
    browser.get("data:,")
    browser.get_log("browser")
    view.requests()
    yield view
    assert browser.get_log("browser") == []
    schemes = {urlparse(url).scheme for url in view.requests()}
    assert schemes <= {"file", "data", "about"}


def rgb(color):
    return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))


POINTS = np.concatenate(
    [
        np.random.default_rng(0).normal(size=(60, 2)),
        np.random.default_rng(1).normal((40, 0), size=(30, 2)),
        np.random.default_rng(2).normal((40, 25), size=(10, 2)),
    ]
)
NAMES = [f"north {i}" for i in range(60)] + [f"Süd {i}" for i in range(60, 100)]


@pytest.fixture(scope="module")
def three_groups():
    """Sizes 60, 30 and 10, with 30 and 10 below one merge."""
    return ramify.HAC().fit(POINTS).hierarchy()


@pytest.fixture
def explored(three_groups, window, tmp_path):
    window.open(explore(three_groups, POINTS, NAMES, k=3), tmp_path)
    return window


def test_it_draws_the_clusters_as_wide_as_they_are(explored):
    first, second, third = (rgb(color) for color in cluster_colors(3))
    trunk = explored.color(0.95, 0)
    assert trunk not in {first, second, third, explored.paper()}
    # 60 points are a cluster; the other 40 are two, of 30 and 10
    assert [explored.color(x, 1) for x in (0.3, 0.58, 0.62, 0.95)] == [first] * 2 + [trunk] * 2
    row = [explored.color(x, 2) for x in (0.55, 0.65, 0.88, 0.92, 0.98)]
    assert row == [first, second, second, third, third]


def test_a_click_looks_inside_and_another_goes_back(explored):
    assert explored.crumbs() == ["all 100 points"]
    explored.click(0.8, 1)
    assert len(explored.crumbs()) == 2
    assert explored.facts()["points"] == "40 (40.0 %)"
    second, third = (rgb(color) for color in cluster_colors(3)[1:])
    assert [explored.color(x, 1) for x in (0.1, 0.7, 0.8, 0.97)] == [second] * 2 + [third] * 2
    explored.click(0.5, 0)
    assert explored.crumbs() == ["all 100 points"]
    explored.click(0.8, 1)
    explored.find("#crumbs button")[0].click()
    explored.settle()
    assert explored.facts()["points"] == "100 (100.0 %)"


def test_the_slider_recolours_and_lists_the_clusters(explored, three_groups):
    from selenium.webdriver.common.keys import Keys

    shades = [rgb(color) for color in cluster_colors(60)]
    for k in (4, 5, 6):
        explored.press("#k", Keys.ARROW_RIGHT)
        assert explored.text("#k-says") == str(k)
        listed = [int(size.text) for size in explored.find("#clusters button .aside")]
        wanted = np.bincount(three_groups.cut(n_clusters=k))
        assert listed == sorted(wanted.tolist(), reverse=True)
        seen = explored.colors()
        assert [shade for shade in shades if shade in seen] == shades[:k]
    explored.press("#k", Keys.HOME)
    assert explored.text("#clusters h2") == "1 cluster"
    assert {explored.color(x, 1) for x in (0.3, 0.8)} == {rgb(cluster_colors(1)[0])}


def test_clusters_in_the_list_can_be_visited(explored):
    explored.find("#clusters button")[1].click()
    explored.settle()
    assert explored.facts()["points"] == "30 (30.0 %)"
    assert explored.facts()["cluster"] == "1, is one"


def test_search_finds_a_name_and_goes_there(explored):
    from selenium.webdriver.common.keys import Keys

    explored.press("#search", "sud 77")  # without the dots
    results = explored.find("#results li")
    assert [result.text.split("\n") for result in results] == [["1 point found"], ["Süd 77", "77"]]
    explored.press("#search", Keys.ENTER)
    assert explored.facts()["point"] == "77"
    assert explored.text("#details h2") == "Süd 77"
    assert explored.find("#search")[0].get_attribute("value") == "Süd 77"
    assert len(explored.crumbs()) > 2


def test_search_said_nothing_of_other_hits(explored):
    """It listed twelve, and lit none: now all of them are counted, and stay bright."""
    first = rgb(cluster_colors(1)[0])
    assert explored.color(0.3, 1) == first
    explored.press("#search", "sud")
    time.sleep(0.3)
    explored.settle()
    assert explored.text("#results li.count") == "40 points found; the best 12"
    assert explored.color(0.3, 1) != first, "no point of the first 60 is called so"
    second, third = (rgb(color) for color in cluster_colors(3)[1:])
    assert [explored.color(x, 2) for x in (0.65, 0.98)] == [second, third]
    clear_search(explored)
    assert explored.color(0.3, 1) == first


def clear_search(window):
    from selenium.webdriver.common.keys import Keys

    window.press("#search", Keys.CONTROL + "a", Keys.BACKSPACE)
    time.sleep(0.3)
    window.settle()


def test_the_best_match_came_after_others(window, tmp_path):
    names = ["a fireplace", "wood fire", "fire truck", "campfire", "fire", "fires"] + ["x"] * 4
    X = np.arange(10.0)[:, None]
    window.open(explore(ramify.HAC().fit(X).hierarchy(), X, names), tmp_path)
    window.press("#search", "fire")
    time.sleep(0.3)
    found = [one.text.split("\n")[0] for one in window.find("#results li[role=option]")]
    assert found == ["fire", "fires", "fire truck", "wood fire", "a fireplace", "campfire"]
    assert window.text("#results li.count") == "6 points found"


def test_clusters_had_other_numbers_than_the_cut(explored, three_groups):
    from selenium.webdriver.common.keys import Keys

    for k in (3, 4, 5):
        labels = three_groups.cut(n_clusters=k)
        sizes = np.bincount(labels)
        for button in explored.find("#clusters li button"):
            number = int(button.find_element("css selector", ".number").text)
            assert button.find_element("css selector", ".aside").text == str(sizes[number])
        for point in (0, 70, 95):
            explored.press("#search", Keys.CONTROL + "a", str(point), Keys.ENTER)
            assert explored.facts()["cluster"].split(",")[0] == str(labels[point])
        explored.press("#k", Keys.ARROW_RIGHT)


@pytest.fixture
def downloads(browser, tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    return folder


def downloaded(path):
    until = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until, list(path.parent.iterdir())
        time.sleep(0.05)
    return path.read_text(encoding="utf-8")


def test_members_and_labels_can_be_taken_away_as_csv(downloads, three_groups, window, tmp_path):
    names = [*NAMES]
    names[61] = 'said "no", twice'
    window.open(explore(three_groups, POINTS, names, k=3), tmp_path)
    labels = three_groups.cut(n_clusters=3)
    window.find("#clusters .row button")[0].click()
    rows = list(csv.DictReader(downloaded(downloads / "labels-3.csv").splitlines()))
    assert [int(row["label"]) for row in rows] == labels.tolist()
    assert [row["name"] for row in rows] == names
    window.click(0.8, 1)
    node = int(window.facts()["node"])
    window.find("#details summary")[0].click()
    window.settle()
    listed = [item.text.split("\n") for item in window.find("#details details li")]
    leaves = np.sort(three_groups.leaves(node)).tolist()
    assert listed == [[names[i], str(i)] for i in leaves]
    window.find("#details .row button")[0].click()
    rows = list(csv.DictReader(downloaded(downloads / f"points-of-node-{node}.csv").splitlines()))
    assert [int(row["point"]) for row in rows] == leaves
    assert [int(row["label"]) for row in rows] == labels[leaves].tolist()


def test_the_tree_is_coloured_by_a_column(three_groups, window, tmp_path):
    from selenium.webdriver.support.ui import Select

    kind = ["wild"] * 60 + ["tame"] * 40
    heat = [float(i >= 90) * 10 + i / 1000 for i in range(100)]
    page = explore(three_groups, POINTS, NAMES, k=3, columns={"kind": kind, "heat": heat})
    window.open(page, tmp_path)
    assert not window.find("#legend")[0].is_displayed()
    Select(window.find("#by")[0]).select_by_visible_text("kind")
    window.settle()
    wild, tame = (rgb(color) for color in cluster_colors(2))
    assert [window.color(x, 1) for x in (0.3, 0.8)] == [wild, tame]
    assert window.text("#legend h2") == "kind"
    assert [item.text for item in window.find("#legend li")] == ["wild", "tame"]
    window.click(0.8, 1)
    assert window.facts()["kind"] == "tame (100 %)"
    Select(window.find("#by")[0]).select_by_visible_text("heat")
    window.settle()
    assert window.color(0.3, 1) != window.color(0.9, 1), "30 cold ones, and 10 hot ones"
    assert window.facts()["heat"].startswith("mean 2.5")
    Select(window.find("#by")[0]).select_by_visible_text("cluster")
    assert not window.find("#legend")[0].is_displayed()


def test_a_view_can_be_sent(three_groups, window, tmp_path):
    """The address has all of it: another window that opens it looks the same."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    page = explore(three_groups, POINTS, NAMES, columns={"kind": ["a"] * 60 + ["b"] * 40})
    window.open(page, tmp_path)
    window.press("#k", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    window.click(0.8, 1)
    window.press("#icicle", Keys.ARROW_DOWN)
    window.press("#search", "sud 7")
    time.sleep(0.3)
    Select(window.find("#by")[0]).select_by_visible_text("kind")
    window.settle()
    address, picture = window.driver.current_url, window.picture()
    facts, crumbs = window.facts(), window.crumbs()
    assert "k=6" in address
    assert "by=kind" in address
    window.driver.get("data:,")
    window.driver.get(address)
    window.settle()
    assert (window.facts(), window.crumbs()) == (facts, crumbs)
    assert window.text("#k-says") == "6"
    assert window.find("#search")[0].get_attribute("value") == "sud 7"
    assert (window.picture() == picture).mean() > 0.999
    window.driver.get(address.split("#")[0] + "#k=999&in=nonsense&by=x&at=-1")
    window.driver.refresh()
    window.settle()
    assert window.crumbs() == ["all 100 points"], "an address may say anything"


def test_search_by_number_by_arrow_and_in_vain(explored):
    from selenium.webdriver.common.keys import Keys

    explored.press("#search", "9")
    first = explored.find("#results li[role=option]")[0].text.split("\n")
    assert first == ["north 9", "9"]
    explored.press("#search", Keys.ARROW_DOWN)
    second = explored.find("#results li[aria-selected=true]")[0].text.split("\n")
    assert second != first
    explored.press("#search", Keys.ENTER)
    assert explored.facts()["point"] == second[1]
    explored.press("#search", Keys.CONTROL + "a", "no such thing")
    time.sleep(0.3)
    assert [result.text for result in explored.find("#results li")] == ["nothing found"]
    explored.press("#search", Keys.ESCAPE)
    assert not explored.find("#results")[0].is_displayed()


def test_details_are_those_of_the_node(explored, three_groups):
    explored.click(0.8, 1)
    facts = explored.facts()
    node = int(facts["node"])
    assert three_groups.sizes[node] == 40
    assert float(facts["height"]) == pytest.approx(
        three_groups.monotone_heights[node - 100], rel=1e-3
    )
    assert facts["path"] == three_groups.path_code(node)
    assert facts["depth"] == str(len(three_groups.path_code(node)))
    assert facts["cluster"] == "above the cut"
    leaves = three_groups.leaves(node)
    gaps = ((POINTS[leaves] - POINTS[leaves].mean(axis=0)) ** 2).sum(axis=1)
    nearest = [NAMES[i] for i in leaves[np.argsort(gaps)[:5]]]
    listed = [item.text.split("\n")[0] for item in explored.find("#details .members li")]
    assert listed == nearest


def test_everything_can_be_done_from_the_keyboard(explored):
    from selenium.webdriver.common.keys import Keys

    explored.press("#icicle", Keys.ARROW_DOWN)
    assert explored.facts()["points"] == "60 (60.0 %)"
    explored.press("#icicle", Keys.ARROW_RIGHT)
    assert explored.facts()["points"] == "40 (40.0 %)"
    assert "40 points" in explored.find("#says")[0].get_attribute("textContent")
    explored.press("#icicle", Keys.ENTER)
    assert len(explored.crumbs()) == 2
    explored.press("#icicle", Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert explored.facts()["points"] == "10 (10.0 %)"
    explored.press("#icicle", Keys.ARROW_UP)
    assert explored.facts()["points"] == "40 (40.0 %)"
    explored.press("#icicle", Keys.ESCAPE)
    assert explored.crumbs() == ["all 100 points"]
    explored.press("#icicle", Keys.ARROW_DOWN, Keys.ENTER, Keys.ARROW_DOWN, Keys.ENTER, Keys.HOME)
    assert explored.crumbs() == ["all 100 points"]
    explored.press("#icicle", "/")
    assert explored.driver.switch_to.active_element.get_attribute("id") == "search"


def test_arrows_walk_down_to_a_single_point_and_up_again(explored):
    from selenium.webdriver.common.keys import Keys

    explored.press("#icicle", Keys.ARROW_DOWN * 40)
    depth = int(explored.facts()["depth"])
    assert "point" in explored.facts()
    explored.press("#icicle", Keys.ARROW_UP * (depth - 1))
    assert explored.facts()["depth"] == "1"
    explored.press("#icicle", Keys.ARROW_UP)
    assert explored.facts()["points"] == "100 (100.0 %)"


def test_light_and_dark(explored):
    button = explored.find("#theme")[0]
    papers = {}
    for name in ("light", "dark", "auto"):
        button.click()
        explored.settle()
        assert button.text == f"Colours: {name}"
        papers[name] = explored.paper()
    assert papers["light"] == (255, 255, 255)
    assert sum(papers["dark"]) < 100


def test_strange_names_are_text(window, tmp_path):
    X = np.arange(float(len(NASTY)))[:, None] ** 2
    page = explore(ramify.HAC().fit(X).hierarchy(), X, NASTY, title=NASTY[0])
    window.open(page, tmp_path)
    assert window.text("h1") == NASTY[0]
    window.press("#search", "</script>")
    time.sleep(0.3)
    assert window.find("#results li[role=option]")[0].text.split("\n")[0] == NASTY[0]
    window.find("#results li[role=option]")[0].click()
    window.settle()
    assert window.text("#details h2") == NASTY[0]
    assert window.find("img") == []


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_trees(n, window, tmp_path):
    window.open(explore(ramify.OHAC().fit(POINTS[:n]).hierarchy(), POINTS[:n]), tmp_path)
    assert rgb(cluster_colors(1)[0]) in window.colors()
    assert window.text("#clusters h2") == ("1 cluster" if n == 1 else f"{n} clusters")


@pytest.mark.parametrize("maker", [chain, balanced])
def test_a_large_tree_opens_at_once(maker, window, tmp_path):
    from selenium.webdriver.common.keys import Keys

    n = 100_000
    page = explore(tree_of(maker(n)), names=[f"point number {i}" for i in range(n)])
    start = time.perf_counter()
    window.open(page, tmp_path)
    assert time.perf_counter() - start < 15  # 1 s on a quiet machine
    assert "of the tree's 199,999 nodes" in window.text("#note")
    assert len(window.colors()) >= 3
    window.press("#search", "point number 123")
    time.sleep(0.5)
    assert len(window.find("#results li[role=option]")) == 12
    found = sum("number 123" in f"number {i}" for i in range(n))
    assert window.text("#results li.count") == f"{found:,} points found; the best 12"
    window.press("#search", Keys.ENTER)
    if "point" in window.facts():
        assert window.facts()["point"] == "123"
    else:
        assert "point number 123 (point 123) is in here" in window.text("#details .found")
    window.press("#icicle", Keys.HOME, Keys.ARROW_DOWN, Keys.ENTER)
    assert len(window.crumbs()) == 2


def test_a_part_of_the_points_can_be_searched_and_the_page_says_so(window, tmp_path, monkeypatch):
    from selenium.webdriver.common.keys import Keys

    monkeypatch.setattr(_explore, "_NAME_BYTES", 800)
    page = explore(tree_of(balanced(300)), names=[f"tree {i:03}" for i in range(300)])
    kept = numbers(payload_in(page)["index"]["points"], 4)
    window.open(page, tmp_path)
    assert f"Search covers {len(kept)} of 300 points" in window.text("#note")
    for point in kept[[0, len(kept) // 2, -1]].tolist():
        window.press("#search", Keys.CONTROL + "a", str(point), Keys.ENTER)
        assert window.facts()["point"] == str(point)
        assert window.text("#details h2") == f"tree {point:03}"
    missing = min(set(range(300)) - set(kept.tolist()))
    window.press("#search", Keys.CONTROL + "a", f"tree {missing:03}")
    time.sleep(0.3)
    assert window.text("#results li") == "nothing found"


def test_a_small_screen_has_room_for_everything(three_groups, window, tmp_path):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    window.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        window.open(explore(three_groups, POINTS, NAMES, k=3), tmp_path)
        wide = window.driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 390
        assert window.color(0.3, 1) == rgb(cluster_colors(1)[0])
        assert window.picture().shape[1] > 700  # as fine as the screen
        canvas, details = window.find("#icicle")[0], window.find("#details")[0]
        assert details.location["y"] > canvas.location["y"] + canvas.size["height"]
    finally:
        window.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_notebook_shows_the_page_in_its_own_frame(three_groups, window, tmp_path):
    notebook = tmp_path / "notebook.html"
    page = explore(three_groups, POINTS, NAMES, k=3)
    notebook.write_text(f"<!doctype html><body>{page._repr_html_()}</body>", encoding="utf-8")
    window.driver.get(notebook.as_uri())
    window.driver.switch_to.frame(window.find("iframe")[0])
    window.settle()
    assert rgb(cluster_colors(1)[0]) in window.colors()
    window.click(0.8, 1)
    assert window.facts()["points"] == "40 (40.0 %)"
    window.driver.switch_to.default_content()


def test_no_part_of_the_page_closes_its_script():
    parts = list(_page.files("ramify.plot").joinpath("page").iterdir())
    assert len(parts) == 8
    assert not any("</script" in part.read_text("utf-8") for part in parts)
    assert "</style" not in _page.files("ramify.plot").joinpath("explore.css").read_text("utf-8")
