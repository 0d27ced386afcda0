# SPDX-License-Identifier: BSD-3-Clause
"""What operators take from deploy/ and docs/operating.md: it names what there is, and the drill."""

import configparser
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
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
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if hadolint := shutil.which("hadolint", path=beside):
        subprocess.run([hadolint, DEPLOY / "Dockerfile"], check=True)


@pytest.fixture
def secrets(tmp_path):
    """A certificate and its key, as the files of proxies ask for them."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not here")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    files = ["-keyout", tmp_path / "trees.key", "-out", tmp_path / "trees.pem"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    return tmp_path


def nginx_of(folder, listen, behind):
    """The file of ours inside of a whole configuration."""
    ours = (DEPLOY / "nginx.conf").read_text().replace("/etc/ssl", str(folder))
    ours = ours.replace("listen 443 ssl", f"listen {listen} ssl")
    assert "127.0.0.1:8750" in ours
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    rooms = "".join(f"{one}_temp_path {folder}/{one};\n" for one in places)
    whole = f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
    whole += f"http {{\naccess_log off;\n{rooms}{ours.replace('127.0.0.1:8750', behind)}}}\n"
    (folder / "whole.conf").write_text(whole)
    return ["nginx", "-p", folder, "-c", folder / "whole.conf"]


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not here")
def test_events_come_through_nginx_as_they_happen(secrets, tmp_path_factory):
    """With the file as it is, but for its ports."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token = "a-long-secret-token"
    options = {"trusted_proxies": ("127.0.0.1",), "token": token}
    with running(tmp_path_factory.mktemp("trees"), **options) as address:
        command = nginx_of(secrets, f"127.0.0.1:{port}", address.removeprefix("http://"))
        subprocess.run([*command, "-t"], check=True, capture_output=True)
        nginx = subprocess.Popen(command)
        try:
            bearer = {"authorization": f"Bearer {token}"}
            url = f"https://127.0.0.1:{port}"
            with httpx.Client(base_url=url, verify=False, headers=bearer) as ask:
                for _ in range(200):
                    with contextlib.suppress(httpx.ConnectError):
                        ask.get("/healthz")
                        break
                    time.sleep(0.05)
                ask.put("/v1/trees/a", json={}).raise_for_status()
                stream = "/v1/trees/a/changes/stream?heartbeat=60"
                with ask.stream("GET", stream) as events:
                    lines = events.iter_lines()
                    assert next(lines) == "event: progress"
                    ask.post("/v1/trees/a/points", json={"points": [{"vector": [1]}]})
                    assert any(line == "event: change" for line in lines)  # before the heartbeat
                assert ask.get("/v1/trees/a/backup").content[:13] == b"manifest.json"
        finally:
            nginx.terminate()
            nginx.wait(20)


@pytest.mark.skipif(not shutil.which("caddy"), reason="Caddy is not here")
def test_caddy_understands_its_file(tmp_path):
    words = ["caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"]
    room = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(words, env=room, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_page_shows_every_file():
    page = (ROOT / "docs" / "operating.md").read_text()
    for path in DEPLOY.iterdir():
        assert f"../deploy/{path.name}" in page, path.name
