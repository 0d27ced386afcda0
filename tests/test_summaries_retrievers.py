# SPDX-License-Identifier: BSD-3-Clause
"""Summary trees as retrievers, in the libraries that they are for."""

import sys

import numpy as np
import pytest

import ramify
from ramify.summaries import SummaryTree
from ramify.summaries.retrievers import langchain_retriever, llama_index_retriever

pytestmark = [
    pytest.mark.no_asan,
    # of these libraries, and of what they import
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture
def summaries():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2)) + 9 * rng.normal(size=(4, 2))[np.arange(60) % 4]
    model = ramify.OHAC().fit(X, ids=[f"T{i}" for i in range(60)])
    texts = {f"T{i}": {"title": f"text {i}"} for i in range(60)}
    made = SummaryTree(model, summarize=lambda parts, node: f"{len(parts)} parts", texts=texts)
    made.update()
    return made


def embed(text):
    return [float(text), 1.0]


@pytest.mark.parametrize("mode", ["collapsed", "tree"])
def test_langchain_finds_what_retrieve_finds(summaries, mode):
    pytest.importorskip("langchain_core")
    found = langchain_retriever(summaries, embed, k=20, mode=mode).invoke("3")
    hits = summaries.retrieve([3.0, 1.0], 20, mode=mode)
    assert [one.metadata["node_id"] for one in found] == [hit.node_id for hit in hits]
    assert [one.metadata["path"] for one in found] == [list(hit.path) for hit in hits]
    for one, hit in zip(found, hits, strict=True):
        if hit.point is not None:
            assert (one.id, one.page_content) == (hit.point, f"text {hit.point[1:]}")


@pytest.mark.parametrize("mode", ["collapsed", "tree"])
def test_llama_index_finds_what_retrieve_finds(summaries, mode):
    pytest.importorskip("llama_index.core")
    found = llama_index_retriever(summaries, embed, k=20, mode=mode).retrieve("3")
    hits = summaries.retrieve([3.0, 1.0], 20, mode=mode)
    assert [one.metadata["node_id"] for one in found] == [hit.node_id for hit in hits]
    assert [one.score for one in found] == [-hit.distance for hit in hits]
    assert {one.node_id for one in found} >= {hit.point for hit in hits if hit.point is not None}


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (langchain_retriever, "langchain_core.documents", "langchain"),
        (llama_index_retriever, "llama_index.core.retrievers", "llama-index"),
    ],
)
def test_without_the_library_the_extra_is_named(make, module, extra, summaries, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"ramify\[{extra}\]"):
        make(summaries, embed)
