# SPDX-License-Identifier: BSD-3-Clause
"""What an operator sees: /metrics as Prometheus reads it, the log, and whose address it is."""

import json
import logging
import math
import re
import shutil
import subprocess

import httpx
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import ramify
from ramify.serve import running

pytestmark = pytest.mark.no_asan  # other libraries at work

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = rf'{_NAME}="(?:[^"\\\n]|\\["\\n])*"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? (\S+)")
_ENDS = {"histogram": ("_bucket", "_sum", "_count")}


def read_figures(text):
    """Samples by name and labels; AssertionError where the text is not as Prometheus has it.

    As the description of the format says: one TYPE a name and before its samples, all samples of a
    name together, no sample twice, and buckets of a histogram that add up.
    """
    assert text.endswith("\n")
    kinds, done, samples, current = {}, set(), {}, None
    for line in text.splitlines():
        head = re.fullmatch(rf"# (HELP|TYPE) ({_NAME}) (.+)", line)
        if head is not None:
            what, name, told = head.groups()
            if name != current:
                assert name not in done, f"{name} comes twice"
                done.add(name)
                current = name
            if what == "TYPE":
                assert name not in kinds, line
                assert told in ("counter", "gauge", "histogram"), line
                kinds[name] = told
            continue
        found = _SAMPLE.fullmatch(line)
        assert found is not None, line
        name, labels, value = found.groups()
        assert name in {current + end for end in _ENDS.get(kinds[current], ("",))}, line
        key = name, frozenset(re.findall(_LABEL, labels or ""))
        assert key not in samples, line
        samples[key] = float(value)
    for name, kind in kinds.items():
        assert name.endswith("_total") == (kind == "counter"), name
        assert f"{name}_total" not in kinds, f"OpenMetrics takes {name}_total for {name}"
        if kind == "histogram":
            require_histogram(name, samples)
    return samples


def require_histogram(name, samples):
    groups = {}
    for (called, labels), value in samples.items():
        if called == f"{name}_bucket":
            (le,) = (one for one in labels if one.startswith("le="))
            groups.setdefault(labels - {le}, []).append((float(le[4:-1]), value))
    for labels, buckets in groups.items():
        buckets.sort()
        counts = [count for _, count in buckets]
        assert counts == sorted(counts)
        assert math.isinf(buckets[-1][0])
        assert samples[f"{name}_count", labels] == counts[-1]
        assert (f"{name}_sum", labels) in samples


