# SPDX-License-Identifier: BSD-3-Clause
"""One tree, five homes: the same names, the same parameters, and the same answers in each.

The homes are a live estimator, a folder, shards in this process, the tree that ``ramify serve`` has
of shards, and a tree on the other side of a
connection, in a folder or in shards. With one shard a sharded tree is that of
OHAC to the bit, so all answers must be equal, and not merely alike.
"""

import inspect
from contextlib import ExitStack

import numpy as np
import pytest

import ramify
from ramify import tree as faces
from ramify.estimators._cut import read_cut
from ramify.estimators._identity import Identity
from ramify.ray import ShardedOHAC
from ramify.ray._served import ServedTree
from ramify.serve import running

pytestmark = pytest.mark.no_asan  # other libraries at work

CUTS = (
    *({"n_clusters": 4}, {"height": 3.0}, {"max_size": 9}, {}),
    *({"n_clusters": 4, "min_size": 5}, {"height": 3.0, "min_size": 4}, {"min_size": 6}),
)
#: Cuts by rows, which have the tree looked at as a whole.
BY_ROWS = (
    *({"by": "modularity"}, {"by": "modularity", "resolution": 3.0}),
    *({"by": "variance", "n_clusters": 5}, {"by": "variance", "n_clusters": 4, "min_size": 3}),
)

HOMES = ("live", "folder", "shards", "served", "remote", "remote shards")
KEEPERS = ("folder", "served", "remote", "remote shards")


def stream():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3)) + 9 * rng.normal(size=(4, 3))[rng.integers(4, size=60)]
    return (
        X,
        [f"T{i}" for i in range(60)],
        [f"word{i % 3} text" if i % 4 else None for i in range(60)],
    )


def open_home(home, folder, stack, **more):
    options = {"history": 20, **(more or {"n_clusters": 3})}
    if home == "live":
        return ramify.OHAC(**options)
    if home == "folder":
        return stack.enter_context(ramify.open(folder, ramify.OHAC(**options)))
    if home == "shards":
        return stack.enter_context(ShardedOHAC(1, folder=folder, engine="local", **options))
    if home == "served":
        tree = ServedTree(folder, {"n_shards": 1, "engine": "local", **options}, 1000)
        stack.callback(tree.close)
        return tree
    in_shards = {"ray": "local", "shards": 1} if home == "remote shards" else {}
    address = stack.enter_context(running(folder, **in_shards))
    return stack.enter_context(ramify.Client(address)).create("a", **options)


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """The same stream in all of them: a batch, single points, points that go again."""
    X, ids, payloads = stream()
    found = {}
    with ExitStack() as stack:
        for home in HOMES:
            tree = open_home(home, tmp_path_factory.mktemp(home), stack)
            along = {} if home == "live" else {"payloads": payloads[:50]}
            assert tree.partial_fit(X[:50], ids=ids[:50], **along) is tree
            for at in range(50, 58):
                assert tree.insert(X[at], id=ids[at]) == at
            assert tree.forget(ids[3]) == 1
            assert tree.forget(ids[10:14]) == 4
            found[home] = tree
        yield found


@pytest.fixture(params=HOMES[1:])
def pair(request, homes):
    return homes["live"], homes[request.param]


def members(protocol):
    return {name: found for name, found in vars(protocol).items() if name in faces.READS | WRITES}


WRITES = {"partial_fit", "insert", "forget"}


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("protocol", [faces.TreeReads, faces.TreeWrites])
def test_every_home_has_every_verb_with_its_parameters(homes, home, protocol):
    for name, found in members(protocol).items():
        there = getattr(homes[home], name)
        if isinstance(found, property):
            continue
        given = inspect.signature(there).parameters
        takes_more = any(one.kind is one.VAR_KEYWORD for one in given.values())
        for wanted in list(inspect.signature(found).parameters)[1:]:
            assert wanted in given or takes_more, (home, name, wanted)


@pytest.mark.parametrize("home", KEEPERS)
def test_every_keeper_has_what_came_along(homes, home):
    X, ids, payloads = stream()
    tree = homes[home]
    assert isinstance(tree, faces.Keeps)
    texts = {one: text for one, text in zip(ids[:50], payloads, strict=False) if text is not None}
    asked = [one for one in ids[:50] if one not in (ids[3], *ids[10:14])]
    assert tree.payloads(asked) == {one: texts[one] for one in asked if one in texts}
    hits = tree.search("word2", limit=5)
    assert [(hit.id, hit.payload) for hit in hits] == [
        (ids[hit.number], payloads[hit.number]) for hit in hits
    ]
    again = tree.add(X[:2], ids=ids[:2])
    assert (list(again.numbers), again.repeated) == ([0, 1], 2)


