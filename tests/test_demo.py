# SPDX-License-Identifier: BSD-3-Clause
"""The demo, run as a user runs it: another process, another folder, no display."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from ramify import demo


def run_demo(folder, *arguments):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    return subprocess.run(
        [sys.executable, "-m", "ramify.demo", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = run_demo(folder, "--limit", "3000", "--out", "pictures", "--clusters", "7")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_the_table_has_a_line_per_algorithm(finished):
    _, text = finished
    for name in ("OHAC", "OTD", "HAC, offline"):
        (line,) = re.findall(rf"^{name}  .*$", text, flags=re.MULTILINE)
        numbers = [float(cell.replace(",", "")) for cell in line[len(name) :].split()]
        speed, mean_depth, max_depth, *scores = numbers
        assert speed > 0
        assert 0 < mean_depth <= max_depth < 3000
        assert len(scores) == 4
        assert all(-1 <= score <= 1 for score in scores)


def test_memory_is_set_against_the_distance_matrix(finished):
    _, text = finished
    assert "36 MB for the distances" in text  # 3000 * 2999 / 2 * 8 bytes


def test_the_tree_can_be_explored(finished):
    folder, text = finished
    (path,) = re.findall(r"page to explore OHAC's tree: (.*)$", text, flags=re.MULTILINE)
    assert "3,000 cities of the world</title>" in (folder / path).read_text(encoding="utf-8")


def test_the_last_lines_are_paths_of_real_pictures(finished):
    folder, text = finished
    paths = [line.strip() for line in text.splitlines()[-3:]]
    assert len(set(paths)) == 3
    for path in paths:
        picture = folder / path
        assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        pixels = imread(picture)
        assert min(pixels.shape[:2]) > 500
        assert pixels[..., :3].std() > 0.02  # not blank


def test_the_same_seed_gives_the_same_scores(finished, tmp_path):
    _, first = finished
    second = run_demo(tmp_path, "--limit", "3000", "--clusters", "7").stdout
    assert (tmp_path / "demo-output" / "dendrogram.png").exists()

    def without_speed(text):
        return [line.split()[-6:] for line in text.splitlines() if re.match("OHAC|OTD|HAC", line)]

    assert without_speed(first) == without_speed(second)
    assert len(without_speed(first)) == 3


def test_a_handful_of_cities_is_enough(tmp_path, capsys):
    demo.main(["--limit", "2", "--out", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[-1].endswith("dendrogram.png")


@pytest.mark.parametrize("arguments", [("--limit", "1"), ("--clusters", "0")])
def test_wrong_options_say_what_would_be_right(arguments, capsys):
    with pytest.raises(SystemExit):
        demo.main(arguments)
    assert "must be at least" in capsys.readouterr().err


def test_without_matplotlib_the_demo_names_the_extra(monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r'pip install "ramify\[demo\]"'):
        demo.main([])


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 bytes"), (1_000, "1 kB"), (2_500_000, "2 MB"), (117_065_500_000, "117.1 GB")],
)
def test_bytes_are_written_for_people(count, text):
    assert demo._bytes(count) == text


ROOT = Path(__file__).resolve().parents[1]


def test_the_readme_names_the_example_that_draws_its_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`examples/growing.py`" in text
    for picture in re.findall(r"!\[[^]]*\]\((.*?)\)", text):
        assert (ROOT / picture).exists()
