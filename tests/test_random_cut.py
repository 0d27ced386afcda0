"""RandomCut: the distribution of the tree is the definition's, in whatever order points come."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import RandomCut
from tests.oracles.random_cuts import distribution, shape_of, unlikely
from tests.oracles.recount import examine
from tests.oracles.trees import from_children
from tests.shapes import hierarchies, long_chain
from tests.strategies import SMALL, examples, few_values, grid_rows, loose_rows, scaled

#: Five points of two dimensions, one of them far away.
X = np.array([[0.0, 0.0], [1.0, 3.0], [2.5, 0.5], [0.7, 1.1], [9.0, 4.0]])
DRAWS = 400 if SMALL else 2500
FAR = 4.0  # standard deviations: once in some ten thousand fair tests


def counted(grow) -> Counter:
    """How often each tree comes, by seed; points by their place in X."""
    found = Counter()
    for seed in range(DRAWS):
        model, numbers = grow(RandomCut(random_state=seed))
        tree = from_children(model.hierarchy().children)
        found[frozenset(tuple(sorted(numbers[i] for i in part)) for part in shape_of(tree))] += 1
    return found


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]])
def test_the_distribution_does_not_depend_on_the_order(order):
    found = counted(lambda model: (model.fit(X[order]), order))
    assert unlikely(found, distribution(X), DRAWS) < FAR


def test_points_that_came_and_went_leave_no_trace():
    others = np.array([[20.0, -3.0], [0.5, 0.5], [1.0, 3.0]])

    def grow(model):
        model.fit(np.concatenate([others[:2], X[:2], others[2:], X[2:]]))
        model.forget([0, 1, 4])
        return model, [0, 1, 2, 3, 4]

    assert unlikely(counted(grow), distribution(X), DRAWS) < FAR


def test_the_oracle_tells_another_distribution():
    """So that a test that accepts anything is noticed."""
    stretched = X * [5.0, 1.0]
    found = counted(lambda model: (model.fit(stretched), range(5)))
    assert unlikely(found, distribution(X), DRAWS) > 3 * FAR
    assert sum(distribution(X).values()) == pytest.approx(1)


@settings(max_examples=examples(40))
@given(st.one_of(loose_rows(), grid_rows(), few_values()), st.data())
def test_every_tree_is_valid_while_points_come_and_go(rows, data):
    model = RandomCut(random_state=data.draw(st.integers(0, 99)))
    for row in rows:
        model.insert(row)
    examine(model, rows)
    gone = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True, max_size=len(rows) - 1))
    model.forget(gone)
    model.check()
    model.partial_fit(rows)
    model.check()


def test_seeds():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    one, same, other = (RandomCut(random_state=seed).fit(rows).hierarchy() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    trees = [RandomCut(random_state=None).fit(rows).hierarchy() for _ in range(3)]
    assert not (trees[0] == trees[1] == trees[2])
    for wrong, error in ((-1, ValueError), (1.5, TypeError), (2**63, ValueError)):
        with pytest.raises(error, match="random_state"):
            RandomCut(random_state=wrong).fit(rows)


def test_goes_on_from_a_file_as_it_would_have(tmp_path):
    rows = np.random.default_rng(1).normal(size=(80, 3))
    model = RandomCut(random_state=7).fit(rows[:50])
    model.forget([3, 30, 49])
    model.save(tmp_path / "tree")
    again = ramify.load(tmp_path / "tree")
    for one in (model, again):
        one.partial_fit(rows[50:])
        one.forget([10])
        one.check()
    assert model.hierarchy() == again.hierarchy()


def test_equal_points_do_not_become_a_chain():
    model = RandomCut().fit(np.ones((scaled(5000), 2)))
    model.check()
    assert model.hierarchy().depths().max() <= 16


def test_rows_far_from_the_origin_and_of_single_precision():
    rows = np.random.default_rng(2).normal(size=(300, 3))
    for some in (1e8 + rows, rows.astype(np.float32), 1e-300 * rows):
        model = RandomCut().fit(some)
        model.check()
        model.forget(np.arange(0, 300, 7))
        model.check()


# --- displacement ------------------------------------------------------------------------


@given(hierarchies(1, 20))
def test_codisp_is_its_definition(tree):
    found = tree.codisp()
    for point in range(tree.n_leaves):
        ratios = [0.0]
        for v in tree.path(point)[1:]:
            above = tree.parents[v]
            ratios.append((tree.sizes[above] - tree.sizes[v]) / tree.sizes[v])
        assert found[point] == pytest.approx(max(ratios))


def test_outliers_stand_out():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(500, 2))
    rows[:5] = rng.normal(size=(5, 2)) + 15  # a small group, far away
    scores = np.mean([RandomCut(random_state=s).fit(rows).codisp() for s in range(30)], axis=0)
    assert scores[:5].min() > 2 * np.sort(scores[5:])[-5]


def test_codisp_of_counted_repeats_and_of_a_long_chain():
    model = RandomCut(duplicates="count").fit([[0.0], [0.0], [0.0], [5.0]])
    assert model.codisp().tolist() == [1 / 3, 1 / 3, 1 / 3, 3.0]
    n = scaled(500_000)
    assert long_chain(n).codisp()[-1] == n - 1


@pytest.mark.parametrize("options", [{}, {"duplicates": "count"}, {"metric": "cosine"}])
def test_scores_of_rows_are_those_of_points_that_came_next(options):
    rng = np.random.default_rng(3)
    model = RandomCut(**options).fit(rng.normal(size=(40, 2)), ids=[f"p{i}" for i in range(40)])
    model.forget(["p3", "p7"])
    before, rows = (
        model.hierarchy(),
        np.vstack([model.points()[:2], rng.normal(size=(4, 2)), [[50, 3]]]),
    )
    scores = model.score_samples(rows)
    assert model.score_samples(rows[::-1]).tolist() == scores[::-1].tolist()
    for row, score in zip(rows, scores, strict=True):
        other = pickle.loads(pickle.dumps(model))
        other.insert(row, id="new")
        assert -other.codisp()[-1] == score
    assert model.hierarchy() == before


def test_rows_that_would_be_skipped_have_no_score():
    model = RandomCut(metric="cosine", zero_rows="skip").fit([[1.0, 2.0], [2.0, 1.0], [0.5, 3.0]])
    assert np.isnan(model.score_samples([[0, 0], [1, 1]])).tolist() == [True, False]
