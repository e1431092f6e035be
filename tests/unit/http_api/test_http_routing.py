import re
from collections import Counter
from uuid import UUID

import pytest

from http_api.resolver import ROUTE_MODULES
from http_api.routing import API_BASE, ROUTES, Route, methods_of
from whenthen.domain.rules.permissions import Access, Level, Subject
from whenthen.engine.identify import Caller

READS = {"GET"}
# What only admins read.
HIDDEN = {
    f"{API_BASE}/workspaces/{{workspaceId}}/audit",
    f"{API_BASE}/workspaces/{{workspaceId}}/secrets",
}


def test_every_module_of_routes_enters_some() -> None:
    modules = {entry.function.__module__ for entry in ROUTES}
    assert modules == {module.__name__ for module in ROUTE_MODULES}


def test_no_two_routes_are_the_same() -> None:
    shapes = Counter((entry.method, re.sub(r"\{\w+\}", "{}", entry.path)) for entry in ROUTES)
    assert [shape for shape, n in shapes.items() if n > 1] == []


@pytest.mark.parametrize("entry", ROUTES, ids=lambda entry: f"{entry.method} {entry.path}")
def test_a_route_names_the_row_that_decides_first(entry: Route) -> None:
    if entry.needs is None:
        assert not entry.path.startswith(API_BASE)
        return
    variables = re.findall(r"\{(\w+)\}", entry.path)
    if entry.needs.subject is not Subject.CALLER:
        assert variables[0] == f"{entry.needs.subject.value}Id"


@pytest.mark.parametrize("entry", ROUTES, ids=lambda entry: f"{entry.method} {entry.path}")
def test_a_viewer_may_read_and_only_read(entry: Route) -> None:
    if entry.needs is not None and entry.needs.subject is not Subject.CALLER:
        reads = entry.method in READS and entry.path not in HIDDEN
        assert (entry.needs.level == Level.VIEW) == reads


@pytest.mark.parametrize("entry", ROUTES, ids=lambda entry: f"{entry.method} {entry.path}")
def test_only_writes_read_a_body(entry: Route) -> None:
    assert entry.body is None or entry.method in {"POST", "PATCH", "PUT"}


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/v1/me", ["GET"]),
        ("/api/v1/automations/x", ["DELETE", "GET", "PATCH"]),
        ("/api/v1/automations/x/triggers", ["PUT"]),
        ("/api/v1/automations", []),
        ("/api/v1/me/", []),
        ("/me", []),
        ("/healthz", ["GET"]),
    ],
)
def test_a_path_knows_its_methods(path: str, methods: list[str]) -> None:
    assert methods_of(path) == methods


def test_a_caller_without_a_workspace_has_none_to_give() -> None:
    with pytest.raises(LookupError):
        _ = Caller(UUID(int=1), None, Access()).workspace_id
