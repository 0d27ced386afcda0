# SPDX-License-Identifier: BSD-3-Clause
"""retrievers.py: a summary tree as a retriever of LangChain or of LlamaIndex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ramify.summaries._retrieval import Hit
from ramify.summaries._summary_tree import SummaryTree
from ramify.wording import words_of

__all__ = ["langchain_retriever", "llama_index_retriever"]


def langchain_retriever(
    summaries: SummaryTree, embed: Callable[[str], Any], *, k: int = 10, mode: str = "collapsed"
) -> Any:
    """A retriever of LangChain. Needs ``pip install "ramify[langchain]"``.

    Parameters
    ----------
    summaries : SummaryTree
    embed : callable
        From a question to its vector, as ``embed_query`` of LangChain's embeddings.
    k, mode
        As in :meth:`SummaryTree.retrieve`.

    Returns
    -------
    langchain_core.retrievers.BaseRetriever
        Its documents have ``distance``, ``point``, ``node_id``, ``size`` and ``path`` as metadata.

    Examples
    --------
    >>> import ramify
    >>> from ramify.summaries import SummaryTree
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> summaries = SummaryTree(model, summarize=lambda parts, node: "all", texts=["a", "b", "c"])
    >>> _ = summaries.update()
    >>> found = langchain_retriever(summaries, lambda text: [0.2], k=1)  # doctest: +SKIP
    >>> found.invoke("what?")[0].page_content  # doctest: +SKIP
    'a'
    """
    try:
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
    except ImportError as error:
        raise ImportError(
            'this needs langchain-core, not installed here: pip install "ramify[langchain]"'
        ) from error

    class SummaryRetriever(BaseRetriever):  # type: ignore[misc]  # untyped where it is missing
        """Summaries and points of a live tree."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            hits = summaries.retrieve(embed(query), k, mode=mode)
            return [
                Document(page_content=words_of(hit.text), metadata=about(hit), id=name_of(hit))
                for hit in hits
            ]

    return SummaryRetriever()


def llama_index_retriever(
    summaries: SummaryTree, embed: Callable[[str], Any], *, k: int = 10, mode: str = "collapsed"
) -> Any:
    """A retriever of LlamaIndex. Needs ``pip install "ramify[llama-index]"``.

    Parameters
    ----------
    summaries : SummaryTree
    embed : callable
        From a question to its vector, as ``get_query_embedding`` of LlamaIndex's embeddings.
    k, mode
        As in :meth:`SummaryTree.retrieve`.

    Returns
    -------
    llama_index.core.retrievers.BaseRetriever
        The score of a node is its distance, negated: the larger the nearer.

    Examples
    --------
    >>> import ramify
    >>> from ramify.summaries import SummaryTree
    >>> model = ramify.OHAC().fit([[0.0], [1.0], [9.0]])
    >>> summaries = SummaryTree(model, summarize=lambda parts, node: "all", texts=["a", "b", "c"])
    >>> _ = summaries.update()
    >>> found = llama_index_retriever(summaries, lambda text: [0.2], k=1)  # doctest: +SKIP
    >>> found.retrieve("what?")[0].text  # doctest: +SKIP
    'a'
    """
    try:
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeWithScore, TextNode
    except ImportError as error:
        raise ImportError(
            'this needs llama-index-core, not installed here: pip install "ramify[llama-index]"'
        ) from error

    class SummaryRetriever(BaseRetriever):  # type: ignore[misc]  # untyped where it is missing
        """Summaries and points of a live tree."""

        def _retrieve(self, query_bundle: Any) -> list[Any]:
            vector = query_bundle.embedding
            asked = embed(query_bundle.query_str) if vector is None else vector
            return [
                NodeWithScore(
                    node=TextNode(text=words_of(hit.text), metadata=about(hit), id_=name_of(hit)),
                    score=-hit.distance,
                )
                for hit in summaries.retrieve(asked, k, mode=mode)
            ]

    return SummaryRetriever()


def about(hit: Hit) -> dict[str, Any]:
    """What is known of a hit beside its text.

    Examples
    --------
    >>> about(Hit("No sound", 0.25, "T7", -8, 1, (17, 3)))["path"]
    [17, 3]
    """
    told = hit._asdict()
    del told["text"]
    return {**told, "path": list(hit.path)}


def name_of(hit: Hit) -> str:
    """What a hit is called: a point by its id, a summary by its node.

    Examples
    --------
    >>> name_of(Hit("No sound", 0.25, "T7", -8, 1, (17, 3)))
    'T7'
    """
    return f"summary {hit.node_id}" if hit.point is None else str(hit.point)
