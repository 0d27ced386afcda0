# SPDX-License-Identifier: BSD-3-Clause
"""What operators take from deploy/ and docs/operating.md: it names what there is, and the drill."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

import ramify
from ramify.serve import running
from ramify.serve._configuring import KINDS
from tests.chaos import drill
from tests.commands import ramify as command

pytestmark = pytest.mark.no_asan  # other libraries at work

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"


def test_the_disk_is_lost_yesterday_is_restored_and_the_rest_catches_up(capsys):
    drill.main(["--rows", "1500", "--columns", "3"])
    assert "the tree is the one before the disk was lost" in capsys.readouterr().out


def test_alerts_are_about_figures_that_there_are(tmp_path):
    rules = (DEPLOY / "alerts.yml").read_text()
    with running(tmp_path) as address, ramify.Client(address) as client:
        client.create("a").add([[0.0]])
        told = httpx.get(f"{address}/metrics").text
    known = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    known |= {f"{name}_bucket" for name in known}
    used = set(re.findall(r"\bramify_\w+", rules))
    assert len(used) > 6
    assert used <= known
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "rules", DEPLOY / "alerts.yml"], check=True)


def test_settings_that_the_files_name_are_there():
    for path in sorted(DEPLOY.iterdir()):
        for name in re.findall(r"RAMIFY_SERVE_(\w+)", path.read_text()):
            assert name.lower() in {*KINDS, "config"}, f"{path.name}: {name}"


def test_the_unit_runs_the_command_as_it_is():
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read(DEPLOY / "ramify.service")
    words = unit["Service"]["ExecStart"].split()
    assert words[1] == "serve"
    text = command("serve", "--help").out
    assert all(word in text for word in words if word.startswith("--"))
    assert unit["Service"]["NoNewPrivileges"] == "yes"
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", DEPLOY / "ramify.service"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Unknown" not in done.stderr


def test_the_container_runs_as_nobody_special():
    lines = (DEPLOY / "Dockerfile").read_text()
    assert re.findall(r"^USER (\d+)$", lines, re.MULTILINE)[-1] != "0"
    assert not re.search(r"^FROM \S+(:latest)?( AS \w+)?$(?<!\d)", lines.split("\n")[0])
    assert re.search(r'^CMD \["ramify", "serve", ', lines, re.MULTILINE)  # gets the signals itself
    assert "TOKEN=" not in lines
    if shutil.which("hadolint"):
        subprocess.run(["hadolint", DEPLOY / "Dockerfile"], check=True)


def test_the_page_shows_every_file():
    page = (ROOT / "docs" / "operating.md").read_text()
    for path in DEPLOY.iterdir():
        assert f"../deploy/{path.name}" in page, path.name
