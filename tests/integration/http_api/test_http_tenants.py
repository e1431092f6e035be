"""Who may do what, over every route: credentials, foreign ids, roles."""

from uuid import uuid4

import pytest

from http_api.routing import Route
from tests.integration.http_api.client import (
    Api,
    Client,
)
from tests.integration.http_api.every_route import (
    PRIVATE_ROUTES,
    WORKSPACE_ROUTES,
    body_of,
    ids_for,
    ids_in,
    named,
    path_of,
)
from whenthen.domain.rules.permissions import LEVEL_OF_ROLE


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


BAD_TOKENS = [None, "", "wt_unknown", "Basic", "x" * 5000]


@pytest.mark.parametrize("token", BAD_TOKENS)
def test_without_a_good_token_every_route_is_401(api: Api, token: str | None) -> None:
    ids = ids_in(api, "mine")
    client = Client(token)
    for entry in PRIVATE_ROUTES:
        answer = client.call(entry.method, path_of(entry, ids), "{broken")
        assert (answer.status, answer.code) == (401, "UNAUTHENTICATED"), named(entry)
        assert answer.headers["www-authenticate"] == "Bearer"


def test_case_113_foreign_unknown_and_malformed_ids_get_the_same_404(api: Api) -> None:
    foreign, mine = ids_in(api, "other"), ids_in(api, "mine")
    for entry in WORKSPACE_ROUTES:
        for ids in (
            foreign,
            {name: str(uuid4()) for name in foreign},
            dict.fromkeys(foreign, "nonsense"),
            # Every id but the deciding one is real and the caller's own.
            {**mine, first_variable(entry): foreign[first_variable(entry)]},
        ):
            for client in (api.mine.owner, api.mine.viewer):
                answer = client.call(entry.method, path_of(entry, ids), body_of(entry))
                assert answer.status == 404, named(entry)
                assert answer.error == {"code": "NOT_FOUND", "message": "not found"}
    assert api.sql("select * from records where database_id = :d", d=api.other.database_id)


def first_variable(entry: Route) -> str:
    return entry.path.split("{")[1].split("}")[0]


@pytest.mark.parametrize("entry", WORKSPACE_ROUTES, ids=named)
def test_each_role_may_do_what_its_level_covers(api: Api, entry: Route) -> None:
    assert entry.needs is not None
    for role, client in api.mine.clients.items():
        answer = client.call(entry.method, path_of(entry, ids_for(api, entry)), body_of(entry))
        if LEVEL_OF_ROLE[role] >= entry.needs.level:
            assert answer.status == entry.status, answer.text
        else:
            assert (answer.status, answer.code) == (403, "FORBIDDEN")


def test_a_viewers_refused_writes_leave_everything_as_it_was(api: Api) -> None:
    ids = ids_in(api, "mine")
    tables = ("automations", "automation_versions", "automation_runs", "records", "pages")

    def counts() -> list[int]:
        return [api.sql(f"select count(*) as n from {table}")[0]["n"] for table in tables]

    before = counts()
    for entry in WORKSPACE_ROUTES:
        if entry.method != "GET":
            api.mine.viewer.call(entry.method, path_of(entry, ids), body_of(entry))
    assert counts() == before
