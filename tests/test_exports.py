"""Trees in other tools' forms, read back by other people's readers."""

import copy
import io
import json
import pickle
import re
import subprocess
import sys
import warnings

import dendropy
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pydot
import pytest
from Bio import Phylo
from hypothesis import given, settings
from hypothesis import strategies as st

import ramify
from ramify import HAC, OTD, Hierarchy
from tests.shapes import hierarchies, leaves_below, long_chain
from tests.strategies import examples, scaled

STRANGE = [
    *("a b", "a_b", "it's", "(x)", "[c]", "x;y", "x,y", "x:1", "日本 語", "Öl", '"q"', "tab\tx"),
    *("-1", "1e5", "a'", "back\\slash", "{z}", "a=b", "&<>", "#", "%20", "   ", "\N{SNOWMAN}"),
]
STRANGEST = [*STRANGE, "new\nline", "''", "'", "", "\r", "\\n", '\\"']


def strange_chain(names) -> Hierarchy:
    return long_chain(len(names), names)


def ground(tree: Hierarchy) -> float:
    """Where leaves are."""
    return min(0.0, *tree.monotone_heights.tolist(), 0.0)


def height_of(tree: Hierarchy, v: int) -> float:
    return ground(tree) if v < tree.n_leaves else tree.monotone_heights[v - tree.n_leaves]


def length_above(tree: Hierarchy, v: int) -> float:
    return height_of(tree, int(tree.parents[v])) - height_of(tree, v)


# --- Newick --------------------------------------------------------------------------


def by_dendropy(text: str) -> dict[frozenset[str], float | None]:
    """Leaf set of every node -> length of the branch above it."""
    tree = dendropy.Tree.get(data=text, schema="newick", rooting="force-rooted")
    return {
        frozenset(leaf.taxon.label for leaf in node.leaf_iter()): node.edge.length
        for node in tree.postorder_node_iter()
    }


def by_biopython(text: str) -> dict[frozenset[str], float | None]:
    tree = Phylo.read(io.StringIO(text), "newick")
    return {
        frozenset(leaf.name for leaf in clade.get_terminals()): clade.branch_length
        for clade in tree.find_clades()
    }


def expected(tree: Hierarchy, names) -> dict[frozenset[str], float | None]:
    below = leaves_below(tree)
    return {
        frozenset(str(names[i]) for i in below[v]): None
        if v == tree.root
        else length_above(tree, v)
        for v in range(tree.n_nodes)
    }


@pytest.mark.parametrize("read", [by_dendropy, by_biopython])
@given(tree=hierarchies(min_size=2))
def test_newick_is_read_back(read, tree):
    assert read(tree.to_newick()) == expected(tree, range(tree.n_leaves))


@pytest.mark.parametrize("read", [by_dendropy, by_biopython])
@given(tree=hierarchies(min_size=2))
def test_newick_without_lengths(read, tree):
    found = read(tree.to_newick(lengths=False))
    assert set(found) == set(expected(tree, range(tree.n_leaves)))
    assert set(found.values()) == {None}


@pytest.mark.parametrize(("read", "names"), [(by_dendropy, STRANGEST), (by_biopython, STRANGE)])
def test_newick_quotes_what_must_be_quoted(read, names):
    tree = strange_chain(names)
    assert read(tree.to_newick()) == expected(tree, names)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=2, unique=True))
def test_any_text_is_a_name_in_newick(names):
    tree = strange_chain(names)
    assert by_dendropy(tree.to_newick()) == expected(tree, names)


def test_newick_leaves_plain_names_alone():
    assert long_chain(2, ["oak-1.5+x", "Öl"]).to_newick(lengths=False) == "(oak-1.5+x,Öl);"
    assert long_chain(2, ["a_b", "c"]).to_newick(lengths=False) == "('a_b',c);"


def test_newick_names_come_from_the_argument_the_tree_or_the_numbers():
    tree = long_chain(2)
    assert tree.to_newick(lengths=False) == "(0,1);"
    assert tree.with_names([70, 80]).to_newick(lengths=False) == "(70,80);"
    assert tree.with_names([70, 80]).to_newick(["a", "b"], lengths=False) == "(a,b);"
    with pytest.raises(ValueError, match="names: expected 2"):
        tree.to_newick(["a"])
    with pytest.raises(ValueError, match="'a' stands at"):
        tree.to_newick(["a", "a"])


