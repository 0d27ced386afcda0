"""The fuzzer itself: it finds what is wrong, and a short run of it finds nothing."""

from collections import Counter

import numpy as np
import pytest

from tests.fuzz import files, graphs, mutations
from tests.fuzz.properties import examples_in
from tests.strategies import scaled

pytest.importorskip("pyarrow")


def test_a_short_run_finds_nothing(tmp_path, capsys):
    counts = files.try_cases(range(scaled(600)), tmp_path, seconds=1e9)
    assert "failed" not in counts, capsys.readouterr().err
    assert counts.total() == scaled(600)
    assert any(kind.endswith("read") for kind in counts)
    assert any(kind.endswith("refused") for kind in counts)


def test_two_thousand_operations_on_live_graphs_give_offline_trees(tmp_path, capsys):
    counts = graphs.try_cases(range(scaled(20)), tmp_path, seconds=1e9)
    assert "failed" not in counts, capsys.readouterr().err
    assert counts.total() == scaled(20) * graphs.LENGTH
    assert len(counts) == len(graphs.CASES)


def test_what_a_live_graph_does_wrong_is_told_with_its_seed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(graphs.GraphHAC, "hierarchy", lambda self: self.nowhere)
    assert graphs.try_cases([1], tmp_path, seconds=0) == Counter(failed=1)
    assert "seed 1 of graphs" in capsys.readouterr().err


def test_what_a_reader_does_wrong_is_told_with_its_seed(tmp_path, monkeypatch, capsys):
    def broken(rng, folder):
        return lambda: 1 // 0

    monkeypatch.setattr(files, "CASES", {"broken": broken})
    assert files.try_cases([7], tmp_path, seconds=0) == Counter(failed=1)
    told = capsys.readouterr().err
    assert "seed 7, broken" in told
    assert "ZeroDivisionError" in told


@pytest.mark.parametrize("mutate", mutations.MUTATIONS)
def test_mutations_take_any_bytes_and_leave_them_as_they_are(mutate):
    rng = np.random.default_rng(0)
    outcomes = {mutate(rng, data) for data in (b"", b"a", bytes(300)) for _ in range(50)}
    assert len(outcomes) > 10 or mutate in (mutations.truncate, mutations.cut_out)
    assert all(isinstance(outcome, bytes) for outcome in outcomes)


def test_a_seed_makes_one_file(tmp_path):
    for seed in range(6):
        made = []
        for _ in range(2):
            files.run_case(seed, tmp_path)
            made.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})
        assert made[0] == made[1]


def test_examples_are_counted_as_hypothesis_tells_them():
    report = "- 30 passing examples, 0 failing examples, 2 invalid\n 1 passing example, 1 failing"
    assert examples_in(report) == 32