def ask(address):
    told = httpx.get(f"{address}/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = read_figures(told.text)
    read = text_string_to_metric_families(told.text)
    theirs = {(one.name, frozenset(one.labels)): one for family in read for one in family.samples}
    assert {name for name, _ in theirs} == {name for name, _ in samples}
    if shutil.which("promtool"):
        command = ["promtool", "check", "metrics"]
        done = subprocess.run(command, input=told.text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return samples


def one(samples, name, *labels):
    return samples[name, frozenset(labels)]


def test_the_figures_are_what_prometheus_reads(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        assert ask(address)
        for name in ("a", "b"):
            for _ in range(3):
                client.create(name, dimension=2).add(np.random.default_rng(0).normal(size=(5, 2)))
        found = ask(address)
        tree = 'tree="a"'
        assert one(found, "ramify_commit_duration_seconds_count", tree) == 3
        assert one(found, "ramify_commit_rows_bucket", tree, 'le="1.0"') == 0
        assert one(found, "ramify_commit_rows_bucket", tree, 'le="10.0"') == 3
        assert one(found, "ramify_commit_rows_sum", tree) == 15
        assert one(found, "ramify_request_duration_seconds_count", 'method="POST"') == 6
        sizes = [value for (name, _), value in found.items() if name == "ramify_file_bytes"]
        assert sum(sizes) == sum(
            path.stat().st_size for tree in tmp_path.iterdir() for path in tree.iterdir()
        )
        versions = [set(labels) for name, labels in found if name == "ramify_build_info"]
        assert any(f'version="{ramify.__version__}"' in labels for labels in versions)


def test_the_figures_of_shards_said_each_name_twice(tmp_path):
    with (
        running(tmp_path, ray="local", shards=2) as address,
        ramify.Client(address) as client,
    ):
        for name in ("a", "b"):
            client.create(name, dimension=2).add(np.random.default_rng(0).normal(size=(20, 2)))
        found = ask(address)
    assert one(found, "ramify_points", 'tree="a"') == 20
    assert any('shard="1"' in labels for name, labels in found if name == "ramify_points")


def test_a_reader_of_figures_finds_mistakes():
    good = '# TYPE a gauge\na{b="1"} 1\n'
    assert read_figures(good)
    for bad in (good + good, "a 1\n", good + 'a{b="1"} 2\n', good + "a{b=1} 2\n", good[:-1]):
        with pytest.raises((AssertionError, KeyError, TypeError)):
            read_figures(bad)


# --- the log ------------------------------------------------------------------------------------


def test_the_log_tells_of_opening_replay_snapshots_failure_and_the_end(tmp_path, caplog):
    caplog.set_level(logging.INFO, "ramify.serve")
    tree = ramify.open(tmp_path / "a", ramify.OHAC())
    tree.add([[0.0], [1.0]])
    tree._writer.stop()  # as killed: no snapshot of it
    tree._payloads.close()
    tree._writer.store.abandon()
    tree._lock.release()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "journal.sqlite").write_bytes(b"no database")
    with running(tmp_path) as address, ramify.Client(address) as client:
        client.tree("a").snapshot()
        client.create("gone").delete()
    lines = [json.loads(record.message) for record in caplog.records if record.name[:6] == "ramify"]
    by_tree = {name: [one for one in lines if one.get("tree") == name] for name in ("a", "bad")}
    opened, *rest = by_tree["a"]
    assert (opened["opened"], opened["replayed"], opened["notes"]) == (2, 1, [])
    assert rest[0]["snapshot"] == 1
    assert rest[0]["bytes"] > 0
    assert rest[-1]["closed"]
    assert "SQLite" in by_tree["bad"][0]["failed"]
    assert {"tree": "gone", "deleted": 0} in lines
    assert lines[-1] == {"server": "stopped", "trees": 1}


# --- whose address ------------------------------------------------------------------------------


def asked_as(address, said):
    return httpx.get(f"{address}/healthz", headers={"x-forwarded-for": said}).status_code


@pytest.mark.parametrize("trusted", [(), ("10.0.0.0/8",)])
def test_anybody_could_say_whose_request_it_is(trusted, tmp_path):
    with running(tmp_path, rate=1.0, trusted_proxies=trusted) as address:
        told = [asked_as(address, f"1.2.3.{i}") for i in range(6)]
    assert 429 in told


def test_a_proxy_that_was_named_is_believed_and_what_it_hands_on_is_not(tmp_path, caplog):
    caplog.set_level(logging.INFO, "ramify.serve")
    proxy = ("127.0.0.1", "10.0.0.1")
    with running(tmp_path, rate=1.0, trusted_proxies=proxy, log=True) as address:
        assert {asked_as(address, f"1.2.3.{i}, 10.0.0.1") for i in range(6)} == {200}
        told = [asked_as(address, f"6.6.6.{i}, 5.5.5.5") for i in range(6)]
        assert 429 in told
        asked_as(address, "nonsense")
    clients = {json.loads(one.message).get("client") for one in caplog.records}
    assert {"1.2.3.0", "5.5.5.5", "127.0.0.1"} <= clients
    assert not any(one and one.startswith("6.") for one in clients)


def test_events_are_not_held_back_by_a_proxy(tmp_path):
    with running(tmp_path) as address, ramify.Client(address) as client:
        client.create("a").add([[0.0]])
        url = f"{address}/v1/trees/a/changes/stream"
        with httpx.stream("GET", url) as told:
            assert told.headers["x-accel-buffering"] == "no"
            assert "content-length" not in told.headers
