# SPDX-License-Identifier: BSD-3-Clause
"""HAC of a forest alone, in every space, and of a path; and the part of one that needs no HAC."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.core_parts import part, parts, run_machine
from tests.oracles.hac import assert_greedy, hac
from tests.oracles.linkages import OFFERED, Linkage
from tests.oracles.trees import Tree, clusters, leaf, merge
from tests.strategies import dtypes, examples, scaled, seeds

SPACES = ("matrix", "buckets", "scan")


def spaces(d):
    return [space for space in SPACES if space != "buckets" or d < 16]


class Forest:
    """Points, dealt out to clusters: as trees for the oracle, as summaries for the core."""

    def __init__(self, X, groups):
        self.X, self.groups = X, groups
        rows = [X[group].astype(np.float64) for group in groups]
        self.means = np.array([r.mean(0) for r in rows]).astype(X.dtype)
        self.ssds = np.array([((r - r.mean(0)) ** 2).sum() for r in rows])
        self.sizes = np.array([len(r) for r in rows], dtype=np.uint32)
        self.first_leaves = np.array([min(group) for group in groups], dtype=np.uint32)
        self.trees = [self.chain(sorted(group)) for group in groups]

    @staticmethod
    def chain(group):
        tree = leaf(group[0])
        for i in group[1:]:
            tree = merge(tree, leaf(i))
        return tree

    def arrays(self):
        return self.means, self.ssds, self.sizes, self.first_leaves

    def merged(self, metric, linkage, space) -> Tree:
        merges, linkages = parts.forest_hac(*self.arrays(), metric, linkage, space)
        nodes = list(self.trees)
        for a, b in merges:
            assert nodes[a].first < nodes[b].first
            nodes.append(merge(nodes[a], nodes[b]))
        assert len(nodes) == 2 * len(self.trees) - 1
        assert len(linkages) == (len(merges) if space == "matrix" else 0)
        return nodes[-1]


@st.composite
def forests(draw, most=25, kinds=("normal", "grid", "equal", "far"), dims=(1, 2, 3, 15, 16, 33)):
    m = draw(st.integers(1, most), label="clusters")
    d = draw(st.sampled_from(dims), label="columns")
    kind = draw(st.sampled_from(kinds), label="kind")
    largest = draw(st.sampled_from([1, 1, 2, 6]), label="points in the largest")
    rng = np.random.default_rng(draw(seeds()))
    sizes = rng.integers(1, largest + 1, size=m)
    X = rng.normal(size=(sizes.sum(), d))
    if kind == "grid":
        X = rng.integers(0, 3, size=X.shape).astype(np.float64)
    elif kind == "equal":
        X = np.ones_like(X)
    elif kind == "far":
        X += 1e6
    order = rng.permutation(len(X))
    groups = np.split(order, np.cumsum(sizes)[:-1])
    return Forest(X, [group.tolist() for group in groups])


@pytest.mark.parametrize(("metric", "linkage"), [o for o in OFFERED if o[0] != "cosine"])
def test_every_space_merges_as_the_definition_says(metric, linkage):
    @settings(max_examples=examples(25))
    @given(forests(most=14))
    def check(forest):
        L, gaps = Linkage(forest.X, metric, linkage), []
        expected = hac(forest.trees, L, gaps)
        for space in spaces(forest.X.shape[1]):
            tree = forest.merged(metric, linkage, space)
            if min(gaps, default=1) > 1e-7:
                assert clusters(tree) == clusters(expected), space
            else:
                assert_greedy(forest.trees, tree, L, 1e-7)

    check()


@pytest.mark.parametrize(("metric", "linkage"), [o for o in OFFERED if o[0] != "cosine"])
def test_buckets_and_scan_merge_the_same_to_the_last_tie(metric, linkage):
    @settings(max_examples=examples(25))
    @given(forests(most=200, dims=(1, 2, 3, 15)), dtypes())
    def check(forest, dtype):
        forest.means = forest.means.astype(dtype)
        one, other = (
            parts.forest_hac(*forest.arrays(), metric, linkage, space)[0]
            for space in ("buckets", "scan")
        )
        assert one == other

    check()


@pytest.mark.parametrize(("metric", "linkage"), [o for o in OFFERED if o[0] != "cosine"])
def test_buckets_that_are_emptied_and_joined_merge_as_a_scan_does(metric, linkage):
    """Forests large enough for many leaves; in clumps some of these are used up long before
    others, on a grid most linkages are tied, and far away rounding makes them so."""

    @settings(max_examples=examples(8))
    @given(
        st.integers(300, 900),
        st.sampled_from([1, 2, 3, 5, 7]),
        st.sampled_from(["clumps", "grid", "far", "doubling"]),
        seeds(),
        dtypes(),
    )
    def check(m, d, kind, seed, dtype):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(m, d))
        if kind == "clumps":
            X = X * 0.01 + 10 * rng.integers(0, 7, size=(m, 1))
        elif kind == "grid":
            X = rng.integers(0, 5, size=(m, d))
        elif kind == "far":
            X += 1e6
        else:
            X *= 2.0 ** rng.integers(0, 60, size=(m, 1))
        forest = Forest(X.astype(dtype), [[i] for i in range(m)])
        one, other = (
            parts.forest_hac(*forest.arrays(), metric, linkage, space)[0]
            for space in ("buckets", "scan")
        )
        assert one == other

    check()


@pytest.mark.parametrize(("metric", "linkage"), [o for o in OFFERED if o[0] != "cosine"])
def test_the_matrix_merges_what_the_others_do(metric, linkage):
    """Where nothing is nearly tied: a matrix rounds otherwise."""

    @settings(max_examples=examples(10))
    @given(forests(most=200, kinds=("normal",)))
    def check(forest):
        trees = [forest.merged(metric, linkage, s) for s in spaces(forest.X.shape[1])]
        assert all(clusters(tree) == clusters(trees[0]) for tree in trees)

    check()


@settings(max_examples=examples(25))
@given(forests(most=120, dims=(1, 3, 16, 33)), dtypes(), st.sampled_from([0, 1, 2]))
def test_the_two_nearest_are_the_same_by_blocks_as_by_searches(forest, dtype, searches):
    """At once, or after so many searches an item; ties included."""
    forest = Forest(forest.X.astype(dtype), forest.groups)
    by_blocks, by_searches = (
        parts.forest_hac(*forest.arrays(), "sqeuclidean", "centroid", "matrix", searches=most)
        for most in (searches, 10**6)
    )
    assert by_blocks == by_searches


@pytest.mark.parametrize("space", ["buckets", "scan"])
def test_where_searches_are_too_many_all_pairs_are_compared(space):
    X = np.random.default_rng(0).integers(0, 3, size=(150, 3)).astype(np.float64)
    forest = Forest(X, [[i] for i in range(len(X))])
    rule = ("sqeuclidean", "centroid")
    given_up = parts.forest_hac(*forest.arrays(), *rule, space, searches=1)
    assert given_up == parts.forest_hac(*forest.arrays(), *rule, "matrix", searches=10**6)


def test_long_rows_are_scanned_by_short_vectors_and_merged_the_same():
    m = scaled(1300)
    X = np.random.default_rng(0).normal(size=(m, 40)) * np.geomspace(10, 0.1, 40)
    forest = Forest(X, [[i] for i in range(m)])
    trees = [forest.merged("sqeuclidean", "average", space) for space in ("matrix", "scan")]
    assert clusters(trees[0]) == clusters(trees[1])


@pytest.mark.parametrize("linkage", ["average", "centroid"])
@pytest.mark.parametrize(("space", "d"), [("buckets", 2), ("scan", 17)])
def test_merging_stops_when_the_pulse_says_so(space, d, linkage):
    X = np.random.default_rng(0).normal(size=(150, d))
    forest = Forest(X, [[i] for i in range(150)])
    arguments = (*forest.arrays(), "sqeuclidean", linkage, space)
    whole = parts.forest_hac(*arguments)
    for pulses in (0, 1, 5, 30):
        assert parts.forest_hac(*arguments, pulses) is None
    assert parts.forest_hac(*arguments, 100_000) == whole


# --- the stable part of a path ------------------------------------------------------------


@st.composite
def paths(draw, columns=(1, 2, 3, 15)):
    """S_0 .. S_l and x, as arrays: what hangs off a path, nearest first, and a new point."""
    items = draw(st.integers(2, 40), label="on the path")
    d = draw(st.sampled_from(columns), label="columns")
    growth = draw(st.sampled_from([1.0, 1.05, 1.5, 3.0]), label="growth")
    kind = draw(st.sampled_from(["loose", "grid", "line", "heaps"]), label="kind")
    offset = draw(st.sampled_from([0.0, 0.0, 1e3, 1e7]), label="offset")
    largest = draw(st.sampled_from([1, 4, 1000]), label="largest")
    rng = np.random.default_rng(draw(seeds()))
    means = rng.normal(size=(items + 1, d))
    if kind == "grid":
        means = np.round(2 * means)
    elif kind == "line":
        means = np.abs(means[:, :1]) @ np.ones((1, d))
    elif kind == "heaps":
        means = means[rng.integers(1 + items // 4, size=items + 1)]
    means[:-1] *= growth ** np.arange(items)[:, None]
    sizes = rng.integers(1, largest + 1, size=items + 1)
    sizes[[0, -1]] = 1
    ssds = np.where(sizes > 1, rng.exponential(size=items + 1) * sizes, 0.0)
    means = (means + offset).astype(draw(dtypes()))
    firsts = rng.permutation(items + 1)
    return means, ssds, sizes.astype(np.uint32), firsts.astype(np.uint32)


def clusters_of(merges, items):
    """What each merge holds, given what the things that it starts from hold."""
    held = [frozenset([item]) for item in items]
    for a, b in merges:
        held.append(held[a] | held[b])
    return set(held[len(items) :])


def merge_by_parts(forest):
    """As OHAC does: how many lie above what is merged anew, and the clusters that HAC of the
    lower part, with all above left as it was, makes."""
    means = forest[0]
    items = len(means) - 1
    stable = part("StablePath", means.dtype.type)(means.shape[1])
    level = stable.unstable_level(*forest)
    while level < items - 1:
        chosen = [*range(level + 1), items]
        merges, linkages = parts.forest_hac(
            *(np.ascontiguousarray(array[chosen]) for array in forest),
            "sqeuclidean",
            "average",
            "matrix",
        )
        higher = stable.unstable_after(level, merges, linkages)
        if higher == level:
            above = [frozenset([*range(i + 1), items]) for i in range(level + 1, items)]
            return items - 1 - level, clusters_of(merges, chosen) | set(above)
        assert higher > level
        level = higher
    return 0, None


def hac_of_all(forest):
    merges, _ = parts.forest_hac(*forest, "sqeuclidean", "average", "matrix")
    return clusters_of(merges, range(len(forest[0])))


def merge_foot(level, forest):
    """What hangs lowest and x: merged from the linkages that the path's stable part has, and by
    forest_hac."""
    means = forest[0]
    chosen = [*range(level + 1), len(means) - 1]
    stable = part("StablePath", means.dtype.type)(means.shape[1])
    lowest = (np.ascontiguousarray(array[chosen]) for array in forest)
    return (
        stable.merge_foot(level, *forest),
        parts.forest_hac(*lowest, "sqeuclidean", "average", "matrix"),
    )


@settings(max_examples=examples(300))
@given(paths(), st.data())
def test_a_few_are_merged_as_any_forest_is(forest, data):
    level = data.draw(st.integers(0, min(len(forest[0]) - 3, 14)), label="level")
    ours, those_of_any = merge_foot(level, forest)
    assert ours == those_of_any  # linkages too, to the bit


def test_a_few_that_are_too_far_apart_are_left_to_others():
    means = np.array([[0.0], [1e80], [3e80], [9e80]])
    ones = np.ones(4, dtype=np.uint32)
    ours, _ = merge_foot(1, (means, np.zeros(4), ones, np.arange(4, dtype=np.uint32)))
    assert ours is None


@settings(max_examples=examples(300))
@given(paths())
def test_the_stable_part_really_is_stable(forest):
    above, merged = merge_by_parts(forest)
    assume(above > 0)
    assert merged == hac_of_all(forest)


@pytest.mark.parametrize("d", [1, 3, 15])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_path_that_nobody_disturbs_is_stable(d, dtype):
    """Or else stability would be true of nothing: all but y and x stays."""
    means = np.concatenate([3.0 ** np.arange(20), [1.01]])[:, None] * np.ones((1, d))
    forest = (
        means.astype(dtype),
        np.zeros(21),
        np.ones(21, dtype=np.uint32),
        np.arange(21, dtype=np.uint32),
    )
    above, merged = merge_by_parts(forest)
    assert above == 19
    assert merged == hac_of_all(forest)


def test_equal_linkages_are_never_certain():
    forest = (
        np.ones((12, 2)),
        np.zeros(12),
        np.ones(12, dtype=np.uint32),
        np.arange(12, dtype=np.uint32),
    )
    assert parts.StablePathF64(2).unstable_level(*forest) == 9


# --- HAC of a path, with what earlier paths have found out ---------------------------------


PATH_RULES = [("sqeuclidean", "average"), ("dot", "average"), ("sqeuclidean", "centroid")]


@settings(max_examples=examples(200))
@given(paths(columns=(16, 17, 40)), st.sampled_from(PATH_RULES), st.booleans())
def test_a_path_is_merged_as_a_forest_or_not_at_all(forest, rule, comes):
    """Not at all: only where linkages tie. Else the same merges, in the same order."""
    count = len(forest[0])
    path_hac = part("PathHac", forest[0].dtype.type)(forest[0].shape[1], *rule)
    expected, _ = parts.forest_hac(*forest, *rule, "matrix")
    for _ in range(3):  # the third time almost everything is known
        merges = path_hac.merge(*forest, range(count), range(count - 1 - comes), comes)
        assert merges is None or merges == expected


@pytest.mark.parametrize("linkage", ["average", "centroid"])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_rows_far_from_zero_are_merged_as_pairs_are(offset, linkage):
    """Means of whole numbers out there are rounded more than their linkages differ."""
    told = 0
    for seed in range(scaled(300)):
        rng = np.random.default_rng(seed)
        rows = offset + rng.integers(0, 3, size=(14, 16)).astype(float)
        sizes = rng.integers(1, 4, size=14).astype(np.uint32)
        forest = (rows, np.zeros(14), sizes, rng.permutation(14).astype(np.uint32))
        path_hac = parts.PathHacF64(16, "sqeuclidean", linkage)
        merges = path_hac.merge(*forest, range(14), range(12), True)
        told += merges is not None
        expected, _ = parts.forest_hac(*forest, "sqeuclidean", linkage, "matrix")
        assert merges in (None, expected)
    assert told > 0


@settings(max_examples=examples(60))
@given(seeds(), st.integers(3, 12), st.sampled_from(PATH_RULES), st.booleans())
def test_unions_that_mirror_each_other_are_merged_as_pairs_are(seed, half, rule, comes):
    """They tie up to rounding, which is another in every way to compute them."""
    rng = np.random.default_rng(seed)
    means = np.abs(rng.normal(size=(half, 16)))
    sizes = rng.integers(1, 4, size=half).astype(np.uint32)
    means, sizes = np.concatenate([means, means[:, ::-1]]), np.concatenate([sizes, sizes])
    order, count = rng.permutation(2 * half), 2 * half
    forest = (means[order], np.zeros(count), sizes[order], np.arange(count, dtype=np.uint32))
    path_hac = parts.PathHacF64(16, *rule)
    merges = path_hac.merge(*forest, range(count), range(count - 1 - comes), comes)
    expected, _ = parts.forest_hac(*forest, *rule, "matrix")
    assert merges in (None, expected)


@settings(max_examples=examples(100))
@given(
    seeds(),
    st.integers(12, 120),
    st.sampled_from([16, 40, 200]),
    st.sampled_from([0.05, 0.2, 0.5]),
    st.sampled_from(PATH_RULES[:2]),
    dtypes(),
    st.booleans(),
)
def test_rows_of_zeros_and_ones_are_merged_as_pairs_are(seed, count, d, ones, rule, dtype, comes):
    """Unions tie with each other, and rounding decides: the same in both ways."""
    rng = np.random.default_rng(seed)
    means = (rng.random((count, d)) < ones).astype(dtype)
    sizes = rng.integers(1, 4, size=count).astype(np.uint32)
    ssds = rng.integers(0, 3, size=count) * (sizes > 1) / 2
    forest = (means, ssds, sizes, rng.permutation(count).astype(np.uint32))
    path_hac = part("PathHac", dtype)(d, *rule)
    expected, _ = parts.forest_hac(*forest, *rule, "matrix")
    for _ in range(2):
        merges = path_hac.merge(*forest, range(count), range(count - 1 - comes), comes)
        assert merges in (None, expected)


@pytest.mark.parametrize("rule", PATH_RULES[:2])
def test_ties_of_unions_are_told_apart(rule):
    """Else every such path would be merged from all pairs."""
    told = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = (rng.random((150, 40)) < 0.1).astype(np.float32)
        forest = (rows, np.zeros(150), np.ones(150, np.uint32), np.arange(150, dtype=np.uint32))
        merges = parts.PathHacF32(40, *rule).merge(*forest, range(150), range(148), True)
        expected, _ = parts.forest_hac(*forest, *rule, "matrix")
        assert merges in (None, expected)
        told += merges is not None
    assert told > 5


def test_ties_of_a_forest_too_large_for_a_matrix_are_told_as_pairs_are():
    rows = (np.random.default_rng(1).random((1100, 64)) < 0.1).astype(np.float32)
    forest = (rows, np.zeros(1100), np.ones(1100, np.uint32), np.arange(1100, dtype=np.uint32))
    path_hac = parts.PathHacF32(64, "sqeuclidean", "average")
    expected, _ = parts.forest_hac(*forest, "sqeuclidean", "average", "matrix")
    assert path_hac.merge(*forest, range(1100), range(1098), True) == expected


def pairs_in_a_row(count, rng):
    """Two near each other, and the next two a little nearer to them than the two before."""
    gaps = np.repeat(1e5 * 0.99 ** np.arange(count // 2), 2)
    gaps[1::2] = 0
    means = rng.normal(size=(count, 64))
    means[:, 0] += np.cumsum(gaps)
    firsts = np.arange(count, dtype=np.uint32)
    return means, np.zeros(count), np.ones(count, np.uint32), firsts


@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_a_short_path_comes_after_one_with_many_unions(linkage):
    """What the unions of the long one had is used again, by fewer."""
    rng = np.random.default_rng(1)
    path_hac = parts.PathHacF64(64, "sqeuclidean", linkage)
    for count, times, first in ((400, 1, 0), (272, 3, 1000)):
        forest = pairs_in_a_row(count, rng)
        expected, _ = parts.forest_hac(*forest, "sqeuclidean", linkage, "matrix")
        for _ in range(times):
            merges = path_hac.merge(*forest, range(first, first + count), range(count - 1), False)
            assert merges == expected


def path_in_order(rng, count, d, metric, noise):
    """A large cluster, and others that it will take in one after the other, but for `noise`."""
    means = rng.normal(size=(count, d))
    means[0] = metric == "dot"
    if metric == "dot":
        means = np.abs(means) * np.linspace(2, 1, count)[:, None]
    sizes = rng.integers(1, 4, size=count).astype(np.uint32)
    sizes[0] = 1000
    ssds = rng.exponential(size=count) * (sizes > 1)
    squares = (means**2).sum(axis=1) + ssds / sizes
    distances = -means @ means[0] if metric == "dot" else squares
    distances[1:] *= 1 + noise * rng.normal(size=count - 1)
    distances[0] = -np.inf
    order = np.argsort(distances)
    return means[order], ssds[order], sizes[order], rng.permutation(count).astype(np.uint32)


@settings(max_examples=examples(100))
@given(
    seeds(),
    st.integers(12, 130),
    st.sampled_from([16, 40, 200, 600]),
    st.sampled_from(PATH_RULES),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([0.0, 1e-7, 0.01, 0.1]),
    st.booleans(),
    st.booleans(),
)
def test_a_path_in_order_is_merged_some_at_once(seed, count, d, rule, dtype, noise, comes, one):
    """And what hangs off several paths, which are not given, as well."""
    rng = np.random.default_rng(seed)
    means, ssds, sizes, firsts = path_in_order(rng, count, d, rule[0], noise)
    near = slice(2, count // 2, 7)  # up to rounding as near as the one before
    means[near] = means[1 : count // 2 - 1 : 7] * (1 + noise * rng.normal(size=(1, d)))
    forest = (means.astype(dtype), ssds, sizes, firsts)
    expected, _ = parts.forest_hac(*forest, *rule, "matrix")
    path_hac = part("PathHac", dtype)(d, *rule)
    path = range(count - 1 - comes) if one else []
    for _ in range(3):
        merges = path_hac.merge(*forest, range(count), path, comes)
        assert merges is None or merges == expected
    assert merges is not None or noise < 0.01


class PathMachine(RuleBasedStateMachine):
    """Clusters that hang off one path after the other; some of them change on the way."""

    dtype: type
    metric: str
    linkage: str

    @initialize(seed=seeds(), d=st.sampled_from([16, 24, 200]), spread=st.sampled_from([0.01, 1.0]))
    def start(self, seed, d, spread):
        self.rng = np.random.default_rng(seed)
        self.means = self.rng.normal(size=(90, d))
        if self.metric == "dot":
            self.means = np.abs(self.means)
        self.means = (self.means * spread).astype(self.dtype)
        self.sizes = self.rng.integers(1, 30, size=90).astype(np.uint32)
        self.ssds = self.rng.exponential(size=90) * (self.sizes > 1) * spread**2
        self.path_hac = part("PathHac", self.dtype)(d, self.metric, self.linkage)
        self.order = self.rng.permutation(90)

    @rule(lowest=st.integers(0, 80), comes=st.booleans(), among=st.integers(0, 3))
    def merge(self, lowest, comes, among):
        """Mostly the upper part of one long path; a few of others below it."""
        feet = self.order[self.rng.permutation(lowest + 1)[:among]]
        chosen = np.concatenate([feet, self.order[lowest + 1 :]])
        if len(chosen) < 3:
            return
        forest = (
            np.ascontiguousarray(self.means[chosen]),
            self.ssds[chosen],
            self.sizes[chosen],
            chosen.astype(np.uint32),
        )
        path = list(range(len(chosen) - 1 - comes))
        found = self.path_hac.merge(*forest, chosen.tolist(), path[::-1], comes)
        expected, _ = parts.forest_hac(*forest, self.metric, self.linkage, "matrix")
        assert found == expected

    @rule(which=st.integers(0, 89))
    def change(self, which):
        self.path_hac.release(which)
        self.means[which] = self.means[which] * self.dtype(0.9)
        self.sizes[which] += 1

    @rule()
    def reorder(self):
        at = self.rng.integers(0, 89)
        self.order[[at, at + 1]] = self.order[[at + 1, at]]

    @rule(wipe=st.booleans())
    def forget(self, wipe):
        self.path_hac.wipe() if wipe else self.path_hac.forget()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("metric", "linkage"), PATH_RULES)
def test_what_is_known_of_paths_stays_right(metric, linkage, dtype):
    fields = {"metric": metric, "linkage": linkage, "dtype": dtype}
    run_machine(type("Machine", (PathMachine,), fields), runs=20, steps=40)


@pytest.mark.parametrize("linkage", ["average", "centroid"])
@pytest.mark.parametrize("scale", [1e20, 1e140, 1e-25])
def test_numbers_beyond_single_precision_are_no_trouble(scale, linkage):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(30, 16))
    forest = (means, np.zeros(30), np.ones(30, np.uint32), np.arange(30, dtype=np.uint32))
    far = (means * scale, *forest[1:])
    expected, _ = parts.forest_hac(*forest, "sqeuclidean", linkage, "matrix")
    path_hac = parts.PathHacF64(16, "sqeuclidean", linkage)
    for _ in range(2):
        merges = path_hac.merge(*far, range(30), range(28), True)
        # Too large: it cannot tell. Too small: all are compared exactly, until that is enough.
        assert merges in ((None, expected) if scale < 1 else (None,))
    path_hac.forget()
    assert path_hac.merge(*forest, range(30), range(28), True) == expected
