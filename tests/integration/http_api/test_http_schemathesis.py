"""Thousands of generated requests, good ones and bad ones: no answer is undocumented."""

import os
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation

from http_api.openapi import document
from tests.integration.http_api.client import Api
from tests.integration.http_api.test_http_matrix import Ids
from tests.integration.http_api.wsgi import application
from whenthen.domain.kinds import Role

CASES_MIN: Final = 5_000
# Beside those that are made systematically of each schema, valid and invalid at each of its edges.
SOAK: Final = os.environ.get("WHENTHEN_CASES_PER_ROUTE")
RANDOM_CASES_PER_ROUTE: Final = int(SOAK or "40")
# Requests of one route that share their ids: what one of them archives is in the way of the next.
CASES_PER_IDS: Final = 10

SCHEMA = schemathesis.openapi.from_dict(
    document(),
    config=SchemathesisConfig.from_dict(
        {
            # Credentials are the matrix' subject.
            "generation": {"mode": "all", "with-security-parameters": False},
            "phases": {"stateful": {"enabled": False}},
            "checks": {
                "ignored_auth": {"enabled": False},
                # A legal shape may be against a rule: 422, and documented.
                "positive_data_acceptance": {"enabled": False},
            },
        }
    ),
)
SCHEMA.app = application

SEEN: Counter[str] = Counter()
ANSWERS: Counter[int] = Counter()


@pytest.fixture(scope="module")
def api(module_api: Api) -> Iterator[Api]:
    yield module_api
    print(f"{sum(SEEN.values())} generated requests, answered {dict(sorted(ANSWERS.items()))}")  # noqa: T201  # the figure
    if len(SEEN) == SCHEMA.statistic.operations.total:
        assert sum(SEEN.values()) >= CASES_MIN


@pytest.mark.xdist_group("schemathesis")
@pytest.mark.timeout(600)
@SCHEMA.parametrize()
@settings(
    max_examples=RANDOM_CASES_PER_ROUTE,
    deadline=None,
    database=None,
    # The same ones every time, unless new ones are looked for.
    derandomize=SOAK is None,
    suppress_health_check=list(HealthCheck),
)
def test_no_generated_request_gets_an_answer_beside_the_document(case: Case[Any], api: Api) -> None:
    label = case.operation.label
    if SEEN[label] % CASES_PER_IDS == 0:
        IDS[label] = fresh_ids(api, label)
    SEEN[label] += 1
    use_real_ids(case, IDS[label])
    use_another_key(case)
    response = case.call(headers={"authorization": f"Bearer {api.mine.owner.token}"})
    ANSWERS[response.status_code] += 1
    case.validate_response(response)


IDS: dict[str, Ids] = {}


def fresh_ids(api: Api, label: str) -> Ids:
    ids = Ids(api, api.mine, api.mine.user_ids[Role.OWNER])
    if label.startswith("PATCH /api/v1/databases"):
        # Not the one that everything else is in: it may be archived.
        path = f"/workspaces/{api.mine.workspace_id}/databases"
        ids.made["databaseId"] = api.mine.owner.post(path, {"name": "Spare"}).json["id"]
    return ids


def use_another_key(case: Case[Any]) -> None:
    """Most requests have the one key of the examples, and would be conflicts and nothing else."""
    key = case.headers.get("Idempotency-Key")
    if is_well_formed(case, ParameterLocation.HEADER) and key and SEEN.total() % 5 > 0:
        case.headers["Idempotency-Key"] = f"key-{SEEN.total()}"


def use_real_ids(case: Case[Any], ids: Ids) -> None:
    """Put ids that exist into most of what is well-formed, or all of it would be a 404."""
    if is_well_formed(case, ParameterLocation.PATH):
        for name, value in case.path_parameters.items():
            if is_chosen(value):
                case.path_parameters[name] = ids[name]
    if is_well_formed(case, ParameterLocation.BODY):
        body = with_real_ids(case.body, ids)
        if body != case.body:
            case.body = body


def is_well_formed(case: Case[Any], part: ParameterLocation) -> bool:
    found = case.meta.components.get(part) if case.meta else None
    return found is not None and found.mode is GenerationMode.POSITIVE


def with_real_ids(value: Any, ids: Ids) -> Any:
    match value:
        case dict():
            return {key: with_real_id(key, item, ids) for key, item in value.items()}
        case list():
            return [with_real_ids(item, ids) for item in value]
    return value


def with_real_id(key: str, value: Any, ids: Ids) -> Any:
    known = {"parentId": "pageId"}.get(key, key)
    if known in {"databaseId", "recordId", "pageId", "runId"} and is_id(value):
        return ids[known] if is_chosen(value) else value
    return with_real_ids(value, ids)


def is_id(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(UUID(value))
    except ValueError:
        return False


def is_chosen(value: Any) -> bool:
    """Choose four of five, and always the same ones."""
    return zlib.crc32(repr(value).encode()) % 5 > 0
