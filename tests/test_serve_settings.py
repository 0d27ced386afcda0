# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a server out of flags, the environment and a file: one precedence, clear mistakes."""

import re
import signal
import subprocess
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from ramify.serve import Settings
from ramify.serve._configuring import KINDS, settings_from
from tests.commands import fails, start

pytestmark = pytest.mark.no_asan  # other libraries at work

TREES = Path("trees")
TOKENS = {
    "token_file": "token",
    "read_token_file": "read_token",
    "webhook_secret_file": "webhook_secret",
}


def read(text, tmp_path, **flags):
    (tmp_path / "s.toml").write_text(text)
    return settings_from(TREES, flags, {}, tmp_path / "s.toml")


@pytest.mark.parametrize(
    ("name", "of_file", "of_environment", "of_flag"),
    [
        ("body_bytes", 1000, 2000, 3000),
        ("stream_bytes", 1000, 2000, 3000),
        ("rate", 10.5, 20.0, 30.0),
        ("queue_rows", 10, 20, 30),
        ("streams", 1, 2, 3),
        ("connections", 100, 200, 300),
        ("port", 1, 2, 0),
        ("host", "127.0.0.1", "::1", "localhost"),
        ("trusted_proxies", ("10.0.0.1",), ("10.0.0.2", "10.1.0.0/16"), ("10.0.0.3",)),
    ],
)
def test_a_flag_goes_before_the_environment_and_that_before_the_file(
    name, of_file, of_environment, of_flag, tmp_path
):
    def told(value):
        return list(value) if isinstance(value, tuple) else value

    file = tmp_path / "s.toml"
    text = str(told(of_file)) if not isinstance(of_file, str) else f'"{of_file}"'
    file.write_text(f"{name} = {text}".replace("'", '"'))
    plain = ",".join(of_environment) if isinstance(of_environment, tuple) else str(of_environment)
    variable = {f"RAMIFY_SERVE_{name.upper()}": plain}
    both = {**variable, "RAMIFY_SERVE_CONFIG": str(file)}
    assert getattr(settings_from(TREES, {}, {}), name) == getattr(Settings(TREES), name)
    assert getattr(settings_from(TREES, {}, {}, file), name) == of_file
    assert getattr(settings_from(TREES, {}, both), name) == of_environment
    assert getattr(settings_from(TREES, {name: of_flag}, both), name) == of_flag


def test_every_setting_can_be_given():
    ours = {one.name for one in fields(Settings)} - {"folder", "tokens", *TOKENS.values()}
    assert ours | {*TOKENS, "tokens_file"} == set(KINDS)
    assert set(KINDS.values()) <= {
        *("str", "int", "float", "bool", "str | None", "float | None", "tuple[str, ...]"),
    }


def test_tokens_come_from_files_or_the_environment(tmp_path):
    (tmp_path / "token").write_text("a-long-secret-token\n")
    found = read(f'token_file = "{tmp_path}/token"', tmp_path)
    assert found.token == "a-long-secret-token"
    found = settings_from(TREES, {}, {"RAMIFY_TOKEN": "another-secret-token"})
    assert found.token == "another-secret-token"
    with pytest.raises(ValueError, match="token_file"):
        read('token = "a-long-secret-token"', tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rate = -1", "rate=-1: expected a number, 0 or more"),
        ("rate = nan", "rate=nan: expected a number"),
        ("streams = 0", "streams=0: expected a whole number, 1 or more"),
        ("streams = true", "streams=True"),
        ("queue_rows = 1.5", "queue_rows=1.5: expected a whole number"),
        ('host = ["a"]', "expected text"),
        ('log = "perhaps"', "expected true or false"),
        ("cors = [1]", "expected a list of texts"),
        ('erase_within = "soon"', "such as 90d or 12h"),
        ('trusted_proxies = ["proxy.example"]', "is no address"),
        ("colour = 1", "there is no setting 'colour'"),
        ("rate = ", "is no TOML"),
    ],
)
def test_a_mistake_is_named_with_its_place(text, says, tmp_path):
    with pytest.raises(ValueError, match=re.escape(says)):
        read(text, tmp_path)


def test_a_variable_that_does_nothing_is_a_mistake():
    with pytest.raises(ValueError, match="RAMIFY_SERVE_RATES: there is no such setting"):
        settings_from(TREES, {}, {"RAMIFY_SERVE_RATES": "1"})


def test_never_and_empty():
    assert settings_from(TREES, {"erase_within": "never"}, {}).erase_within is None
    assert settings_from(TREES, {"cors": ()}, {"RAMIFY_SERVE_RATE": ""}).rate == 2000


def test_the_command_takes_them(tmp_path):
    (tmp_path / "s.toml").write_text("rate = 1\nport = 0\n")
    words = ("serve", tmp_path / "t", "--config", tmp_path / "s.toml", "--quiet")
    server = start(*words, stderr=subprocess.PIPE)
    try:
        address = server.stderr.readline().decode().split()[-1]
        with httpx.Client() as http:
            told = [http.get(f"{address}/healthz").status_code for _ in range(6)]
        assert 429 in told
    finally:
        server.send_signal(signal.SIGTERM)
        _, rest = server.communicate(timeout=60)
    assert server.returncode == 0
    assert rest.decode().splitlines() == ['{"server": "stopped", "trees": 0}']
    assert "no such setting" not in fails("serve", tmp_path, "--config", tmp_path / "none.toml")
    (tmp_path / "s.toml").write_text("rates = 1")
    assert "'rates'" in fails("serve", tmp_path, "--config", tmp_path / "s.toml")
