# SPDX-License-Identifier: BSD-3-Clause
"""A folder as it was at an earlier version: the tree of then, to the bit, and it goes on."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify.journal import backup, restore
from ramify.serve import running
from tests.commands import done, fails
from tests.strategies import examples

pytestmark = pytest.mark.no_asan  # other libraries at work

VERBS = ("add", "batch", "forget", "link", "rename", "polish", "window")


def change(tree, verb, i):
    """One change of a tree; what the answer calls its version, or None if there was none."""
    rng = np.random.default_rng(i)
    if verb == "add" or len(tree) < 4:
        row = np.round(rng.normal(size=(1, 2)), 1)
        return tree.add(row, ids=[f"p{i}"], payloads=[f"text {i}"]).version
    if verb == "batch":
        rows = np.round(rng.normal(size=(3, 2)), 1)
        return tree.add(rows, ids=[f"p{i}-{j}" for j in range(3)], key=f"key {i}").version
    there = tree.ids_.tolist()
    if verb == "forget":
        tree.forget(there[i % len(there)])
    elif verb == "link":
        tree.edit.must_link(there[0], there[-1])
    elif verb == "rename":
        tree.edit.rename(tree.clusters(n_clusters=2)[0], f"name {i}")
    elif verb == "polish":
        tree.polish()
    elif verb == "window":
        tree.set_params(keep=ramify.Last(10 + i))
    return tree.version


def told(tree):
    """All that a reader could see of it."""
    ids = tree.ids_.tolist()
    return (
        tree.digest(),
        tree.version,
        ids,
        [tree.payload(one) for one in ids],
        [hit.id for hit in tree.search("text", limit=1000)],
        tree.edit.list().names,
    )


@settings(max_examples=examples(6), deadline=None)
@given(
    verbs=st.lists(st.sampled_from(VERBS), min_size=4, max_size=14),
    every=st.sampled_from([3, 1000]),
    at=st.floats(0, 0.999),
)
def test_the_tree_of_a_version_is_the_one_that_was_there(verbs, every, at):
    room = Path(tempfile.mkdtemp())
    then = []
    with ramify.open(room / "a", ramify.OHAC(), snapshot_every=every) as tree:
        for i, verb in enumerate(verbs):
            version = change(tree, verb, i)
            then.append((version, told(tree)))
        version, expected = then[int(at * len(then))]
        expected = next(one for number, one in reversed(then) if number == version)
        try:
            restore(room / "a", room / "b", version=version)  # while it is in use
        except ValueError as error:
            if every == 3 and "leads back to version" in str(error):
                return
            raise
        now = told(tree)
    with ramify.open(room / "b") as before:
        seen = told(before)
        assert seen[:3] == expected[:3]
        assert seen[5] == expected[5]
        if every == 1000:  # nothing is older than its snapshot
            assert seen[3:5] == expected[3:5]
        assert before.add([[0.5, 0.5]], ids=["later"]).repeated == 0
    with ramify.open(room / "a") as tree:
        assert told(tree)[0] == now[0]


def grown(folder, **options):
    """A tree in a folder, and its digest at each version."""
    then = {}
    with ramify.open(folder, ramify.OHAC(), **options) as tree:
        for i in range(40):
            version = change(tree, "forget" if i % 4 == 3 else "batch", i)
            then[version] = tree.digest()
        backup(folder, folder.with_suffix(".tar"))
    return then


def test_a_backup_leads_back_as_far_as_its_snapshot(tmp_path):
    then = grown(tmp_path / "a")
    for version in list(then)[::7]:
        restore(tmp_path / "a.tar", tmp_path / f"v{version}", version=version)
        with ramify.open(tmp_path / f"v{version}") as tree:
            assert (tree.version, tree.digest()) == (version, then[version])
    with pytest.raises(ValueError, match=r"has version \d+, and not 9,999 yet"):
        restore(tmp_path / "a.tar", tmp_path / "b", version=9999)
    assert not (tmp_path / "b").exists()


def test_a_version_inside_of_a_commit_is_what_came_before(tmp_path):
    then = grown(tmp_path / "a")
    first, second = list(then)[:2]
    restore(tmp_path / "a.tar", tmp_path / "b", version=second - 1)
    with ramify.open(tmp_path / "b") as tree:
        assert tree.version == first


def test_what_is_older_than_all_snapshots_is_refused_with_what_there_is(tmp_path):
    then = grown(tmp_path / "a", snapshot_every=5)
    with ramify.open(tmp_path / "a") as tree:
        tree.compact()  # which leaves one snapshot and no operations
    with pytest.raises(ValueError, match=r"leads back to version .* Take an earlier backup"):
        restore(tmp_path / "a", tmp_path / "b", version=list(then)[3])
    last = list(then)[-1]
    restore(tmp_path / "a", tmp_path / "b", version=last)
    with ramify.open(tmp_path / "b") as tree:
        assert tree.digest() == then[last]


def test_the_same_of_a_server_and_on_the_command_line(tmp_path):
    then = grown(tmp_path / "a", erase_within=None)
    version = list(then)[10]
    done("restore", tmp_path / "a", tmp_path / "b", "--version", version)
    with ramify.open(tmp_path / "b") as tree:
        assert tree.digest() == then[version]
    assert "and not 9,999 yet" in fails(
        "restore", tmp_path / "a", tmp_path / "c", "--version", 9999
    )
    with running(tmp_path / "trees") as address, ramify.Client(address) as client:
        again = client.restore("again", tmp_path / "a.tar", version=version)
        assert again.version == version
        with pytest.raises(ramify.client.RemoteError, match="and not 9,999 yet") as error:
            client.restore("more", tmp_path / "a.tar", version=9999)
        assert error.value.status == 422
        url = f"{address}/v1/trees/more"
        assert "ramify backup" in fails("restore", tmp_path / "a", url, code=2)