def test_the_points_are_the_same(pair):
    live, other = pair
    assert len(other) == len(live) == 53
    assert other.n_points_ == 53
    assert other.point_numbers_.tolist() == live.point_numbers_.tolist()
    assert other.ids_.tolist() == live.ids_.tolist()
    assert other.labels_.tolist() == live.labels_.tolist()
    assert other.number_of("T7") == 7
    with pytest.raises(KeyError):
        other.number_of("T3")
    assert other.hierarchy() == live.hierarchy()


@pytest.mark.parametrize("cut", CUTS + BY_ROWS, ids=lambda cut: "+".join(map(str, cut)) or "own")
def test_the_clusters_are_the_same(pair, cut):
    live, other = pair
    assert other.cut(**cut).tolist() == live.cut(**cut).tolist()
    for mine, theirs in zip(live.clusters(**cut), other.clusters(**cut), strict=True):
        for field in ("label", "node_id", "size", "height", "first_point", "name"):
            assert getattr(mine, field) == getattr(theirs, field), field
    for points in (live.point_numbers_[::7], ["T1", "T40"]):
        for mine, theirs in zip(
            live.cluster_of(points, **cut), other.cluster_of(points, **cut), strict=True
        ):
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("min_size", [None, 5])
def test_the_levels_are_the_same(pair, min_size):
    live, other = pair
    levels = live.levels(2, 4, 6, min_size=min_size), other.levels(2, 4, 6, min_size=min_size)
    for mine, theirs in zip(*levels, strict=True):
        for one, two in zip(mine, theirs, strict=True):
            for field in ("label", "node_id", "size", "height", "first_point", "parent"):
                assert getattr(one, field) == getattr(two, field), field


@pytest.mark.parametrize("asked", [{}, {"min_size": 2, "most": 2}], ids=["most", "few"])
def test_the_layers_are_the_same(pair, asked):
    live, other = (home.layers(**asked) for home in pair)
    assert len(live) > 1
    assert live.min_sizes.tolist() == other.min_sizes.tolist()
    assert live.persistence.tolist() == other.persistence.tolist()
    for mine, theirs in zip(live, other, strict=True):
        for one, two in zip(mine, theirs, strict=True):
            for field in ("label", "node_id", "size", "height", "first_point", "parent"):
                assert getattr(one, field) == getattr(two, field), field


@pytest.mark.parametrize("cut", BY_ROWS, ids=lambda cut: "+".join(map(str, cut.values())))
def test_rows_are_assigned_alike_by_cuts_that_look_at_rows(pair, cut):
    X = stream()[0][:9] + 0.1
    live, other = (home.assign(X, **cut, confidence=True, new=0.1) for home in pair)
    for field in ("labels", "node_ids", "points", "confidence", "new"):
        assert getattr(live, field).tolist() == getattr(other, field).tolist(), field


JOINED = CUTS[4:]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("cut", JOINED, ids="+".join)
def test_small_clusters_join_others_in_every_verb_that_takes_a_cut(homes, home, cut):
    """What each verb says is what the snapshot says, point by point."""
    tree = homes[home]
    still = tree.hierarchy()
    labels, ids = still.cut(**cut), still.names.tolist()
    groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    assert min(map(len, groups)) >= cut["min_size"]
    assert tree.cut(**cut).tolist() == labels.tolist()
    found = tree.clusters(**cut)
    assert [one.size for one in found] == [len(group) for group in groups]
    assert [one.first_point for one in found] == [still.point_numbers[g[0]] for g in groups]
    nodes = still.clusters(**cut).node_ids
    assert [one.node_id for one in found] == nodes.tolist()
    for mine, theirs in zip(tree.cluster_of(ids, **cut), (labels, nodes[labels]), strict=True):
        assert mine.tolist() == theirs.tolist()
    rows = stream()[0][[0, 57]]
    told = tree.assign(rows, **cut)
    at = [ids.index("T0"), ids.index("T57")]
    assert told.labels.tolist() == labels[at].tolist()
    assert told.node_ids.tolist() == nodes[labels[at]].tolist()
    assert told.distances.tolist() == [0, 0]
    codes = [still.path_code(still.node_of(node)) for node in told.node_ids.tolist()]
    assert told.path_codes == codes
    stable = tree.stable_labels(**cut)
    assert len(set(zip(stable.tolist(), labels.tolist(), strict=True))) == len(groups)
    if home in KEEPERS:
        texts = dict(zip(stream()[1], stream()[2], strict=True))
        here = [texts[one] or "" if int(one[1:]) < 50 else "" for one in ids]
        assert tree.keywords(**cut) == still.clusters(**cut, texts=here).keywords()