def test_newick_keeps_first_children_first():
    assert (
        HAC().fit([[0.0], [5.0], [1.0]]).hierarchy().to_newick() == "((0:1.0,2:1.0):19.5,1:20.5);"
    )


def test_newick_of_one_point():
    tree = HAC().fit([[0.0]]).hierarchy()
    assert tree.to_newick() == "0;"
    assert tree.with_names(["a b"]).to_newick(node_names=True) == "'a b';"


def test_newick_node_names():
    tree = long_chain(3)
    assert tree.to_newick(node_names=True) == "((0:1.0,1:1.0)node3:1.0,2:2.0)node4;"
    text = tree.to_newick(node_names=["early news", "all"], lengths=False)
    assert text == "((0,1)'early news',2)all;"
    read = dendropy.Tree.get(data=text, schema="newick")
    assert [node.label for node in read.preorder_internal_node_iter()] == ["all", "early news"]
    for wrong in (["one"], ["one", "two", "three"], "ab"):
        with pytest.raises(ValueError, match="node_names: expected True, False or 2 texts"):
            tree.to_newick(node_names=wrong)


def test_newick_lengths_are_never_negative():
    """Centroid linkage inverts, and the dot metric has negative heights."""
    rng = np.random.default_rng(0)
    for model in (HAC(linkage="centroid"), OTD(metric="dot")):
        tree = model.fit(rng.normal(size=(80, 2))).hierarchy()
        found = by_dendropy(tree.to_newick())
        assert min(length for length in found.values() if length is not None) >= 0
        assert found == expected(tree, range(80))


def test_newick_reads_back_to_the_last_bit():
    tree = Hierarchy([[0, 1], [3, 2]], [1 / 3, 1e-3 + 1 / 3])
    assert set(by_dendropy(tree.to_newick()).values()) == {
        None, 1 / 3, 1e-3 + 1 / 3, (1e-3 + 1 / 3) - 1 / 3,
    }  # fmt: skip


@pytest.mark.no_asan
def test_newick_of_a_long_chain():
    n = 500_000
    text = long_chain(n).to_newick()
    assert text.startswith("(" * (n - 1) + "0:1.0,1:1.0):1.0,2:2.0):1.0,")
    assert text.endswith(f":1.0,{n - 1}:{n - 1}.0);")
    assert text.count(")") == text.count("(") == n - 1


def test_newick_of_a_chain_is_read_by_another_library():
    n = scaled(50_000)
    tree = Phylo.read(io.StringIO(long_chain(n).to_newick()), "newick")
    clade, leaf = tree.root, n - 1
    while leaf > 0:
        clade, last = clade.clades
        assert last.name == str(leaf)
        assert last.branch_length == max(leaf, 1)
        leaf -= 1
    assert clade.name == "0"


# --- graphs --------------------------------------------------------------------------


def check_graph(graph, tree: Hierarchy, numbered=int):
    assert graph.is_directed()
    assert nx.is_arborescence(graph) or tree.n_leaves == 1
    assert {numbered(v) for v in graph} == set(range(tree.n_nodes))
    for v, facts in graph.nodes(data=True):
        v = numbered(v)
        assert facts["size"] == tree.sizes[v]
        assert facts["is_leaf"] is (v < tree.n_leaves)
        assert facts["height"] == height_of(tree, v)
        has_name = tree.names is not None and v < tree.n_leaves
        assert facts.get("name") == (tree.names[v] if has_name else None)
    found = {(numbered(a), numbered(b)): facts for a, b, facts in graph.edges(data=True)}
    assert set(found) == {(int(tree.parents[v]), v) for v in range(tree.root)}
    for (_, v), facts in found.items():
        assert facts == {"length": length_above(tree, v)}


