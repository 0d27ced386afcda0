# SPDX-License-Identifier: BSD-3-Clause
"""A tree for agents: its tools, as plain functions and as the SDK's own client finds them."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import pairwise

import numpy as np
import pytest

import ramify
from ramify.journal.seam import SUMMARIES
from ramify.mcp import Taxonomy, require
from ramify.serve import running
from ramify.summaries import SummaryTree

pytestmark = pytest.mark.no_asan  # other libraries at work

TOPICS = ("sound", "screen", "refund", "login")


def fill(tree, n=80):
    rng = np.random.default_rng(2)
    kinds = np.arange(n) % 4
    X = rng.normal(size=(n, 3)) + 20 * rng.normal(size=(4, 3))[kinds]
    texts = [f"{TOPICS[kind]} trouble of customer {i}" for i, kind in enumerate(kinds)]
    tree.add(X, ids=[f"T{i}" for i in range(n)], payloads=texts)
    return X


@pytest.fixture(params=["folder", "client"])
def tree(request, tmp_path):
    with ExitStack() as stack:
        if request.param == "folder":
            yield stack.enter_context(ramify.open(tmp_path / "a", ramify.OHAC(history=50)))
        else:
            url = stack.enter_context(running(tmp_path))
            yield stack.enter_context(ramify.Client(url)).create("a", history=50)


def test_topics_are_the_clusters_of_a_cut_with_words_and_examples(tree):
    fill(tree)
    told = Taxonomy(tree).topics(4)
    assert told["points"] == 80
    assert told["version"] == tree.version
    assert [topic["size"] for topic in told["topics"]] == [20] * 4
    assert {topic["keywords"][0] for topic in told["topics"]} == set(TOPICS)
    for topic in told["topics"]:
        assert len(topic["examples"]) == 3
        assert all(topic["keywords"][0] in one["text"] for one in topic["examples"])
        assert all(one["point"] == f"T{one['number']}" for one in topic["examples"])
    assert len(Taxonomy(tree).topics(1000)["topics"]) == 80
    json.dumps(told)


def test_open_goes_down_to_the_points(tree):
    fill(tree)
    agent = Taxonomy(tree)
    for topic in agent.topics(4)["topics"]:
        seen, waiting = [], [topic["node"]]
        while waiting:
            told = agent.open(waiting.pop())
            json.dumps(told)
            assert sum(part["size"] for part in told["parts"]) == told["size"]
            assert told["path"][0]["size"] == 80
            waiting += [part["node"] for part in told["parts"] if part["size"] > 1]
            seen += [part for part in told["parts"] if part["size"] == 1]
        assert len(seen) == topic["size"]
        assert len({part["examples"][0]["point"] for part in seen}) == topic["size"]


def test_search_and_where_say_which_topics_hold_what_they_find(tree):
    X = fill(tree)
    agent = Taxonomy(tree)
    hits = agent.search("screen 13")["hits"]
    assert [hit["point"] for hit in hits] == ["T13"]
    assert hits[0]["topics"][0]["size"] == 80
    sizes = [step["size"] for step in hits[0]["topics"]]
    assert all(2 * small <= large for large, small in pairwise(sizes))
    found = agent.where(vector=X[7].tolist())["nearest"]
    assert found[0]["point"] == "T7"
    assert found[0]["distance"] == pytest.approx(0.0, abs=1e-9)
    spoken_of = agent.where(text="My login does not work, says customer 43")["nearest"]
    assert spoken_of[0]["point"] == "T43"
    for wrong in ({}, {"text": "x", "vector": [1.0]}):
        with pytest.raises(ValueError, match="one of the two"):
            agent.where(**wrong)


def test_changed_since_tells_what_came_and_which_topics_changed(tree):
    X = fill(tree)
    agent = Taxonomy(tree)
    before = agent.topics(4)["version"]
    nothing = agent.changed_since(before, 4)
    assert (nothing["inserted"], nothing["changed_topics"]) == (0, [])
    tree.add(X[:1] + 0.01, ids=["new"], payloads=["sound is new"])
    told = agent.changed_since(before, 4)
    assert (told["inserted"], told["forgotten"]) == (1, 0)
    assert [one["point"] for one in told["latest"]] == ["new"]
    assert [one["size"] for one in told["changed_topics"]] == [21]
    tree.forget("T5")
    told = agent.changed_since(told["version"], 4)
    assert (told["forgotten"], [one["size"] for one in told["changed_topics"]]) == (1, [19])
    json.dumps(told)


def test_a_name_that_was_given_is_told(tree):
    fill(tree)
    agent = Taxonomy(tree)
    node = agent.topics(4)["topics"][1]["node"]
    assert agent.rename(node, "Displays")["name"] == "Displays"
    assert next(one for one in agent.topics(4)["topics"] if one["node"] == node)["name"] == (
        "Displays"
    )
    assert agent.open(node)["name"] == "Displays"
    number = agent.open(node)["parts"][0]["examples"][0]["number"]
    found = agent.where(vector=tree_row(number))["nearest"][0]["topics"]
    assert "Displays" in [step["name"] for step in found]


def tree_row(number):
    rng = np.random.default_rng(2)
    kinds = np.arange(80) % 4
    X = rng.normal(size=(80, 3)) + 20 * rng.normal(size=(4, 3))[kinds]
    return X[number].tolist()


def test_summaries_that_a_program_keeps_are_told(tree, tmp_path):
    fill(tree)
    bare = Taxonomy(tree)
    assert "summary" not in bare.open(bare.topics(4)["topics"][0]["node"])
    with pytest.raises(LookupError, match="nobody keeps summaries"):
        bare.summaries()
    say = lambda parts, node: f"about {node.size} customers"  # noqa: E731
    with SummaryTree(
        tree, summarize=say, levels=(5, 20), store=tmp_path / "a" / SUMMARIES
    ) as summaries:
        summaries.update()
        known = {one.node_id: one.text for one in summaries.summaries(20)}
    agent = Taxonomy(tree)
    told = agent.summaries()
    assert told["level"] == 20
    assert [one["level"] for one in told["levels"]] == [5, 20]
    assert {one["node"]: one["text"] for one in told["summaries"]} == known
    assert len(agent.summaries(5, limit=3)["summaries"]) == 3
    topics = agent.topics(4)["topics"]
    assert [agent.open(one["node"])["summary"] for one in topics] == ["about 20 customers"] * 4
    assert agent.open(agent.open(topics[0]["node"])["path"][0]["node"])["summary"] is None
    with pytest.raises((ValueError, OSError), match="expected one of"):
        agent.summaries(7)
    json.dumps(told)


def test_mistakes_name_the_way_out(tree):
    agent = Taxonomy(tree)
    with pytest.raises(ValueError, match="empty"):
        agent.topics()
    fill(tree)
    with pytest.raises(LookupError, match="ask for topics"):
        agent.open(10**9)
    with pytest.raises(ValueError, match="level"):
        agent.topics(0)
    assert agent.search("nowhere")["hits"] == []
    assert agent.where(text="nowhere")["nearest"] == []


def test_long_texts_are_shortened(tree):
    tree.add([[0.0], [1.0]], ids=["a", "b"], payloads=["word " * 500, {"title": "short"}])
    told = Taxonomy(tree).topics(2)["topics"]
    texts = {one["point"]: one["text"] for topic in told for one in topic["examples"]}
    assert len(texts["a"]) == 300
    assert texts["b"] == "short"


# --- over stdio, by the SDK's own client -------------------------------------------------------


def session(arguments, talk):
    """A talk with `ramify mcp` over its stdin and stdout."""
    pytest.importorskip("mcp.server.mcpserver", exc_type=ImportError)
    from mcp import Client, StdioServerParameters

    words = ["-m", "ramify.cli", "mcp", *map(str, arguments)]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def main():
        async with Client(server) as client:
            return await talk(client)

    return asyncio.run(main())


async def ask(client, tool, **words):
    told = await client.call_tool(tool, words)
    assert not told.is_error, told.content
    return json.loads(told.content[0].text)


def test_an_agent_browses_a_folder_and_changes_nothing(tmp_path):
    with ramify.open(tmp_path / "a", ramify.OHAC(history=50)) as tree:
        X = fill(tree)
        before = tree.digest()

    async def talk(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            *("topics", "open", "search", "where", "changed_since")
        ]
        assert all(tool.annotations.read_only_hint for tool in tools)
        assert all(len(tool.description) > 60 for tool in tools)
        told = await ask(client, "topics", level=4)
        assert [topic["size"] for topic in told["topics"]] == [20] * 4
        opened = await ask(client, "open", node=told["topics"][0]["node"])
        assert opened["size"] == 20
        assert (await ask(client, "search", text="login 14"))["hits"] == []
        assert (await ask(client, "where", vector=X[3].tolist()))["nearest"][0]["point"] == "T3"
        wrong = await client.call_tool("open", {"node": 10**9})
        assert wrong.is_error
        assert "ask for topics" in wrong.content[0].text
        refused = await client.call_tool("rename", {"node": opened["node"], "text": "x"})
        assert refused.is_error

    session([tmp_path / "a"], talk)
    with ramify.open(tmp_path / "a") as tree:
        assert tree.digest() == before


def test_an_agent_follows_a_server_and_may_name_topics_when_told_so(tmp_path):
    with running(tmp_path) as url, ramify.Client(url) as client:
        tree = client.create("a", history=50)
        X = fill(tree)
        kept = tmp_path / "a" / SUMMARIES
        with SummaryTree(tree, summarize=lambda parts, node: "all", store=kept) as summaries:
            summaries.update()

        async def talk(agent):
            assert {one["text"] for one in (await ask(agent, "summaries"))["summaries"]} == {"all"}
            told = await ask(agent, "topics", level=4)
            node = told["topics"][0]["node"]
            assert (await ask(agent, "rename", node=node, text="Calls"))["name"] == "Calls"
            tree.add(X[:1], ids=["new"], payloads=["more"])
            found = await ask(agent, "changed_since", version=told["version"], level=4)
            assert found["inserted"] == 1
            found = await ask(agent, "topics", level=4)
            assert "Calls" in [one["name"] for one in found["topics"]]

        session([f"{url}/v1/trees/a", "--write"], talk)
        assert list(tree.edit.list().names.values()) == ["Calls"]


def command(*words, **environment):
    line = [sys.executable, "-m", "ramify.cli", "mcp", *map(str, words)]
    return subprocess.run(
        line, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_what_is_no_tree_is_refused_in_a_sentence(tmp_path):
    pytest.importorskip("mcp.server.mcpserver", exc_type=ImportError)
    assert "expected a tree's folder" in command(tmp_path / "nowhere").stderr
    assert "expected an address" in command("http://127.0.0.1:1/").stderr
    (tmp_path / "empty").mkdir()
    done = command(tmp_path / "empty")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_without_the_sdk_the_extra_is_named(tmp_path, monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "ramify\[mcp\]"'):
        require()