@pytest.mark.parametrize("home", HOMES)
def test_a_tree_of_its_own_cut_has_no_small_clusters(tmp_path, home):
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack, n_clusters=3, min_size=8)
        tree.partial_fit(stream()[0])
        wanted = tree.hierarchy().cut(n_clusters=3, min_size=8)
        assert tree.labels_.tolist() == wanted.tolist()
        assert tree.predict(stream()[0]).tolist() == wanted.tolist()
        assert [one.size for one in tree.clusters()] == np.bincount(wanted).tolist()
        assert tree.cut(n_clusters=3).tolist() == tree.hierarchy().cut(n_clusters=3).tolist()


@pytest.mark.parametrize("home", HOMES)
def test_cuts_hold_still_in_every_home(tmp_path, home):
    """Of two trees of the same stream, one in an estimator, each cut holds on to the same one."""
    X, ids, _ = stream()
    live = ramify.OHAC(history=20, n_clusters=3)
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        first = []
        for one in (tree, live):
            one.partial_fit(X[:30], ids=ids[:30])
            first.append((one.cut(n_clusters=5, like=()), one.stable_labels(n_clusters=5)))
        for one in (tree, live):
            one.partial_fit(X[30:], ids=ids[30:])
            one.forget(ids[:6])
        assert first[0][0].tolist() == first[1][0].tolist()
        named = dict(zip(ids[:30], first[1][0].tolist(), strict=True))
        numbered = dict(enumerate(first[1][0].tolist()))
        listed = live.cut(n_clusters=9).tolist()
        prices = set()
        for stickiness in (0.0, 0.5, 9.0):
            for like in (first[1][0], named, numbered, listed):
                told = tree.cut(n_clusters=5, like=like, stickiness=stickiness)
                wanted = live.cut(n_clusters=5, like=like, stickiness=stickiness)
                assert told.tolist() == wanted.tolist()
                for field in ("price", "moved", "moved_plainly"):
                    assert getattr(told, field) == pytest.approx(getattr(wanted, field))
                assert told.point_numbers.tolist() == live.point_numbers_.tolist()
                prices.add(told.price > 0)
            held = [one.stable_labels(n_clusters=5, stickiness=stickiness) for one in (tree, live)]
            assert held[0].tolist() == held[1].tolist()
        assert prices == {False, True}
        with pytest.raises((ValueError, ramify.client.RemoteError), match="like goes with"):
            tree.cut(height=1.0, like=listed)


@pytest.mark.parametrize("home", HOMES)
def test_a_cut_that_cannot_be_is_refused_in_every_home(homes, home):
    for cut, said in (
        ({"max_size": 9, "min_size": 2}, "give one of"),
        ({"n_clusters": 3, "height": 1.0, "min_size": 2}, "give one of"),
        ({"n_clusters": 30, "min_size": 5}, "and no more"),
        ({"min_size": 99}, "min_size=99"),
    ):
        for verb in ("cut", "clusters", "stable_labels"):
            with pytest.raises((ValueError, ramify.client.RemoteError), match=said):
                getattr(homes[home], verb)(**cut)
    for cut, said in (
        ({"by": "modularity", "n_clusters": 3}, "leave out n_clusters"),
        ({"by": "variance"}, "goes with n_clusters"),
        ({"n_clusters": 3, "resolution": 2.0}, "resolution goes with by='modularity'"),
        ({"by": "modularity", "like": [0, 1]}, "like goes with n_clusters"),
    ):
        with pytest.raises((ValueError, ramify.client.RemoteError), match=said):
            homes[home].cut(**cut)


