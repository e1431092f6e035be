"""docs/api.md against the OpenAPI document: nothing left out, nothing made up."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import http_api.resolver
from http_api.openapi import document
from http_api.openapi_errors import ERROR_CODES
from http_api.routing import API_BASE, ROUTES
from whenthen.domain.kinds import SkipReason

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
# | GET, PATCH | `/databases/{databaseId}?cursor` | …
ROW = re.compile(r"^\| ([A-Z, ]+) \| `(/[^`?]*)(?:\?([^`]*))?`", re.MULTILINE)
# Outside the tables: GET `/healthz`
SENTENCE = re.compile(r"\b(GET|POST) `(/[a-z.]+)`")
CODE_ROW = re.compile(r"^\| (4\d\d|5\d\d) \| ((?:`[A-Z_]+`(?:, )?)+) \|", re.MULTILINE)


def documented_routes() -> Iterator[tuple[str, str, str]]:
    for methods, path, query in ROW.findall(TEXT):
        for method in methods.split(", "):
            yield method, path, query
    for method, path in SENTENCE.findall(TEXT):
        yield method, path, ""


@cache
def operations() -> dict[tuple[str, str], Any]:
    assert len(http_api.resolver.ROUTE_MODULES) > 10
    return {
        (method.upper(), path.removeprefix(API_BASE)): operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_stands_in_the_text_and_no_other() -> None:
    in_text = [(method, path) for method, path, _ in documented_routes()]
    assert set(in_text) == set(operations())
    assert len(in_text) == len(set(in_text)) == len(ROUTES)


def test_every_code_stands_in_the_table_with_its_status_and_no_other() -> None:
    in_text = {
        (code, int(status))
        for status, codes in CODE_ROW.findall(TEXT)
        for code in re.findall(r"[A-Z_]+", codes)
    }
    assert in_text == {(code, known.status) for code, known in ERROR_CODES.items()}


def test_the_query_of_a_list_stands_beside_it() -> None:
    for method, path, query in documented_routes():
        parameters = operations()[method, path]["parameters"]
        known = [one["name"] for one in parameters if one["in"] == "query"]
        if query:
            assert query.split("&") == known, path
        else:
            assert set(known) <= {"cursor", "limit"}, path


def test_every_key_of_every_body_stands_in_the_text() -> None:
    schemas = document()["components"]["schemas"]
    missing = {
        f"{name}.{key}"
        for name, schema in schemas.items()
        for key in schema.get("properties", {})
        if not re.search(rf"\b{re.escape(key)}\b", TEXT)
    }
    assert missing == set()


def test_every_reason_of_a_skip_stands_in_the_text() -> None:
    assert {reason for reason in SkipReason if f"`{reason}`" not in TEXT} == set()
