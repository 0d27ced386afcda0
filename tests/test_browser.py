# SPDX-License-Identifier: BSD-3-Clause
"""The page with a tree in it, in a real browser. Needs what ``make browser`` builds."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import ramify
from tests.test_explore import browser  # noqa: F401 - a fixture

PAGE = Path(__file__).parents[1] / "build" / "browser" / "live" / "index.html"

pytestmark = [
    pytest.mark.no_asan,
    pytest.mark.skipif(not PAGE.exists(), reason="`make browser` was not run"),
]

SCRIPT = """
const ramify = require(process.argv[1]);
ramify().then((core) => {
  const rows = Float64Array.from(JSON.parse(process.argv[2]));
  const tree = new core.Tree(3);
  tree.insert(rows.subarray(0, 300));
  tree.insert(rows.subarray(300));
  const { children, heights } = tree.hierarchy();
  const refused = [];
  for (const bad of [[1, 2], [1, 2, NaN]]) {
    try { tree.insert(Float64Array.from(bad)); }
    catch (error) { refused.push(core.getExceptionMessage(error)[1]); }
  }
  console.log(JSON.stringify({ children: [...children], heights: [...heights],
    labels: [...tree.labels(6)], refused, size: tree.size }));
});
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_tree_of_the_browser_is_that_of_python():
    X = np.random.default_rng(0).normal(size=(400, 3)).round(3)
    X[50:90] = X[:40]
    command = ["node", "-e", SCRIPT, str(PAGE.with_name("tree.js")), json.dumps(X.ravel().tolist())]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    model = ramify.OHAC(n_clusters=6).fit(X)
    tree = model.hierarchy()
    assert found["children"] == tree.children.ravel().tolist()
    assert found["heights"] == tree.heights.tolist()
    assert found["labels"] == model.labels_.tolist()
    assert found["size"] == 400
    assert found["refused"] == ["a row is not complete", "a number is not finite"]


def test_points_stream_into_the_page_without_a_server(browser):  # noqa: F811
    browser.get("data:,")
    browser.get_log("browser")
    browser.get(PAGE.as_uri())
    count = "return typeof points === 'undefined' ? 0 : points.length"
    deadline = time.monotonic() + 60
    while browser.execute_script(count) < 100 and time.monotonic() < deadline:
        time.sleep(0.1)
    browser.execute_script("document.getElementById('speed').value = 0; draw()")
    size, told, n = browser.execute_script(
        "return [tree.size, document.getElementById('said').textContent, points.length]"
    )
    assert size == n >= 100
    assert told.startswith(f"{n:,} points, 8 clusters")
    browser.find_element("id", "points").click()
    assert browser.execute_script("return tree.size") == n + 30
    browser.find_element("id", "again").click()
    assert browser.execute_script("return tree.size") == 0
    assert browser.get_log("browser") == []