@pytest.mark.parametrize("home", KEEPERS)
def test_payloads_give_keywords_without_being_aligned(homes, home):
    tree, live = homes[home], homes["live"]
    ids, payloads = stream()[1:]
    texts = dict.fromkeys(ids, "") | {
        one: t or "" for one, t in zip(ids, payloads[:50], strict=False)
    }
    words = live.clusters(n_clusters=3, texts=texts)
    assert tree.keywords(n_clusters=3) == words.keywords()
    more = {"bigrams": True, "stop_words": ["word1"]}
    found = tree.keywords(2, n_clusters=3, **more)
    assert found == words.keywords(2, **more)
    assert not any("word1" in word for one in found for word in one)
    assert any(" " in word for one in found for word in one)
    assert tree.keywords(9, stop_words="english") == live.clusters(texts=texts).keywords(9)
    near = {"by": "modularity", "resolution": 2.0}
    assert tree.keywords(9, **near) == live.clusters(**near, texts=texts).keywords(9)


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: "+".join(cut) or "own")
def test_rows_belong_to_the_same_clusters(pair, cut):
    live, other = pair
    X = stream()[0][::5] + 0.1
    mine, theirs = live.assign(X, **cut), other.assign(X, **cut)
    for field in ("labels", "node_ids", "points", "distances"):
        assert getattr(mine, field).tolist() == getattr(theirs, field).tolist(), field
    assert mine.path_codes == theirs.path_codes
    assert other.predict(X).tolist() == live.predict(X).tolist()
    for k in (None, 4):
        for one, two in zip(live.nearest(X, k=k), other.nearest(X, k=k), strict=True):
            assert one.tolist() == two.tolist()


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: "+".join(cut) or "own")
@pytest.mark.parametrize("sure", [True, False, (2, 5, 9)], ids=str)
def test_all_are_as_sure_where_rows_belong_and_what_is_new(pair, cut, sure):
    live, other = pair
    X = np.vstack([stream()[0][::9] + 0.4, [[99.0, 0.0, -70.0]]])
    mine, theirs = (
        home.assign(X, **cut, confidence=sure, new=0.1 if sure is not True else None)
        for home in (live, other)
    )
    if sure is not False:
        assert theirs.confidence.tolist() == mine.confidence.tolist()
        assert mine.confidence.shape == ((8,) if sure is True else (8, 3))
    if sure is not True:
        assert theirs.new.tolist() == mine.new.tolist()
        assert mine.new[-1]
    assert (theirs.confidence is None, theirs.new is None) == (sure is False, sure is True)
    assert theirs.labels.tolist() == other.assign(X, **cut).labels.tolist()


@pytest.mark.parametrize("home", HOMES)
def test_bad_questions_of_how_sure_are_refused_alike(homes, home):
    for asked, says in (
        ({"confidence": "yes"}, "expected True, False, or numbers"),
        ({"confidence": [5, 2]}, "ascending"),
        ({"confidence": [2, 999]}, "number of points"),
        ({"new": 1.5}, "share of false alarms"),
    ):
        with pytest.raises((TypeError, ValueError, ramify.client.RemoteError), match=says):
            homes[home].assign(stream()[0][:2], n_clusters=3, **asked)


def test_the_paths_are_the_same(pair):
    live, other = pair
    for point in (0, "T57", 30):
        assert other.path(point).tolist() == live.path(point).tolist()
        assert other.path_code(point) == live.path_code(point)
    assert other.lca("T0", "T57") == live.lca("T0", "T57")


def test_points_are_found_by_number_and_by_id_over_a_connection(homes):
    tree = homes["remote"]
    assert tree.path(7).tolist() == tree.path("T7").tolist()
    with pytest.raises(KeyError):
        tree.path(3)
    with pytest.raises(KeyError):
        tree.path("7")


def test_a_reader_may_ask_and_not_have_anything_written_down(tmp_path):
    options = {"token": "t" * 20, "read_token": "r" * 20}
    with (
        running(tmp_path, **options) as address,
        ramify.Client(address, token="t" * 20) as writer,
        ramify.Client(address, token="r" * 20) as reader,
    ):
        writer.create("c").partial_fit([[0.0], [1.0], [9.0]])
        tree = reader.tree("c")
        assert tree.nearest([[8.0]])[0].tolist() == [2]
        assert tree.cluster_of([2], n_clusters=2)[0].tolist() == [1]
        assert tree.payloads([2]) == {}
        assert tree.cut(n_clusters=2).tolist() == [0, 0, 1]
        for write in (lambda: tree.stable_labels(n_clusters=2), lambda: tree.forget(0)):
            with pytest.raises(ramify.client.RemoteError, match="may read and not write"):
                write()


