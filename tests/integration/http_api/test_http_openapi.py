"""The OpenAPI document: valid, whole, and true to the code."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

import whenthen.domain.errors
from http_api.answers import shapes
from http_api.errors import MethodNotAllowedError
from http_api.openapi import document
from http_api.openapi_errors import ERROR_CODES, codes_of
from http_api.routing import ROUTES, Route
from tests.integration.http_api.client import Api, gateway_event, send
from tests.integration.http_api.conformance import operation_of, validator_of
from tests.integration.http_api.every_route import named
from whenthen.domain.errors import InvalidError, RequestError
from whenthen.domain.schemas import conditions, problems
from whenthen.domain.schemas.actions import ACTION_CONFIGS
from whenthen.domain.schemas.conditions import parse_condition
from whenthen.domain.schemas.triggers import TRIGGER_CONFIGS

ROOT = Path(__file__).parents[3]
EVERY_ROUTE = pytest.mark.parametrize("entry", ROUTES, ids=named)
WITH_BODY = [entry for entry in ROUTES if entry.body is not None]


def test_it_is_a_valid_document_of_version_3_1() -> None:
    validate(document())
    assert document()["openapi"] == "3.1.0"


def test_it_has_every_route_and_no_other() -> None:
    documented = {
        f"{method.upper()} {path}"
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert documented == {named(entry) for entry in ROUTES}


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation_of(entry)["operationId"] for entry in ROUTES]
    assert len(set(names)) == len(names)


@EVERY_ROUTE
def test_every_route_says_what_it_answers(entry: Route) -> None:
    contract = entry.contract
    named_shapes = {contract.get("answers"), contract.get("lists")} - {None}
    has_none = entry.status == 204 or "serves" in contract
    assert len(named_shapes) == (0 if has_none else 1), "name its shape of answers/"
    assert named_shapes <= shapes().keys()


@EVERY_ROUTE
def test_every_route_takes_the_variables_of_its_path(entry: Route) -> None:
    parameters = operation_of(entry)["parameters"]
    in_path = [one for one in parameters if one["in"] == "path"]
    assert [one["name"] for one in in_path] == re.findall(r"\{(\w+)\}", entry.path)
    assert all(one["required"] for one in in_path)
    assert len({(one["in"], one["name"].lower()) for one in parameters}) == len(parameters)


@EVERY_ROUTE
def test_every_route_says_who_may_call_it(entry: Route) -> None:
    operation = operation_of(entry)
    if entry.needs is None:
        assert operation["security"] == []
        assert not entry.path.startswith("/api/")
    else:
        assert operation["security"] == [{"bearer": []}]
        assert {"401", "429", "503"} <= operation["responses"].keys()


@EVERY_ROUTE
def test_every_code_of_a_route_is_a_known_one(entry: Route) -> None:
    assert set(entry.contract.get("errors", ())) <= ERROR_CODES.keys()
    assert all(ERROR_CODES[code].status >= 400 for code in codes_of(entry))


def test_every_shape_is_the_answer_of_a_route_or_a_part_of_one() -> None:
    text = json.dumps(document())
    unused = [name for name in document()["components"]["schemas"] if f'/{name}"' not in text]
    assert unused == []


# ---- examples


def faults_of(schema: Any, example: Any) -> list[str]:
    return [error.message for error in validator_of(schema).iter_errors(example)]


@EVERY_ROUTE
def test_every_body_has_an_example_that_fits_its_schema(entry: Route) -> None:
    operation = operation_of(entry)
    sent = operation.get("requestBody", {}).get("content", {})
    answered = operation["responses"][str(entry.status)].get("content", {})
    assert bool(sent) is (entry.body is not None or "standard_webhook" in entry.contract)
    assert bool(answered) is (entry.status != 204)
    for media in (*sent.values(), *answered.values()):
        assert faults_of(media["schema"], media["example"]) == []


@pytest.mark.parametrize("name", document()["components"]["responses"])
def test_every_refusal_has_an_example_for_each_of_its_codes(name: str) -> None:
    media = document()["components"]["responses"][name]["content"]["application/json"]
    assert list(media["examples"]) == name.split(".")
    for code, example in media["examples"].items():
        assert example["value"]["error"]["code"] == code
        assert faults_of(media["schema"], example["value"]) == []


@pytest.mark.parametrize("entry", WITH_BODY, ids=named)
def test_the_example_of_a_request_is_a_legal_request(entry: Route) -> None:
    assert entry.body is not None
    media = operation_of(entry)["requestBody"]["content"]["application/json"]
    problems.read(entry.body, media["example"])


# ---- what pydantic does not say


def leaf(operator: str, **value: Any) -> dict[str, Any]:
    return {"field": {"ref": "property", "name": "Status"}, "operator": operator, **value}


OPERATORS = sorted({*conditions._VALUE_CHECKS, *conditions._WITHOUT_VALUE})
VALUES: list[dict[str, Any]] = [
    {},
    *({"value": value} for value in (None, True, 1, 1.5, "a", "", [], ["a"], {}, {"a": 1})),
]
TREES: list[Any] = [
    None,
    {},
    [],
    "x",
    {"and": []},
    {"and": [leaf("is_empty")]},
    {"or": [leaf("is_empty")] * 3},
    {"not": leaf("is_empty")},
    {"not": None},
    {"not": [leaf("is_empty")]},
    {"and": [leaf("is_empty")], "or": [leaf("is_empty")]},
    {"xor": [leaf("is_empty")]},
    {**leaf("is_empty"), "color": "red"},
    {"field": {"ref": "event", "path": "a.b"}, "operator": "changed"},
    {"field": {"ref": "event", "name": "a"}, "operator": "changed"},
    {"field": {"ref": "property", "path": "a"}, "operator": "changed"},
    {"field": {"ref": "property", "name": ""}, "operator": "changed"},
    {"field": {"ref": "property", "name": "x" * 101}, "operator": "changed"},
    {"field": {"ref": "nothing", "name": "x"}, "operator": "changed"},
    {"field": "Status", "operator": "changed"},
    *(leaf(operator, **value) for operator in [*OPERATORS, "like"] for value in VALUES),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_case_069_the_schema_of_conditions_says_what_their_reader_says(tree: Any) -> None:
    try:
        parse_condition(tree)
        is_legal = True
    except InvalidError:
        is_legal = False
    assert condition_validator().is_valid(tree) is is_legal


@cache
def condition_validator() -> Any:
    schemas = document()["components"]["schemas"]
    return validator_of(schemas["ConditionBody"]["properties"]["condition"])


@pytest.mark.parametrize("name", ["Trigger", "Action", "ShownTrigger", "ShownAction"])
def test_each_type_has_the_config_of_its_class(name: str) -> None:
    configs: dict[Any, Any] = {**(TRIGGER_CONFIGS if "Trigger" in name else ACTION_CONFIGS)}
    by_type = {
        one["properties"]["type"]["const"]: one["properties"]["config"]["$ref"].rsplit("/", 1)[1]
        for one in document()["components"]["schemas"][name]["oneOf"]
    }
    expected = {type_.value: model.__name__ for type_, model in configs.items()}
    assert {type_: ref.partition("-")[0] for type_, ref in by_type.items()} == expected


# ---- codes

RAISED = re.compile(r'\b(\w+Error)\(\s*"([A-Z][A-Z_]+)"')


# What operators invoke; no request gets there.
NOT_OVER_HTTP = frozenset({"bootstrap.py", "tick_schedules.py"})


def raised_codes() -> Iterator[tuple[str, int]]:
    """Every code that the sources raise as a refusal, with the status of its class."""
    for folder in ("shared/whenthen", "functions/http_api"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name in NOT_OVER_HTTP:
                continue
            for name, code in RAISED.findall(path.read_text()):
                kind = getattr(whenthen.domain.errors, name, None)
                if kind is not None and issubclass(kind, RequestError):
                    yield code, kind.status


def test_every_code_that_is_raised_is_documented_with_its_status() -> None:
    found = set(raised_codes())
    assert len(found) > 15
    assert {(code, ERROR_CODES[code].status) for code, _ in found} == found


def test_every_documented_code_can_be_given_by_a_route() -> None:
    given = {code for entry in ROUTES for code in codes_of(entry)}
    # No route answers with it: it is what a path says of a method that it does not know.
    assert ERROR_CODES.keys() - given == {"METHOD_NOT_ALLOWED"}
    assert MethodNotAllowedError.status == ERROR_CODES["METHOD_NOT_ALLOWED"].status


# ---- served


def test_anybody_may_read_it(api: Api) -> None:
    answer = send(gateway_event("GET", "/openapi.json", None, {}, {}))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == json.loads(json.dumps(document()))
    assert api.mine.owner.call("POST", "/../openapi.json").status in {404, 405}


def test_no_other_request_waits_for_it() -> None:
    script = (
        "import sys, http_api.handler;"
        "print([name for name in sys.modules"
        " if name.startswith(('http_api.openapi', 'http_api.answers'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