@given(hierarchies(), st.booleans())
def test_networkx(tree, named):
    tree = tree.with_names([f"point {i}" for i in range(tree.n_leaves)] if named else None)
    graph = tree.to_networkx()
    check_graph(graph, tree)
    assert next(iter(graph)) == tree.root
    for v in range(tree.n_leaves, tree.n_nodes):
        assert list(graph.successors(v)) == tree.children[v - tree.n_leaves].tolist()
    for facts in [*dict(graph.nodes(data=True)).values(), *(e[2] for e in graph.edges(data=True))]:
        assert {type(value) for value in facts.values()} <= {int, float, bool, str}


@given(hierarchies(), st.sampled_from([None, "text", "number"]))
def test_graphml_is_read_back_by_networkx(tree, kind):
    n = tree.n_leaves
    names = {None: None, "text": [f"<{i}> & 'co'" for i in range(n)], "number": range(10, 10 + n)}
    tree = tree.with_names(names[kind])
    file = io.BytesIO()
    tree.to_graphml(file)
    file.seek(0)
    check_graph(nx.read_graphml(file), tree)


@pytest.mark.parametrize("rows", [1, 3, 10_000])
def test_graphml_is_the_same_however_many_rows_are_written_at_once(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("ramify.hierarchy._graphml._ROWS", rows)
    tree = strange_chain([name for name in STRANGEST if name])
    tree.to_graphml(tmp_path / "tree.graphml")
    check_graph(nx.read_graphml(tmp_path / "tree.graphml"), tree)
    tree.to_graphml(str(tmp_path / "again.graphml"))
    assert (tmp_path / "again.graphml").read_bytes() == (tmp_path / "tree.graphml").read_bytes()


def test_graphml_refuses_names_that_xml_cannot_hold(tmp_path):
    with pytest.raises(ValueError, match="XML cannot"):
        long_chain(2, ["a", "b\x00"]).to_graphml(tmp_path / "tree.graphml")
    assert not list(tmp_path.iterdir())


def test_graphs_of_a_long_chain(tmp_path):
    n = scaled(50_000)
    tree = long_chain(n)
    assert nx.dag_longest_path_length(tree.to_networkx(), weight=None) == n - 1
    tree.to_graphml(tmp_path / "tree.graphml")
    assert (tmp_path / "tree.graphml").read_text().count("<edge ") == 2 * n - 2


# --- tables --------------------------------------------------------------------------


@given(hierarchies(), st.sampled_from([None, "text", "number"]))
def test_arrow_and_pandas(tree, kind):
    n = tree.n_leaves
    names = {None: None, "text": [f"p{i}" for i in range(n)], "number": list(range(10, 10 + n))}
    tree = tree.with_names(names[kind])
    rows = {
        "node": list(range(tree.n_nodes)),
        "parent": [*tree.parents[:-1].tolist(), None],
        "height": [height_of(tree, v) for v in range(tree.n_nodes)],
        "size": tree.sizes.tolist(),
        "is_leaf": [True] * n + [False] * (n - 1),
    }
    if kind is not None:
        rows["name"] = [*names[kind], *[None] * (n - 1)]
    table = tree.to_arrow()
    assert table.to_pydict() == rows
    frame = tree.to_pandas()
    assert list(frame) == list(rows)
    plain = frame.astype(object).where(frame.notna(), None)
    assert plain.to_dict("list") == rows


def test_columns_have_the_right_types():
    kinds = {"node": pa.int64(), "parent": pa.int64(), "height": pa.float64(), "size": pa.int64()}
    kinds["is_leaf"] = pa.bool_()
    tree = long_chain(3)
    assert dict(zip(*_schema(tree), strict=True)) == kinds
    named = dict(zip(*_schema(tree.with_names(["a", "b", "c"])), strict=True))
    assert named == {**kinds, "name": pa.string()}
    assert dict(zip(*_schema(tree.with_names([5, 6, 7])), strict=True))["name"] == pa.int64()
    frame = tree.with_names([5, 6, 7]).to_pandas()
    assert frame["parent"].dtype == frame["name"].dtype == pd.Int64Dtype()
    assert frame["node"].dtype == frame["size"].dtype == np.int64
    assert frame["is_leaf"].dtype == bool


def _schema(tree):
    schema = tree.to_arrow().schema
    return schema.names, schema.types


def test_a_table_is_ones_own():
    tree = long_chain(3)
    frame = tree.to_pandas()
    frame.loc[:, ["parent", "size", "height"]] = 0
    tree.check()
    assert tree.parents.tolist() == [3, 3, 4, 4, -1]


# --- the top -------------------------------------------------------------------------


def check_dict(tree: Hierarchy, found: dict, max_depth: float):
    waiting = [(found, tree.root, 0)]
    while waiting:
        facts, v, depth = waiting.pop()
        assert facts["node"] == v
        assert facts["size"] == tree.sizes[v]
        if v < tree.n_leaves:
            assert set(facts) == {"node", "size"} | ({"name"} if tree.names is not None else set())
            assert tree.names is None or facts["name"] == tree.names[v]
        else:
            assert facts["height"] == tree.monotone_heights[v - tree.n_leaves]
            assert ("children" in facts) == (depth < max_depth)
        for child, w in zip(
            facts.get("children", []),
            tree.children[v - tree.n_leaves].tolist() if "children" in facts else [],
            strict=True,
        ):
            waiting.append((child, w, depth + 1))


@given(hierarchies(), st.none() | st.integers(0, 12), st.booleans())
def test_dict(tree, max_depth, named):
    tree = tree.with_names([f"point {i}" for i in range(tree.n_leaves)] if named else None)
    found = tree.to_dict(max_depth=max_depth)
    assert json.loads(json.dumps(found)) == found
    check_dict(tree, found, np.inf if max_depth is None else max_depth)


def by_pydot(text: str) -> pydot.Dot:
    with warnings.catch_warnings():  # it uses its own parser library's old names
        warnings.simplefilter("ignore", DeprecationWarning)
        (graph,) = pydot.graph_from_dot_data(text)
    return graph


@settings(max_examples=examples(12))  # the reader is slow
@given(hierarchies(), st.none() | st.integers(0, 12))
def test_dot(tree, max_depth):
    graph = by_pydot(tree.to_dot(max_depth=max_depth))
    limit = np.inf if max_depth is None else max_depth
    depth = {tree.root: 0}
    for v in range(tree.root - 1, -1, -1):
        depth[v] = depth[int(tree.parents[v])] + 1
    shown = {v for v in depth if depth[v] <= limit}
    nodes = {int(node.get_name()): node for node in graph.get_nodes() if node.get_name() != "node"}
    assert set(nodes) == shown
    edges = [(int(e.get_source()), int(e.get_destination())) for e in graph.get_edges()]
    assert sorted(edges) == sorted((int(tree.parents[v]), v) for v in shown - {tree.root})
    for v, node in nodes.items():
        text = node.get_label().strip('"')
        if v < tree.n_leaves:
            assert text == str(v)
        else:
            assert text == f"{tree.sizes[v]} points\\nheight {height_of(tree, v):.6g}"


def test_dot_escapes_names():
    names = [name for name in STRANGEST if name]
    graph = by_pydot(strange_chain(names).to_dot(max_depth=None))
    escapes = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    for i, name in enumerate(names):
        (node,) = graph.get_node(str(i))
        text = node.get_label()[1:-1]
        assert re.sub(r'\\[\\"n]', lambda found: escapes[found[0]], text) == name


def test_the_top_of_a_long_chain_is_small_and_the_whole_does_not_recurse():
    n = scaled(30_000)
    tree = long_chain(n)
    found = tree.to_dict()
    check_dict(tree, found, 10)
    assert len(json.dumps(found)) < 2000
    check_dict(tree, tree.to_dict(max_depth=None), np.inf)
    assert tree.to_dot().count("->") == 20
    assert tree.to_dot(max_depth=None).count("->") == 2 * n - 2


@pytest.mark.parametrize("way", [Hierarchy.to_dict, Hierarchy.to_dot])
@pytest.mark.parametrize(
    ("depth", "error"), [(-1, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_bad_depths(way, depth, error):
    with pytest.raises(error, match="max_depth="):
        way(long_chain(3), max_depth=depth)


# --- what is optional ----------------------------------------------------------------

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["pyarrow", "pandas", "networkx"]))  # None: not to be found
import ramify
tree = ramify.HAC().fit([[0.0], [1.0]]).hierarchy()
for export in (tree.to_arrow, tree.to_pandas, tree.to_networkx, tree.condense(2).to_pandas):
    try:
        export()
    except ImportError as error:
        print(error)
print(tree.to_newick(), tree.to_linkage().shape, tree.to_dict()["size"], len(tree.to_dot()) > 0)
tree.to_graphml(sys.stdout.buffer)
"""


def test_a_missing_library_is_named_with_its_extra_and_the_rest_works():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    extra = 'which is not installed: pip install "ramify[export]"'
    for line in (
        f"to_arrow needs pyarrow, {extra}",
        f"to_pandas needs pandas, {extra}",
        f"to_networkx needs networkx, {extra}",
        "(0:1.0,1:1.0); (1, 4) 2 True",
        "</graphml>",
    ):
        assert line in done.stdout.splitlines()
    assert done.stdout.count("ramify[export]") == 4


def test_ramify_alone_imports_none_of_them():
    code = """
import sys
import sklearn.base, sklearn.utils.validation  # which may import pandas and pyarrow
before = set(sys.modules)
import ramify
print({"pyarrow", "pandas", "networkx"} & (set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- names of inner nodes ----------------------------------------------------------------


NAMED = 'all "things" & <more>\nof them'


def named_tree():
    model = ramify.OHAC().fit([[0.0], [1.0], [5.0], [5.5]], ids=["ash", "elm", "oak", "fir"])
    low, high = model.lca("ash", "elm"), model.lca("oak", "ash")
    model.edit.rename(low, "low")
    model.edit.rename(high, NAMED)
    model.edit.rename(-1 - model.number_of("oak"), "a leaf keeps its id")
    tree = model.hierarchy()
    places = {int(one): int(np.flatnonzero(tree.node_ids == one)[0]) + 4 for one in (low, high)}
    return tree, places[low], places[high]


def test_names_that_people_gave_are_in_every_export():
    tree, low, high = named_tree()
    assert sorted(tree.node_names.values()) == sorted(["low", NAMED])
    assert "(ash:" in tree.to_newick()
    assert ")low:" in tree.to_newick()
    assert "node" in tree.to_newick(node_names=True)
    graph = tree.to_networkx()
    assert {v: told["node_name"] for v, told in graph.nodes.items() if "node_name" in told} == {
        low: "low",
        high: NAMED,
    }
    file = io.BytesIO()
    tree.to_graphml(file)
    file.seek(0)
    read = nx.read_graphml(file)
    assert read.nodes[str(low)]["node_name"] == "low"
    assert read.nodes[str(high)]["node_name"] == NAMED
    for table in (tree.to_arrow().to_pydict(), tree.to_pandas().to_dict("list")):
        assert table["node_name"][low] == "low"
        assert table["node_name"][high] == NAMED
        assert [at for at, text in enumerate(table["node_name"]) if text is not None] == [low, high]
        assert table["name"][:4] == ["ash", "elm", "oak", "fir"]
    nested = tree.to_dict()
    assert nested["name"] == NAMED
    assert {one.get("name") for one in nested["children"]} == {"low", None}
    assert 'label="low\\n2 points' in tree.to_dot()


def test_names_of_nodes_stay_with_copies_and_change_nothing_else():
    tree, _, _ = named_tree()
    for twin in (copy.copy(tree), pickle.loads(pickle.dumps(tree)), tree.with_names(None)):
        assert dict(twin.node_names) == dict(tree.node_names)
    plain = tree.with_node_names({})
    assert dict(plain.node_names) == {}
    assert plain == tree
    assert "node_name" not in plain.to_arrow().column_names
    assert dict(tree.with_node_names({10**9: "nobody"}).node_names) == {}
    with pytest.raises(TypeError, match="expected texts"):
        tree.with_node_names({1: 2})
    with pytest.raises(TypeError):
        tree.node_names[0] = "no"