def test_rows_alone_are_told_their_numbers_one_by_one(tmp_path):
    """The server tells them in runs; a row of weight 0 is skipped, and breaks a run."""
    X = stream()[0]
    with running(tmp_path) as address, ramify.Client(address) as client:
        tree = client.create("b", zero_rows="skip", metric="cosine")
        rows = X[:9].copy()
        rows[[0, 4, 5]] = 0.0
        assert tree.add(rows).numbers == [-1, 0, 1, 2, -1, -1, 3, 4, 5]
        assert tree.add(rows[6:8]).numbers == [6, 7]


def test_the_old_name_of_a_cut_is_understood_over_http(homes):
    http = homes["remote"]._client._http
    both = [
        http.get("/trees/a/clusters", params={name: 4}).json()["clusters"]
        for name in ("k", "n_clusters")
    ]
    assert both[0] == both[1]
    assert http.get("/trees/a/clusters", params={"k": 4, "n_clusters": 4}).status_code == 422


@pytest.mark.parametrize("home", HOMES)
def test_ids_of_clusters_stay_in_every_home(homes, home):
    # Which ids are free hangs on what other tests have asked of this home.
    tree, labels = homes[home], homes["live"].cut(n_clusters=3)
    ids = tree.stable_labels(n_clusters=3)
    assert len(set(zip(ids.tolist(), labels.tolist(), strict=True))) == len(set(ids.tolist())) == 3
    assert tree.stable_labels(n_clusters=3).tolist() == ids.tolist()


@pytest.mark.parametrize("home", HOMES)
def test_clusters_are_called_what_stable_labels_called_them(tmp_path, home):
    """Reading gives no ids: a cluster that is new since they were given has none."""
    X = stream()[0]
    cuts = [{"n_clusters": 3}, {"height": 3.0}, {"n_clusters": 4, "min_size": 4}, {"max_size": 9}]

    def told(tree, **cut):
        return [one.stable_id for one in tree.clusters(**cut)]

    def given(tree, **cut):
        stable, labels = tree.stable_labels(**cut).tolist(), tree.cut(**cut).tolist()
        return list(dict(sorted(zip(labels, stable, strict=True))).values())

    with ExitStack() as stack:
        tree, again = open_home(home, tmp_path, stack), Identity()
        for stop in (30, 45, 60):
            tree.partial_fit(X[stop - 15 if stop > 30 else 0 : stop])
            if stop == 60:
                tree.forget([3, 50])
            for options in cuts:
                cut = read_cut(options, 99)
                labels, numbers = tree.cut(**options), tree.point_numbers_
                kept = again.known(cut, numbers, labels).tolist()
                wanted = [None if one < 0 else one for one in kept]
                assert told(tree, **options) == wanted
                assert told(tree, **options) == wanted  # which has changed nothing
                assert_all_say(tree, options, np.array(kept), X)
                again.name(cut, numbers, labels)
                assert given(tree, **options) == told(tree, **options)
                least = options.get("min_size")
                if "n_clusters" in options:
                    levels = tree.levels(1, options["n_clusters"], min_size=least)
                    assert [one.stable_id for one in levels[0]] == [None]
                    assert [one.stable_id for one in levels[1]] == told(tree, **options)
        before = [told(tree, **cut) for cut in cuts]
        assert not any(None in ids for ids in before)
    if home in ("folder", "shards"):
        with ExitStack() as stack:
            tree = open_home(home, tmp_path, stack)
            assert [told(tree, **cut) for cut in cuts] == before


def assert_all_say(tree, cut, ids, X):
    """Every answer about a cluster has the same id."""
    found = tree.assign(X[::7] + 0.2, **cut)
    assert found.stable_ids.tolist() == ids[found.labels].tolist()
    located = tree.cluster_of(tree.point_numbers_[::5], **cut)
    assert located.stable_ids.tolist() == ids[located.labels].tolist()
    labels, node_ids = located
    assert (labels.tolist(), node_ids.tolist()) == tuple(map(np.ndarray.tolist, located))
    dirty = tree.past.dirty(0, **cut)
    assert dirty.stable_ids.tolist() == ids.tolist()
    if cut == {"n_clusters": 3}:  # its own
        plain = tree.predict(X[::7])
        assert tree.predict(X[::7], stable=True).tolist() == ids[plain].tolist()


