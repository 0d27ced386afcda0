"""Edits by people, from the command line."""

import csv

import numpy as np
import pytest

import ramify
from tests.commands import done, fails

X = np.random.default_rng(3).normal(size=(40, 3))
IDS = [f"T{i}" for i in range(40)]


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "t.ramify"
    ramify.OHAC().fit(X, ids=IDS).save(path)
    return path


def test_edits_are_those_of_python(tree, tmp_path):
    python = ramify.load(tree)
    python.edit.must_link("T3", "T30")
    python.edit.cannot_link("T1", "T2")
    node = python.lca(5, 6)
    python.edit.rename(node, "refunds")
    python.edit.move("T9", under=node)
    assert done("edit", tree, "must-link", "T3", "T30", "--json").json()["edit"] == "must-link"
    done("edit", tree, "cannot-link", "T1", "T2")
    done("edit", tree, "rename", "T5,T6", "refunds")
    done("edit", tree, "move", "T9", node)
    model = ramify.load(tree)
    assert model.hierarchy() == python.hierarchy()
    facts = done("edit", tree, "--json").json()
    assert facts["names"] == {str(node): "refunds"}
    assert facts["linked"] == [["T3", "T30"]]
    assert facts["apart"] == [["T1", "T2"]]
    assert facts["held"] == [node]
    assert "refunds" in done("edit", tree).out
    done("edit", tree, "release", node, "-o", tmp_path / "other")
    assert ramify.load(tmp_path / "other").edit.list().held.tolist() == []
    assert ramify.load(tree).edit.list().held.tolist() == [node]
    done("edit", tree, "rename", node, "")
    done("edit", tree, "unlink", "T1", "T2")
    assert done("edit", tree, "--json").json()["names"] == {}


def test_cut_keeps_points_apart_and_names_nodes(tree, tmp_path):
    done("edit", tree, "cannot-link", "T1", "T2")
    done("cut", tree, "-k", 20, "--node-ids", "-o", tmp_path / "l.csv")
    with (tmp_path / "l.csv").open() as file:
        rows = list(csv.DictReader(file))
    model = ramify.load(tree)
    assert [int(row["label"]) for row in rows] == model.cut(n_clusters=20).tolist()
    for node in {row["node_id"] for row in rows}:
        members = [i for i, row in enumerate(rows) if row["node_id"] == node]
        assert model.leaves(int(node)).tolist() == members
    assert "apart takes" in fails("cut", tree, "-k", 1)


def test_mistakes(tree):
    before = tree.read_bytes()
    assert "there is no edit 'glue'" in fails("edit", tree, "glue", "T1", "T2", code=2)
    assert "expected must-link POINT POINT" in fails("edit", tree, "must-link", "T1", code=2)
    assert "no point has the id 'T99'" in fails("edit", tree, "must-link", "T1", "T99")
    assert "no node" in fails("edit", tree, "rename", 10**6, "x")
    assert "goes with one cut" in fails("cut", tree, "-k", "3,4", "--node-ids", code=2)
    assert tree.read_bytes() == before
