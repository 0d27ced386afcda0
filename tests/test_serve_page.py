# SPDX-License-Identifier: BSD-3-Clause
"""The live page in a real browser, while others insert: it draws, zooms, searches and follows."""

import threading
import time
from urllib.parse import urlparse

import numpy as np
import pytest
from selenium.webdriver import ActionChains

import ramify
from ramify.serve import running
from tests.strategies import scaled
from tests.test_explore import Window, browser  # noqa: F401 - a fixture

pytestmark = pytest.mark.no_asan  # a browser, which has no room for a sanitizer

NASTY = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
WORDS = ("sound", "screen", "login")


def rows(begin, end):
    rng = np.random.default_rng(begin)
    return rng.normal(size=(end - begin, 2)) + 30 * (np.arange(begin, end) % 3)[:, np.newaxis]


def add(tree, begin, end):
    texts = [f"{WORDS[i % 3]} trouble {i}" for i in range(begin, end)]
    tree.add(rows(begin, end), ids=[f"T{i}" for i in range(begin, end)], payloads=texts)


@pytest.fixture
def tree(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        found = client.create("tickets")
        add(found, 0, 900)
        found.address = address
        yield found


@pytest.fixture
def window(browser, tree):  # noqa: F811
    """A window that complains about errors on the console and requests to anywhere else."""
    view = LivePage(browser)
    browser.set_window_size(1280, 900)
    browser.get("data:,")
    browser.get_log("browser")
    view.requests()
    browser.get(tree.address)
    wait(lambda: "900 points" in view.text("#crumbs"))
    yield view
    assert browser.get_log("browser") == []
    hosts = {urlparse(url).netloc for url in view.requests() if not url.startswith("data:")}
    assert hosts <= {urlparse(tree.address).netloc}
    browser.get("data:,")


class LivePage(Window):
    """A page that may be written anew between two looks: texts are read in one piece."""

    def texts(self, css):
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
        return self.driver.execute_script(script, css)

    def text(self, css):
        return "\n".join(self.texts(css))

    def crumbs(self):
        return self.texts("#crumbs button")


def wait(ready, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if ready():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come")


def test_it_draws_and_zooms(window):
    assert len(window.colors()) > 3
    window.press("#icicle", "\ue015", "\ue007")  # down, Enter
    wait(lambda: len(window.crumbs()) == 2)
    assert window.crumbs()[1] in ("300 points", "600 points")
    assert "in=" in window.driver.current_url
    window.press("#icicle", "\ue00c")  # Escape
    wait(lambda: len(window.crumbs()) == 1)


def test_the_slider_changes_the_clusters(window):
    wait(lambda: "8 clusters" in window.text("#clusters"))
    window.driver.execute_script(
        "const k = document.getElementById('k'); k.value = 3; k.dispatchEvent(new Event('input'))"
    )
    wait(lambda: "3 clusters" in window.text("#clusters"))
    assert len(window.find("#clusters li")) == 3
    labels = window.texts("#clusters .label")  # the words that tell clusters apart
    assert {one.split(",")[0] for one in labels} == set(WORDS)
    window.find("#clusters button")[0].click()
    wait(lambda: labels[0] in window.text("#details h2"))  # the same beside the picture


def test_numbers_of_clusters_that_last_are_marked(window, tree):
    wanted = [len(layer) for layer in tree.layers()]
    options = "[...document.querySelectorAll('#layers option')]"
    script = f"return {options}.map((one) => Number(one.value))"
    wait(lambda: window.driver.execute_script(script) == wanted)
    assert len(wanted) > 1


def test_the_map_shows_the_same_clusters_and_is_in_the_address(window):
    wait(lambda: "8 clusters" in window.text("#clusters"))
    blocks = set(map(tuple, window.colors()))
    window.find("#picture")[0].click()
    wait(lambda: "picture=map" in window.driver.current_url)
    assert len(blocks & set(map(tuple, window.colors()))) > 3
    still = window.picture()
    ActionChains(window.driver).move_to_element_with_offset(
        window.find("#icicle")[0], 60, 60
    ).click().perform()
    wait(lambda: len(window.crumbs()) > 1)
    assert (window.picture() != still).any()
    window.driver.refresh()
    wait(lambda: len(window.crumbs()) > 1 and "map" in window.text("#picture"))
    window.press("#icicle", "\ue011")  # Home
    wait(lambda: len(window.crumbs()) == 1)


def test_what_became_of_the_clusters_is_told_from_the_journal(window, tree):
    X = np.random.default_rng(1).normal(900.0, size=(40, 2))
    tree.add(X, ids=[f"P{i}" for i in range(40)], payloads=["printer jam"] * 40)
    wait(
        lambda: (
            "printer" in window.text("#events") and "came with 39 points" in window.text("#events")
        )
    )
    window.driver.refresh()  # it is not the page that remembers
    wait(lambda: "came with 39 points" in window.text("#events"))
    assert "40 came, 0 left" in window.text("#eras-say")
    tree.forget([f"P{i}" for i in range(40)])
    wait(lambda: "it had 39 points" in window.text("#events"))
    window.press("#eras", "\ue012")  # left: the last era alone
    wait(lambda: "0 came, 40 left" in window.text("#eras-say"))
    assert "came with" not in window.text("#events")


def test_a_search_leads_to_the_point_and_its_path(window):
    window.find("#search")[0].send_keys("login 77")
    wait(lambda: len(window.find("#results li")) > 0)
    assert "login trouble 77" in window.text("#results li")
    window.find("#search")[0].send_keys("\ue007")
    wait(lambda: "login trouble 77" in window.text("#details h2"))
    assert len(window.crumbs()) > 1


def test_it_follows_what_comes_while_many_insert(window, tree):
    wait(lambda: "live" in window.text("#note"))
    still = window.picture()
    stop = threading.Event()

    def feed(which):
        at = 1000 + 10_000 * which
        while not stop.is_set():
            add(tree, at, at + 3)
            at += 3

    threads = [threading.Thread(target=feed, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    try:
        wait(lambda: "900 points" not in window.text("#crumbs"))
        wait(lambda: [255, 210, 31] in glowing(window))
        window.find("#search")[0].send_keys("sound 12")
        wait(lambda: len(window.find("#results li")) > 0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert (window.picture().shape != still.shape) or (window.picture() != still).any()


def glowing(window):
    """Colours near the glow's own."""
    pixels = window.picture().reshape(-1, 3)
    near = np.abs(pixels - [255, 210, 31]).sum(axis=1) < 120
    return [[255, 210, 31]] if near.sum() > 20 else []


def test_what_strangers_write_is_text(window, tree):
    tree.add([[500.0, 500.0]], ids=["evil"], payloads=[{"title": NASTY}])
    window.find("#search")[0].send_keys("onerror")
    wait(lambda: NASTY in window.text("#results li"))
    window.find("#search")[0].send_keys("\ue007")
    wait(lambda: NASTY in window.text("#details h2"))
    assert window.find("#details img") == []


def test_names_that_people_give_are_shown(window, tree):
    node = tree.clusters(n_clusters=3)[0].node_id
    tree.edit.rename(node, "broken things")
    window.driver.execute_script(
        "const k = document.getElementById('k'); k.value = 3; k.dispatchEvent(new Event('input'))"
    )
    wait(lambda: "broken things" in window.texts("#clusters .label"))
    place = window.texts("#clusters .label").index("broken things")
    window.find("#clusters button")[place].click()
    wait(lambda: "broken things" in window.text("#details h2"))


def test_of_a_large_tree_only_what_is_seen_travels(browser, tmp_path):  # noqa: F811
    n = scaled(1_000_000)
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    with ramify.open(tmp_path / "large", ramify.OHAC(history=100).fit(X)):
        pass
    with running(tmp_path) as address:
        view = LivePage(browser)
        browser.set_window_size(1280, 900)
        browser.get("data:,")
        browser.get_log("browser")
        browser.get(address)
        wait(lambda: f"{n:,}" in view.text("#crumbs"), seconds=120)
        wait(lambda: len(view.find("#clusters li")) > 3, seconds=120)
        assert len(view.colors()) > 3
        assert travelled(view) < 2_000_000
        view.press("#icicle", "\ue015", "\ue007")  # into a part of it
        wait(lambda: len(view.crumbs()) > 1, seconds=120)
        assert travelled(view) < 3_000_000
        assert browser.get_log("browser") == []
        browser.get("data:,")


def travelled(view):
    """Bytes of all that the page has asked for."""
    script = """
        return performance.getEntriesByType("resource").concat(
            performance.getEntriesByType("navigation")
        ).reduce((sum, one) => sum + one.transferSize, 0)
    """
    return view.driver.execute_script(script)


def test_it_fits_a_phone_and_the_dark(window):
    window.driver.set_window_size(420, 900)
    window.find("#theme")[0].click()
    window.find("#theme")[0].click()
    wait(lambda: "dark" in window.text("#theme"))
    wide = window.driver.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 420
    assert window.paper() == (0x14, 0x18, 0x1C)


def test_a_token_is_asked_for(browser, tmp_path):  # noqa: F811
    token = "a-long-secret-token"
    with running(tmp_path, token=token) as address:
        with ramify.Client(address, token=token) as client:
            client.create("a").add([[0.0], [1.0]])
        view = LivePage(browser)
        browser.get(address)
        wait(lambda: view.find("#door")[0].is_displayed())
        assert not view.find("#stage")[0].is_displayed()  # nothing that looks like an empty tree
        view.find("#token")[0].send_keys(token + "\ue007")
        wait(lambda: view.crumbs() == ["All 2 points"])
        browser.get("data:,")
        browser.get_log("browser")  # Chromium notes the 401