@pytest.mark.parametrize("home", HOMES)
def test_people_name_clusters_in_every_home(tmp_path, home):
    """The names are those of an estimator, while points come and go, and after a restart."""
    X, ids, _ = stream()
    live = ramify.OHAC(history=20, n_clusters=3)
    with ExitStack() as stack:
        tree = open_home(home, tmp_path, stack)
        both = tree, live
        for one in both:
            one.partial_fit(X[:40], ids=ids[:40])
            for cluster, text in zip(one.clusters(n_clusters=4), "abcd", strict=True):
                one.edit.rename(cluster.node_id, text)
            one.edit.rename(one.clusters(n_clusters=4)[1].node_id, None)
            one.partial_fit(X[40:], ids=ids[40:])
            with pytest.raises((KeyError, ramify.client.RemoteError)):
                one.edit.rename(10**6, "nowhere")
        for gone in (ids[:1], ids[1:6], ids[6:30]):
            for one in both:
                one.forget(gone)
            for one in both:
                assert one.edit.list()[:2] == live.edit.list()[:2]
                for k in (3, 4, 7):
                    names = [cluster.name for cluster in live.clusters(n_clusters=k)]
                    assert [cluster.name for cluster in one.clusters(n_clusters=k)] == names
                    assert [cluster.name for cluster in one.levels(2, k)[1]] == names
                assert one.hierarchy().node_names == live.hierarchy().node_names
        assert sorted(live.edit.list().names.values()) == ["a", "c", "d"]
        if home == "shards":
            assert tree.to_model().edit.list().names == live.edit.list().names
        if "shards" in home or home == "served":
            with pytest.raises((AttributeError, ramify.client.RemoteError), match="names alone"):
                tree.edit.must_link(ids[40], ids[41])
    if home in ("folder", "shards", "served"):
        with ExitStack() as stack:
            tree = open_home(home, tmp_path, stack)
            assert tree.edit.list()[:2] == live.edit.list()[:2]


def told_dirty(old, new, cut):
    """Labels of the clusters of a snapshot that were no cluster of an earlier one."""

    def groups(tree):
        try:
            labels = tree.cut(**cut)
        except ValueError:  # as many as there can be
            labels = tree.cut(min_size=cut["min_size"])
        return [frozenset(tree.leaf_numbers[labels == i]) for i in range(labels.max() + 1)]

    then = set(groups(old))
    return [label for label, points in enumerate(groups(new)) if points not in then]


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("home", HOMES)
def test_clusters_that_are_not_what_they_were(tmp_path, home, shards):
    X = np.vstack([stream()[0], stream()[0][:30] + 0.01])
    cuts = [cut for cut in CUTS if cut]
    with ExitStack() as stack:
        if shards == 3:
            if home != "shards":
                pytest.skip("one tree in one place")
            options = {"engine": "local", "block": 8, "frontier": 4, "history": 20}
            tree = stack.enter_context(ShardedOHAC(3, folder=tmp_path, **options))
        else:
            tree = open_home(home, tmp_path, stack)
        seen = {}
        for begin in range(0, 90, 15):
            tree.partial_fit(X[begin : begin + 15])
            if begin == 60:
                tree.forget([3, 7, 40])
            seen[tree.version] = tree.hierarchy()
        new = tree.hierarchy()
        found = set()
        for version, old in seen.items():
            for cut in cuts:
                told = tree.past.dirty(version, **cut)
                assert told.labels.tolist() == told_dirty(old, new, cut)
                clusters = new.clusters(**cut)
                assert told.node_ids.tolist() == clusters.node_ids[told.labels].tolist()
                assert told.sizes.tolist() == clusters.sizes[told.labels].tolist()
                found.add(0 < len(told.labels) < len(clusters))
        assert found == {False, True}
        assert tree.past.dirty(0, n_clusters=3).labels.tolist() == [0, 1, 2]
        assert tree.past.dirty(version, n_clusters=3).labels.tolist() == []


@pytest.mark.parametrize("home", HOMES)
def test_a_point_that_is_not_there_is_no_point_in_any_home(homes, home):
    before = homes[home].version
    with pytest.raises(KeyError):
        homes[home].forget(["T0", "T3"])
    assert homes[home].version == before
    assert homes[home].n_points_ == 53


@pytest.mark.parametrize("home", HOMES)
def test_changes_lead_from_the_snapshot_before_to_the_one_after(homes, home):
    tree = homes[home]
    before, old = tree.version, tree.hierarchy()
    tree.partial_fit([[0.5, 0.25, 3.0]], ids=["late"])
    found = tree.past.changes(before)
    assert (found.inserted.tolist(), found.ids.tolist()) == ([58], ["late"])
    assert found.apply(old) == tree.hierarchy()
    tree.forget("late")
    assert not tree.past.changes(tree.version)
