# SPDX-License-Identifier: BSD-3-Clause
"""The OpenAPI description: every answer is what it says, every call says who may make it."""

import re

import httpx
import numpy as np
import pytest
from pydantic import BaseModel, ValidationError

import ramify
from ramify.journal.seam import SUMMARIES
from ramify.serve import running
from ramify.serve._describing import ANSWERS
from ramify.serve._mistakes import TooOld
from ramify.serve._told import AllTrees
from ramify.summaries import SummaryTree

pytestmark = pytest.mark.no_asan  # other libraries at work

TOKEN = "a-long-secret-token"
READER = "a-token-for-readers"
KEPT = f"a/{SUMMARIES}"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    with running(folder) as address:
        with ramify.Client(address) as client:
            tree = client.create("a", dimension=2, n_clusters=3)
            rows = np.random.default_rng(0).normal(size=(30, 2))
            names = [f"p{i}" for i in range(30)]
            tree.add(rows, ids=names, payloads=[f"text of {name}" for name in names])
            tree.edit.must_link("p1", "p2")
            tree.edit.rename(tree.clusters()[0], "first")
            with SummaryTree(
                tree, summarize=lambda parts, node: "some", levels=(5, 9, 99), store=folder / KEPT
            ) as summaries:
                summaries.update()
        yield address


def calls(root):
    """A call for each answer that the description knows, by method and address."""
    rows = {"vectors": [[0.0, 1.0]]}
    some = {"points": ["p3", "p4"]}
    whole = httpx.get(f"{root['address']}/v1/trees/a/backup").content
    return {
        ("get", "/readyz"): [{}],
        ("get", ""): [{}],
        ("put", "/{name}"): [{"json": {"dimension": 2, "n_clusters": 3}}],
        ("get", "/{name}"): [{}],
        ("get", "/{name}/points"): [{}],
        ("get", "/{name}/points/{point}"): [{}],
        ("get", "/{name}/points/{point}/path"): [{}],
        ("post", "/{name}/points"): [
            {"json": {"points": [{"id": "new", "vector": [0, 1]}]}},
            {
                "content": '{"id": "newer", "vector": [0, 1]}\n',
                "headers": {"content-type": "application/x-ndjson"},
            },
        ],
        ("post", "/{name}/forget"): [{"json": {"points": ["p5"]}}],
        ("post", "/{name}/polish"): [{}],
        ("post", "/{name}/edits"): [{"json": {"edit": "must_link", "i": "p6", "j": "p7"}}],
        ("get", "/{name}/edits"): [{}],
        ("post", "/{name}/assign"): [
            {"json": rows},
            {"json": rows, "params": {"confidence": True, "new": 0.05}},
            {"json": rows, "params": {"levels": [2, 4]}},
        ],
        ("get", "/{name}/clusters"): [{}, {"params": {"by": "modularity"}}],
        ("get", "/{name}/nodes/{node}"): [{}],
        ("get", "/{name}/nodes/{node}/members"): [{"params": {"limit": 1}}],
        ("get", "/{name}/outline"): [{}],
        ("get", "/{name}/search"): [{"params": {"q": "text"}}],
        ("get", "/{name}/labels"): [{}],
        ("post", "/{name}/labels"): [{"json": {"labels": [0, 1], "numbers": [0, 1]}}],
        ("post", "/{name}/stable_labels"): [{}, {"params": {"brief": True}}],
        ("get", "/{name}/levels"): [{"params": {"n_clusters": [2, 4]}}],
        ("get", "/{name}/layers"): [{"params": {"min_size": 2}}],
        ("get", "/{name}/keywords"): [{}],
        ("post", "/{name}/cluster_of"): [{"json": some}],
        ("post", "/{name}/nearest"): [{"json": rows}],
        ("post", "/{name}/payloads"): [{"json": some}],
        ("get", "/{name}/dirty"): [{"params": {"since": root["version"]}}],
        ("get", "/{name}/timeline"): [{}, {"params": {"n_clusters": 3, "eras": 30}}],
        ("get", "/{name}/summaries"): [{}, {"params": {"level": 5}}],
        ("get", "/{name}/summaries/{node}"): [{}],
        ("post", "/{name}/retrieve"): [
            {"json": {"vector": rows["vectors"][0], "k": 2, "mode": mode}}
            for mode in ("collapsed", "tree")
        ],
        ("get", "/{name}/changes"): [
            {"params": {"since": since, "brief": brief}}
            for since in (0, root["version"])
            for brief in (True, False)
        ],
        ("post", "/{name}/changes/token"): [{}],
        ("post", "/{name}/snapshot"): [{}],
        ("post", "/{name}/compact"): [{}],
        ("delete", "/{name}/points/{point}"): [{}],
        ("put", "/{name}/backup"): [{"content": whole, "path": "b"}],
        ("post", "/{name}/rename"): [{"json": {"to": "c"}, "path": "b"}],
        ("delete", "/{name}"): [{"path": "c"}],
    }


