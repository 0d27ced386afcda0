# SPDX-License-Identifier: BSD-3-Clause
"""_describing.py: the OpenAPI description: FastAPI's, with tokens, roles and answers put in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ramify.serve._door import OPEN, role_of
from ramify.serve._mistakes import Problem, TooOld
from ramify.serve._told import (
    AllPoints,
    AllTrees,
    Assigned,
    Came,
    Changes,
    Clusters,
    ClustersOf,
    Deleted,
    Dirty,
    Edited,
    Edits,
    Erased,
    Forgotten,
    Hits,
    Keywords,
    Labels,
    Levels,
    Members,
    Nearest,
    Node,
    Outline,
    PathTo,
    Point,
    Points,
    Polished,
    Ready,
    SnapshotTaken,
    StableLabels,
    StreamToken,
    Timeline,
    TreeFacts,
)
from ramify.serve._told_summaries import Retrieval, Summaries, WholeSummary

_SCHEMAS = "#/components/schemas/"

#: By method and address.
ANSWERS: dict[tuple[str, str], type[BaseModel]] = {
    ("get", "/readyz"): Ready,
    ("get", "/v1/trees"): AllTrees,
    **{
        (method, f"/v1/trees/{{name}}{rest}"): model
        for method, rest, model in (
            ("put", "", TreeFacts),
            ("get", "", TreeFacts),
            ("delete", "", Deleted),
            ("put", "/backup", TreeFacts),
            ("post", "/rename", TreeFacts),
            ("post", "/compact", Erased),
            ("post", "/snapshot", SnapshotTaken),
            ("post", "/points", Came),
            ("get", "/points", AllPoints),
            ("get", "/points/{point}/path", PathTo),
            ("get", "/points/{point}", Point),
            ("delete", "/points/{point}", Forgotten),
            ("post", "/forget", Forgotten),
            ("post", "/polish", Polished),
            ("post", "/edits", Edited),
            ("get", "/edits", Edits),
            ("post", "/assign", Assigned),
            ("get", "/clusters", Clusters),
            ("get", "/nodes/{node}", Node),
            ("get", "/nodes/{node}/members", Members),
            ("get", "/outline", Outline),
            ("get", "/search", Hits),
            ("get", "/labels", Labels),
            ("post", "/labels", Labels),
            ("post", "/stable_labels", StableLabels),
            ("get", "/levels", Levels),
            ("get", "/layers", Levels),
            ("get", "/keywords", Keywords),
            ("post", "/cluster_of", ClustersOf),
            ("post", "/nearest", Nearest),
            ("post", "/payloads", Points),
            ("get", "/dirty", Dirty),
            ("get", "/summaries", Summaries),
            ("get", "/summaries/{node}", WholeSummary),
            ("post", "/retrieve", Retrieval),
            ("get", "/changes", Changes),
            ("get", "/timeline", Timeline),
            ("post", "/changes/token", StreamToken),
        )
    },
}


def describe(app: FastAPI) -> None:
    """Have an application describe itself so."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(plain())
        return app.openapi_schema  # type: ignore[return-value]

    app.openapi = described  # type: ignore[method-assign]


def _complete(told: dict[str, Any]) -> None:
    parts = told["components"]
    models: list[type[BaseModel]] = [*dict.fromkeys(ANSWERS.values()), Problem, TooOld]
    _, found = models_json_schema(
        [(model, "validation") for model in models], ref_template=_SCHEMAS + "{model}"
    )
    parts["schemas"] |= found["$defs"]
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Where the server has tokens"},
        "stream": {"type": "apiKey", "in": "query", "name": "token"},
    }
    for path, calls in told["paths"].items():
        for method, call in calls.items():
            _complete_one(method, path, call)


def _complete_one(method: str, path: str, call: dict[str, Any]) -> None:
    answers = call["responses"]
    if (model := ANSWERS.get((method, path))) is not None:
        for code in ("200", "201", "503" if path == "/readyz" else "200"):
            if code in answers:
                answers[code] |= _json(model.__name__)
    if path in OPEN:
        call["security"] = []
        return
    answers["410"] |= _json(TooOld.__name__)
    call["security"] = [{"token": []}]
    if path.endswith("/stream"):
        call["security"].append({"stream": []})
    call["description"] = (
        f"{call.get('description', '')}\n\nRole: {role_of(method.upper(), path)}.".strip()
    )


def _json(model: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": _SCHEMAS + model}}}}
