"""Trees that take other shapes: adopted, begun by HAC, polished, refined, interchanged."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage as scipy_linkage

import ramify
from ramify import HAC, OHAC, OTD, Budget, Hierarchy, Last, metrics
from tests.oracles import interchanges as oracle
from tests.oracles.linkages import METRICS, OFFERED, distance_matrix
from tests.oracles.recount import examine
from tests.oracles.revenue import revenue as oracle_revenue
from tests.oracles.trees import clusters, from_children
from tests.shapes import chain, hierarchies, long_chain, shape, trees
from tests.strategies import examples, few_values, grid_rows, rows_for, scaled, seeds

every_metric = pytest.mark.parametrize("metric", METRICS)
X = np.random.default_rng(0).normal(size=(150, 3))


def tree_of(model):
    return from_children(model.hierarchy().children)


def earned(tree, rows, metric):
    return oracle_revenue(from_children(tree.children), -distance_matrix(rows, metric))


# --- interchanges ----------------------------------------------------------------------


@given(trees(3, 9), seeds())
def test_what_an_interchange_changes(children, seed):
    """|A||B||C| (w(A,C) - w(B,C)), whatever the rest of the tree is."""
    w = np.random.default_rng(seed).normal(size=(len(children) + 1,) * 2)
    w = w + w.T
    tree = from_children(children)
    for above in oracle.inner_nodes(tree):
        for u, A in ((above.left, above.right), (above.right, above.left)):
            if u.is_leaf:
                continue
            for B, C in ((u.left, u.right), (u.right, u.left)):
                other = oracle.replaced(tree, above, oracle.merge(oracle.merge(A, C), B))
                gain = oracle_revenue(other, w) - oracle_revenue(tree, w)
                mean_ac, mean_bc = (oracle.mean_between(w, P.leaves, C.leaves) for P in (A, B))
                expected = len(A) * len(B) * len(C) * (mean_ac - mean_bc)
                assert gain == pytest.approx(expected, rel=1e-9, abs=1e-9)


# --- OHAC(update="nni") ----------------------------------------------------------------


@every_metric
def test_nni_gives_the_tree_of_its_definition(metric):
    @settings(max_examples=examples(40))
    @given(rows_for(metric, max_size=40))
    def check(rows):
        gaps = []
        expected = oracle.ohac_nni(rows, metric, gaps)
        assume(min(gaps, default=1) > 1e-10)
        model = OHAC(metric=metric, update="nni").partial_fit(rows)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, rows)

    check()


@every_metric
@pytest.mark.parametrize("rows", [grid_rows(), few_values()], ids=["grid", "few"])
def test_nni_where_there_are_ties(metric, rows):
    @settings(max_examples=examples(30))
    @given(rows)
    def check(rows):
        rows = rows + 4 * (np.arange(rows.shape[1]) == 0)  # no zero rows
        model = OHAC(metric=metric, update="nni")
        for row in rows:
            model.insert(row)
        examine(model, rows)

    check()


def test_nni_while_points_come_weigh_and_go():
    model = OHAC(update="nni").fit(X, sample_weight=np.arange(1, 151))
    model.forget(np.arange(0, 100, 3))
    model.check()
    counting = OHAC(update="nni", duplicates="count").fit(np.round(X))
    assert counting.n_points_ == 150
    counting.check()
    model = OHAC(update="nni", keep=Last(40))
    for row in X:
        model.insert(row)
    assert len(model) == 40
    model.check()


def test_nni_is_about_as_good_as_the_paper():
    rows = ramify.datasets.cities().points[::10].astype(float)
    fractions = [
        metrics.revenue_fraction(OHAC(update=update).fit(rows).hierarchy(), rows)
        for update in ("hac", "nni")
    ]
    assert fractions[1] == pytest.approx(fractions[0], abs=0.01)


# --- OTD -------------------------------------------------------------------------------


@every_metric
@pytest.mark.parametrize(("rule", "rotate"), [("split", False), ("split", True), ("paper", True)])
def test_otd_gives_the_tree_of_its_definition(metric, rule, rotate):
    @settings(max_examples=examples(40))
    @given(rows_for(metric, max_size=40))
    def check(rows):
        gaps = []
        expected = oracle.otd_variant(rows, metric, rule, rotate, gaps)
        assume(min(gaps, default=1) > 1e-10)
        model = OTD(metric=metric, rule=rule, rotate=rotate).partial_fit(rows)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, rows)

    check()


def test_the_split_rule_finds_groups_that_the_paper_loses():
    groups = ramify.datasets.gmm_8()
    order = np.random.default_rng(0).permutation(len(groups.points))
    rows = groups.points[order]
    paper, split = (
        metrics.revenue_fraction(OTD(rule=rule).fit(rows).hierarchy(), rows)
        for rule in ("paper", "split")
    )
    assert paper < 0.5
    assert split > paper + 0.2


def test_otd_variants_while_points_come_and_go():
    for rule, rotate in (("split", True), ("split", False), ("paper", True)):
        model = OTD(rule=rule, rotate=rotate, metric="cosine").fit(X + 3)
        model.forget(np.arange(0, 100, 3))
        model.check()
        model.partial_fit(X + 4, np.arange(1, 151))
        model.check()


# --- adopted ---------------------------------------------------------------------------


@pytest.mark.parametrize("Estimator", [OHAC, OTD])
@every_metric
def test_adopted_trees_continue_validly(Estimator, metric):
    @settings(max_examples=examples(20))
    @given(rows_for(metric, 3), seeds(), st.sampled_from(["chain", "balanced", "random"]))
    def check(rows, seed, kind):
        n = len(rows) // 2 + 1
        tree = Hierarchy.from_children(shape(kind, n, np.random.default_rng(seed)))
        model = Estimator.from_hierarchy(tree, rows[:n], options={"metric": metric})
        assert clusters(tree_of(model)) == clusters(from_children(tree.children))
        examine(model, rows[:n])
        model.partial_fit(rows[n:])
        examine(model, rows)

    check()


@pytest.mark.parametrize(("metric", "linkage"), OFFERED)
def test_an_adopted_hac_tree_goes_on_as_one_that_began_with_hac(metric, linkage):
    options = {"metric": metric, "linkage": linkage}
    rows = X + 2
    offline = HAC(**options).fit(rows[:100])
    adopted = OHAC.from_hierarchy(offline.hierarchy(), rows[:100], options=options)
    begun = OHAC(start="hac", **options).fit(rows[:100])
    assert adopted.hierarchy() == offline.hierarchy() == begun.hierarchy()
    for model in (adopted, begun):
        model.partial_fit(rows[100:])
        examine(model, rows)
    assert adopted.hierarchy() == begun.hierarchy()


def test_trees_of_other_libraries_names_weights_and_float32():
    Z = scipy_linkage(X, "single")
    model = OHAC.from_hierarchy(Z, X.astype(np.float32))
    assert clusters(tree_of(model)) == clusters(from_children(Hierarchy.from_linkage(Z).children))
    assert model.points().dtype == np.float32
    children = Hierarchy.from_linkage(Z).children
    assert OHAC.from_hierarchy(children, X).hierarchy() == OHAC.from_hierarchy(Z, X).hierarchy()
    named = HAC().fit(X[:3], np.array([1, 2, 5]), ids=["ash", "elm", "oak"]).hierarchy()
    model = OHAC.from_hierarchy(named, X[:3], options={"n_clusters": 2})
    assert model.ids_.tolist() == ["ash", "elm", "oak"]
    assert model.hierarchy().weights.tolist() == named.weights.tolist()
    assert len(model.labels_) == 3
    model.insert(X[3], id="fir")
    again = OHAC.from_hierarchy(named, X[:3], ids=[7, 8, 9])
    assert again.ids_.tolist() == [7, 8, 9]
    alone = OHAC.from_hierarchy(np.empty((0, 4)), [[1.0, 2.0]])
    assert len(alone.partial_fit(X[:5, :2])) == 6


def test_a_long_chain_is_adopted():
    n = scaled(500_000)
    rows = np.random.default_rng(1).normal(size=(n, 2))
    model = OTD.from_hierarchy(long_chain(n), rows)
    assert (len(model.path(0)) - 1) == n - 1
    model.polish()
    assert len(model) == n


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OHAC.from_hierarchy(long_chain(3), X[:4]), "3 leaves, but there are 4 rows"),
        (
            lambda: OHAC.from_hierarchy(long_chain(3), X[:3], options={"duplicates": "count"}),
            "a leaf may stand for several points",
        ),
        (
            lambda: OTD.from_hierarchy(
                long_chain(3), abs(X[:3]), options={"certify": True, "metric": "dot"}
            ),
            "a certificate is for trees of OTD's own shape",
        ),
        (lambda: OHAC(start="hac", keep=Budget(9)).fit(X), "a leaf may stand for several points"),
        (lambda: OHAC(start="hac", keep=Last(9)).fit(X), "set no window"),
        (lambda: OHAC(start="online HAC").fit(X), "start='online HAC' is not offered"),
        (lambda: OHAC(update="nni", n_neighbors=2).fit(X), "asks for one neighbour"),
        (lambda: OHAC(polishing=True).fit(X), "polishing=True: expected a string"),
        (lambda: OTD(rule="paper", rotate=1).fit(X), "rotate=1: expected True or False"),
        (
            lambda: OTD(rule="split", certify=True, metric="dot").fit(abs(X)),
            "the proof is for rule='paper'",
        ),
        (
            lambda: OTD(certify=True, metric="dot").fit(abs(X)).polish(),
            "polish: a certificate is for trees of OTD's own shape",
        ),
        (lambda: OHAC().fit(X).polish(2), "m=2: expected at least 3"),
        (lambda: long_chain(3).polish(X[:4]), "expected 3 rows"),
        (lambda: long_chain(3).polish(X[:3], metric="l1"), "metric='l1' is not offered"),
        (
            lambda: long_chain(3).polish(X[:3], metric="dot", linkage="ward"),
            "no heights under metric='dot'",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# --- begun by HAC ----------------------------------------------------------------------


def test_the_first_batch_alone_is_merged_by_hac():
    model = OHAC(start="hac").partial_fit(X[:50], ids=range(50))
    assert model.hierarchy() == HAC().fit(X[:50]).hierarchy()
    model.partial_fit(X[50:], ids=range(50, 150))
    examine(model, X)
    assert model.ids_.tolist() == list(range(150))
    one_by_one = OHAC(start="hac")
    for row in X:
        one_by_one.insert(row)
    assert one_by_one.hierarchy() == OHAC().fit(X).hierarchy()
    assert model.fit(X).hierarchy() == HAC().fit(X).hierarchy()


def test_an_interrupted_start_leaves_an_empty_tree():
    def stop(done, total):
        raise KeyboardInterrupt

    rows = np.random.default_rng(2).normal(size=(scaled(200_000), 3))
    model = OHAC(start="hac")
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, progress=stop)
    assert len(model) in (0, len(rows))
    if len(model) == 0:
        model.partial_fit(X)
        assert model.hierarchy() == HAC().fit(X).hierarchy()


# --- polished --------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "linkage"), OFFERED)
def test_polish_gives_the_tree_of_its_definition(metric, linkage):
    @settings(max_examples=examples(30))
    @given(rows_for(metric, 3, 24), seeds(), st.sampled_from(["chain", "balanced", "random"]))
    def check(rows, seed, kind):
        rng = np.random.default_rng(seed)
        tree = Hierarchy.from_children(shape(kind, len(rows), rng))
        m = int(rng.integers(3, len(rows) + 3))
        gaps = []
        expected = oracle.polished(from_children(tree.children), rows, metric, m, gaps, linkage)
        assume(min(gaps, default=1) > 1e-9)
        found = tree.polish(rows, m, metric=metric, linkage=linkage)
        found.check()
        assert clusters(from_children(found.children)) == clusters(expected)
        model = OHAC.from_hierarchy(tree, rows, options={"metric": metric, "linkage": linkage})
        before = model.version
        assert bool(model.polish(m)) == (found is not tree)
        assert (model.version > before) == (found is not tree)
        assert clusters(tree_of(model)) == clusters(expected)
        examine(model, rows)

    check()


@every_metric
def test_revenue_never_falls(metric):
    @settings(max_examples=examples(60))
    @given(hierarchies(3), seeds(), st.booleans())
    def check(tree, seed, whole):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(tree.n_leaves, 2)) + 0.5
        rows = np.round(2 * rows) + 3 if whole else rows
        m = int(rng.integers(3, tree.n_leaves + 3))
        better = tree.polish(rows, m, metric=metric)
        before, after = earned(tree, rows, metric), earned(better, rows, metric)
        assert after >= before - 1e-9 * (abs(before) + 1)
        # And so by the measure that users have.
        fast = [metrics.revenue(one, rows, similarity=metric) for one in (tree, better)]
        assert fast[1] >= fast[0] - 1e-9 * (abs(fast[0]) + 1)

    check()


def test_polish_merges_by_the_linkage_of_the_model():
    """Average linkage at the top of a ward tree made one large cluster and many crumbs."""
    rows = ramify.datasets.intents().points[::2]
    rows = np.random.default_rng(1).permutation(rows)
    model = OHAC(linkage="ward").fit(rows)
    largest = np.bincount(model.cut(n_clusters=20)).max()
    said = model.polish()
    assert said
    assert said.by == "squares"
    assert all(each.after < each.before for each in said.rounds if each.kept)
    assert all(
        each.after == each.before and each.gain == 0 for each in said.rounds if not each.kept
    )
    assert np.bincount(model.cut(n_clusters=20)).max() < 1.5 * largest
    assert OHAC().fit(rows).polish(50).by == "revenue"
    assert OHAC(metric="dot", linkage="centroid").fit(rows).polish(50).by == "revenue"


@pytest.mark.parametrize("linkage", ["average", "ward", "centroid"])
def test_a_snapshot_is_polished_by_the_linkage_of_its_heights(linkage):
    rows = np.random.default_rng(2).normal(size=(300, 3)).astype(np.float32)
    model = OHAC(linkage=linkage).fit(rows)
    model.edit.must_link(3, 200)  # at height 0 under any linkage
    model.edit.unlink(3, 200)
    tree = model.hierarchy()
    assert tree.polish(rows, 30) == tree.polish(rows, 30, linkage=linkage)
    Z = scipy_linkage(rows, "complete")
    assert Hierarchy.from_linkage(Z).polish(rows) == Hierarchy.from_linkage(Z).polish(
        rows, linkage="average"
    )


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_no_gap_is_suggested_behind_merges_that_an_inversion_lifts(seed):
    """Nine merges are undone with one below them: nothing ends after the last of them."""
    heights = np.sort((1 - np.random.default_rng(seed).random(399)) ** -0.5)
    heights[383] = 1.0001 * heights[391]  # the merge of 17 clusters into 16
    tree = Hierarchy(chain(400), heights)
    assert 17 not in [cut.n_clusters for cut in tree.suggest_cuts()]


def test_polish_keeps_names_weights_and_ids():
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 30])
    tree = Hierarchy(
        long_chain(80).children,
        long_chain(80).heights,
        names=[str(i) for i in range(80)],
        leaf_weights=np.arange(1, 81),
    )
    better = tree.polish(rows, 80)
    assert better is not tree
    assert better.names.tolist() == tree.names.tolist()
    assert better.weights[better.root] == tree.weights[tree.root]
    assert sorted(np.bincount(better.cut(n_clusters=2)).tolist()) == [40, 40]
    assert better.polish(rows, 80) is better
    model = OHAC(history=5).fit(rows)
    version = model.version
    if model.polish(20):
        assert model.past.changes(version)
    model.check()


def rounds(leaves):
    """The sizes that polish without m goes through, from the definition."""
    found = [min(max(leaves // 10, 24), 1000)]
    while len(found) < 5 and found[0] * 2 // 3 >= 12:
        found.insert(0, found[0] * 2 // 3)
    return found


@pytest.mark.parametrize("n", [10, 300, 1700])
def test_polish_goes_through_its_rounds(n):
    rows = np.random.default_rng(n).normal(size=(n, 3))
    plain, by_hand = OHAC().fit(rows), OHAC().fit(rows)
    tree = plain.hierarchy()
    before = metrics.revenue(tree, rows, similarity="sqeuclidean")
    changed = [bool(by_hand.polish(m)) for m in rounds(n)]
    assert [each.kept for each in plain.polish().rounds] == changed
    assert plain.hierarchy() == by_hand.hierarchy()
    assert (tree.polish(rows) is tree) == (not any(changed))
    after = metrics.revenue(plain.hierarchy(), rows, similarity="sqeuclidean")
    assert after >= before - 1e-9 * abs(before)
    plain.check()


def test_polished_trees_are_as_good_as_offline_ones():
    rows = ramify.datasets.intents().points
    offline = metrics.revenue_fraction(ramify.HAC().fit(rows).hierarchy(), rows)
    found = []
    for order in range(3):
        shuffled = np.random.default_rng(order).permutation(rows)
        model = OHAC().fit(shuffled)
        model.polish()
        found.append(float(metrics.revenue_fraction(model.hierarchy(), shuffled)))
    assert np.mean(found) >= float(offline)


def test_polish_with_leaves_of_several_points():
    rng = np.random.default_rng(4)
    rows = np.round(rng.normal(size=(400, 2)), 1)
    for options in ({"duplicates": "count"}, {"keep": Budget(60)}):
        model = OHAC(**options).fit(rows)
        model.polish(20)
        model.check()
        model.partial_fit(rows)
        model.check()
        assert model.n_points_ == 800


def test_polishing_by_itself_depends_on_no_batches():
    rows = ramify.datasets.intents().points[:2500]
    whole = OHAC(metric="cosine", polishing="auto").fit(rows)
    parts = OHAC(metric="cosine", polishing="auto")
    for start in range(0, len(rows), 700):
        parts.partial_fit(rows[start : start + 700])
    assert whole.hierarchy() == parts.hierarchy()
    plain = OHAC(metric="cosine").fit(rows)
    assert whole.hierarchy() != plain.hierarchy()
    step = OHAC(metric="cosine").fit(rows[:1024])
    step.polish()
    step.partial_fit(rows[1024:2048])
    step.polish()
    assert step.partial_fit(rows[2048:]).hierarchy() == whole.hierarchy()
    whole.check()


def test_polishing_by_itself_is_kept_in_files(tmp_path):
    rows = ramify.datasets.intents().points[:1500]
    model = OHAC(metric="cosine", polishing="auto", update="nni", start="hac").fit(rows[:900])
    model.save(tmp_path / "tree")
    again = ramify.load(tmp_path / "tree")
    assert again.get_params() == model.get_params()
    assert again.partial_fit(rows[900:]).hierarchy() == model.partial_fit(rows[900:]).hierarchy()
    rotating = OTD(rule="split", rotate=True).fit(X)
    rotating.save(tmp_path / "other")
    assert ramify.load(tmp_path / "other").get_params() == rotating.get_params()


def test_a_polished_tree_keeps_ids_of_clusters_that_stay():
    rng = np.random.default_rng(5)
    rows = np.concatenate([rng.normal(size=(60, 2)) + 50 * i for i in range(4)])
    rng.shuffle(rows)
    model = OHAC().fit(rows)
    ids = set(model.clusters(n_clusters=4).node_ids.tolist())
    model.polish(30)
    assert ids == set(model.clusters(n_clusters=4).node_ids.tolist())


# --- refined ---------------------------------------------------------------------------


@every_metric
def test_refine_ends_where_no_interchange_gains(metric):
    @settings(max_examples=examples(40))
    @given(hierarchies(2, 16), seeds(), st.booleans())
    def check(tree, seed, whole):
        rows = np.random.default_rng(seed).normal(size=(tree.n_leaves, 2)) + 0.5
        rows = np.round(2 * rows) + 3 if whole else rows
        found = ramify.refine(tree, rows, metric=metric)
        found.tree.check()
        w = -distance_matrix(rows, metric)
        shape_found = from_children(found.tree.children)
        assert found.converged
        assert oracle.is_local_optimum(shape_found, w, 1e-9 * (1 + np.abs(w).max()))
        before, after = earned(tree, rows, metric), oracle_revenue(shape_found, w)
        slack = 1e-9 * (abs(before) + 1)
        assert after >= before - slack
        n = tree.n_leaves
        bound = (n - 2) / 3 * w[np.triu_indices(n, 1)].sum()
        assert after >= bound - slack
        if metric == "sqeuclidean":
            assert found.revenue == pytest.approx(after)
            assert found.bound == pytest.approx(bound)

    check()


def test_refine_takes_any_tree_and_stops_when_told():
    Z = scipy_linkage(X, "single")
    found = ramify.refine(Z, X)
    assert found.converged
    assert found.revenue > found.revenue_before
    once = ramify.refine(chain(150), X, max_sweeps=1)
    assert (once.sweeps, once.converged) == (1, False)
    alone = ramify.refine(np.empty((0, 2), dtype=int), [[1.0]])
    assert (alone.interchanges, alone.converged) == (0, True)


def test_refine_with_weights_is_refine_of_copies():
    rng = np.random.default_rng(6)
    counts = rng.integers(1, 4, size=20)
    rows = rng.normal(size=(20, 2))
    tree = Hierarchy(chain(20), np.arange(1.0, 20), leaf_weights=counts)
    light = ramify.refine(tree, rows).tree
    copies = np.repeat(rows, counts, axis=0)
    heavy = ramify.refine(tree.expanded(), copies).tree
    of_light = earned(light.expanded(), copies, "sqeuclidean")
    assert of_light == pytest.approx(earned(heavy, copies, "sqeuclidean"), rel=0.05)
    assert of_light >= earned(tree.expanded(), copies, "sqeuclidean")


def test_refine_on_a_long_chain():
    n = scaled(200_000)
    rows = np.random.default_rng(7).normal(size=(n, 2))
    found = ramify.refine(long_chain(n), rows, max_sweeps=3)
    assert found.revenue > found.revenue_before
