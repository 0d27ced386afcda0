# SPDX-License-Identifier: BSD-3-Clause
"""_docs.py: the description of all calls as a page that loads nothing from anywhere."""

from __future__ import annotations

from html import escape
from typing import Any

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ramify: calls</title><link rel="stylesheet" href="live.css">
<h1>Calls of this server</h1>
<p>For programs: <a href="openapi.json">openapi.json</a>. Calls that change something may have a
header <code>Idempotency-Key</code>: made again with the same key, they are not done again.</p>"""


def docs_page(description: dict[str, Any]) -> str:
    """All calls of an OpenAPI description."""
    parts = [_HEAD]
    for path, methods in description["paths"].items():
        for method, call in methods.items():
            parts.append(f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(call.get('summary', ''))}</p>")
            parts.append(f"<p>{escape(call.get('description', ''))}</p>")
            parts.append(_parameters(call.get("parameters", [])))
            kinds = call.get("requestBody", {}).get("content", {})
            if kinds:
                parts.append(f"<p>Body: <code>{escape(', '.join(kinds))}</code></p>")
    return "\n".join(parts)


def _parameters(found: list[dict[str, Any]]) -> str:
    if not found:
        return ""
    rows = "".join(
        f"<dt><code>{escape(one['name'])}</code></dt><dd>{escape(one['in'])}"
        f"{', required' if one.get('required') else ''} {escape(one.get('description', ''))}</dd>"
        for one in found
    )
    return f"<dl>{rows}</dl>"