def test_every_answer_is_what_the_description_says(address):
    first = httpx.get(f"{address}/v1/trees/a/outline").json()
    table = calls({"address": address, "version": first["version"]})
    full = {(m, p if p == "/readyz" else f"/v1/trees{p}"): some for (m, p), some in table.items()}
    assert set(full) == set(ANSWERS)
    wrong = []
    for (method, path), some in full.items():
        for one in some:
            name = one.pop("path", "a")
            place = path.format(name=name, point="p8", node=first["root"])
            told = httpx.request(method, address + place, **one)
            assert told.status_code in (200, 201), (method, place, told.text)
            try:
                ANSWERS[method, path].model_validate_json(told.content, strict=True)
            except ValidationError as error:
                wrong.append(f"{method} {path}: {error}")
    assert not wrong, "\n".join(wrong)


def test_an_answer_with_more_or_less_in_it_is_noticed():
    whole = {"trees": [], "failed": {}, "states": {"open": 1}}
    AllTrees.model_validate(whole)
    for wrong in ({**whole, "more": 1}, {"trees": []}, {**whole, "states": {"open": "one"}}):
        with pytest.raises(ValidationError):
            AllTrees.model_validate(wrong)


def test_every_call_says_its_answer_its_role_and_who_may_make_it(address):
    told = httpx.get(f"{address}/openapi.json").json()
    schemes = told["components"]["securitySchemes"]
    shapes = told["components"]["schemas"]
    for path, methods in told["paths"].items():
        for call in methods.values():
            for scheme in call["security"]:
                assert set(scheme) <= set(schemes)
            if path in ("/healthz", "/readyz"):
                assert call["security"] == []
                continue
            assert re.search(r"Role: (read|write|admin)\.$", call["description"])
            assert call["responses"]["410"]["content"]["application/json"]["schema"]["$ref"]
            for code in {"200", "201"} & set(call["responses"]):
                content = call["responses"][code].get("content", {})
                for kind, one in content.items():
                    plain = one["schema"] in ({}, {"type": "string"})
                    assert plain or one["schema"]["$ref"].rsplit("/", 1)[1] in shapes, (path, kind)
    assert all(issubclass(one, BaseModel) for one in ANSWERS.values())


def test_a_version_that_is_gone_is_answered_as_described(address):
    told = httpx.get(f"{address}/v1/trees/a/changes", params={"since": 999_999})
    assert told.status_code == 410
    assert TooOld.model_validate_json(told.content, strict=True).oldest is not None


# --- a browser follows, which sends no header ---------------------------------------------------


def test_a_token_for_a_stream_opens_it_and_nothing_else(tmp_path, caplog):
    caplog.set_level("INFO", "ramify.serve")
    with running(tmp_path, token=TOKEN, read_token=READER, log=True) as address:
        with ramify.Client(address, token=TOKEN) as client:
            for name in ("a", "b"):
                client.create(name).add([[0.0]])
        reader = {"authorization": f"Bearer {READER}"}
        ask = f"{address}/v1/trees/a/changes"
        assert httpx.post(f"{ask}/token").status_code == 401
        told = httpx.post(f"{ask}/token", headers=reader).json()
        assert 0 < told["seconds"] <= 60
        given = {"token": told["token"]}
        with httpx.stream("GET", f"{ask}/stream", params=given) as events:
            assert events.status_code == 200
            assert next(events.iter_lines()) == "event: progress"
        for path in ("/v1/trees/a", "/v1/trees/a/changes", "/v1/trees/b/changes/stream"):
            assert httpx.get(address + path, params=given).status_code == 401
        for wrong in (f"{told['token']}0", "reader", "", "..", told["token"].replace(".", ".9", 1)):
            answer = httpx.get(f"{ask}/stream", params={"token": wrong})
            assert answer.status_code == 401, wrong
    assert told["token"] not in caplog.text


def test_a_token_for_a_stream_ends_with_its_time_and_with_who_has_made_it(monkeypatch):
    from ramify.serve import _tokens

    feeder = _tokens.Token("feeder", TOKEN)
    tokens = _tokens.Tokens([feeder])
    told = tokens.for_stream(feeder, "a")
    assert tokens.of_stream(told, "a") == feeder
    tokens.current = (_tokens.Token("feeder", READER),)  # exchanged
    assert tokens.of_stream(told, "a") is None
    tokens.current = (feeder,)
    later = _tokens.time.time() + _tokens.STREAM_SECONDS + 1
    monkeypatch.setattr(_tokens.time, "time", lambda: later)
    assert tokens.of_stream(told, "a") is None
    assert _tokens.Tokens([feeder]).of_stream(told, "a") is None  # of another process
