# SPDX-License-Identifier: BSD-3-Clause
"""The part of a tree that fits into a picture is the right part, and is all there."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, outline
from ramify.outline import Top, clusters_of_nodes
from tests.oracles import outline as oracle
from tests.shapes import balanced, chain, trees


def tree_of(children):
    return Hierarchy(children, np.arange(len(children), dtype=float))


@given(
    children=trees(),
    n_blocks=st.integers(0, 60),
    min_size=st.integers(1, 5),
    n_highest=st.integers(0, 8),
)
def test_blocks_are_those_of_the_definition(children, n_blocks, min_size, n_highest):
    tree = tree_of(children)
    top = outline.outline(tree, n_blocks, min_size=min_size, n_highest=n_highest)
    found = set(zip(top.top.tolist(), top.bottom.tolist(), strict=True))
    assert found == oracle.blocks(tree, n_blocks, min_size, n_highest)
    assert len(top) == len(found) <= max(n_blocks, 1)


@given(children=trees(), n_blocks=st.integers(0, 60))
def test_blocks_lie_below_their_parents_side_by_side(children, n_blocks):
    tree = tree_of(children)
    top = outline.outline(tree, n_blocks)
    assert (top.parent[0], top.level[0], top.x[0], top.size[0]) == (-1, 0, 0, tree.n_leaves)
    for i in range(len(top)):
        if top.child[i] < 0:
            assert i not in top.parent
            continue
        large, small = top.child[i], top.child[i] + 1
        assert top.parent[large] == top.parent[small] == i
        assert top.level[large] == top.level[small] == top.level[i] + 1
        assert top.size[large] >= top.size[small]
        assert top.size[large] + top.size[small] == tree.sizes[top.bottom[i]] <= top.size[i]
        assert (top.x[large], top.x[small]) == (top.x[i], top.x[i] + top.size[large])


@given(children=trees())
def test_with_room_for_all_every_node_is_a_block(children):
    tree = tree_of(children)
    top = outline.outline(tree, tree.n_nodes)
    assert sorted(top.top) == list(range(tree.n_nodes))
    assert (top.top == top.bottom).all()


@given(children=trees(), data=st.data())
def test_nodes_have_the_clusters_of_their_points(children, data):
    tree = tree_of(children)
    k = data.draw(st.integers(1, tree.n_leaves), label="k")
    cut = tree.cut(n_clusters=k)
    for v, c in enumerate(clusters_of_nodes(tree, np.arange(tree.n_nodes), k).tolist()):
        assert set(cut[tree.leaves(v)].tolist()) == {c} if c >= 0 else v >= 2 * tree.n_leaves - k


@given(children=trees(), data=st.data())
def test_the_top_has_the_clusters_of_the_cut_for_tips(children, data):
    tree = tree_of(children)
    p = data.draw(st.integers(1, tree.n_leaves), label="tips")
    top = Top(tree, p)
    cut = tree.cut(n_clusters=p)
    assert sorted(cut[tree.leaves(tip)[0]] for tip in top.tips) == list(range(p))
    assert sum(top.size(tip) for tip in top.tips) == tree.n_leaves
    assert all(min(map(top.y.get, top.children(v))) <= top.y[v] for v in top.merges())


@pytest.mark.parametrize("maker", [chain, balanced])
def test_half_a_million_leaves_take_a_moment(maker):
    tree = tree_of(maker(500_000))
    start = time.perf_counter()
    top = outline.outline(tree, 10_000, n_highest=199)
    assert time.perf_counter() - start < 5  # 0.3 s on a quiet machine
    assert 2 <= len(top) <= 10_000
    assert top.level.max() == (len(top) // 2 if maker is chain else 13)
