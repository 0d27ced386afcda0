# SPDX-License-Identifier: BSD-3-Clause
"""The command `ramify`: entry point, help, and sentences for mistakes."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ramify import cli, demo


def leave(arguments, capsys):
    """Run the command, expect it to exit, and return its code and what it printed."""
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    output = capsys.readouterr()
    return caught.value.code, output.out + output.err


def test_the_package_installs_the_command():
    (script,) = entry_points(group="console_scripts", name="ramify")
    assert script.load() is cli.main


@pytest.mark.no_asan
def test_the_installed_command_answers():
    program = Path(sys.executable).with_name("ramify")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    for verb in ("paper", "demo"):
        assert verb in done.stdout


@pytest.mark.parametrize("verb", ["paper", "demo"])
def test_every_verb_explains_itself(verb, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    code, text = leave([verb, "--help"], capsys)
    assert code == 0
    assert "--out" in text


def test_without_the_extra_one_sentence_names_it(monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "typer" else object())
    with pytest.raises(SystemExit) as caught:
        cli.main(["paper"])
    assert caught.value.code == 'the ramify command needs typer: pip install "ramify[cli]"'


def test_a_wrong_name_is_answered_with_the_right_ones(tmp_path, capsys):
    code, _ = leave(["paper", "--only", "nothing", "--out", str(tmp_path), "-q"], capsys)
    assert code.startswith("ramify paper: --only nothing: expected one of gmm-1, gmm-8, iris")
    assert list(tmp_path.iterdir()) == []


def test_names_may_be_separated_by_commas():
    assert cli._split(["iris, glass", "OTD on w"]) == ["iris", "glass", "OTD on w"]
    assert cli._split(None) == []


def test_demo_passes_its_options_on(tmp_path, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(demo, "main", lambda arguments: seen.append(list(arguments)))
    code, _ = leave(["demo", "--limit", "9", "--out", str(tmp_path)], capsys)
    assert code == 0
    words = ["--out", str(tmp_path), "--seed", "0", "--clusters", "8", "--limit", "9"]
    assert seen == [words]
