import base64
import dataclasses
from typing import Any

import pytest

from http_api.request import Request, json_body, read_event
from whenthen.domain.errors import (
    BadRequestError,
    MediaTypeError,
    NotFoundError,
    RequestError,
    TooLargeError,
)

MEGABYTE = 1024 * 1024
REQUEST = Request(
    id="r-1", headers={}, query={}, variables={}, body=None, body_is_base64=False, domain="d"
)


def request(body: str | None, **changes: Any) -> Request:
    return dataclasses.replace(REQUEST, body=body, **changes)


def test_an_event_without_optional_parts_is_a_request() -> None:
    event = {"requestContext": {"requestId": "r-2", "domainName": "x.example"}}
    assert read_event(event, {"a": "1"}) == Request(
        id="r-2",
        headers={},
        query={},
        variables={"a": "1"},
        body=None,
        body_is_base64=False,
        domain="x.example",
    )


def test_header_names_are_read_without_regard_to_case() -> None:
    event = {"requestContext": {}, "headers": {"If-Match": "3"}}
    assert read_event(event, {}).if_match() == 3


@pytest.mark.parametrize("body", [None, ""])
def test_an_empty_body_reads_as_an_empty_object(body: str | None) -> None:
    assert json_body(request(body, headers={"content-type": "text/plain"})) == {}


def test_a_base64_body_is_decoded() -> None:
    body = base64.b64encode('{"a": "é"}'.encode()).decode()
    assert json_body(request(body, body_is_base64=True)) == {"a": "é"}


JSON_TYPES = [
    "application/json",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "Application/JSON",
    "application/merge-patch+json",
]
OTHER_TYPES = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "application/json; charset=latin-1",
    "",
]


@pytest.mark.parametrize("content_type", JSON_TYPES)
def test_json_content_types_are_read(content_type: str) -> None:
    assert json_body(request("{}", headers={"content-type": content_type})) == {}


@pytest.mark.parametrize("content_type", OTHER_TYPES)
def test_other_content_types_are_refused(content_type: str) -> None:
    with pytest.raises(MediaTypeError) as refused:
        json_body(request("{}", headers={"content-type": content_type}))
    assert (refused.value.status, refused.value.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


HOSTILE = [
    pytest.param('{"x":' + "9" * 5_000 + "}", BadRequestError, id="case_100_digits"),
    pytest.param("[" * 200_000, BadRequestError, id="case_100_nesting"),
    pytest.param("[" * 65 + "]" * 65, BadRequestError, id="case_100_depth_65"),
    pytest.param('{"x":1e999}', BadRequestError, id="case_100_overflow"),
    pytest.param('{"' + "k" * MEGABYTE + '":1}', TooLargeError, id="case_100_long_key"),
    pytest.param('{"x":NaN}', BadRequestError, id="nan"),
    pytest.param('{"x":', BadRequestError, id="cut"),
    pytest.param("name=x", BadRequestError, id="form"),
    pytest.param("\ud800", BadRequestError, id="case_102_surrogate_byte"),
    pytest.param("{} {}", BadRequestError, id="two"),
]


@pytest.mark.parametrize(("body", "error"), HOSTILE)
def test_hostile_bodies_are_refused(body: str, error: type[RequestError]) -> None:
    with pytest.raises(error):
        json_body(request(body))


def test_bytes_that_are_no_base64_are_refused() -> None:
    with pytest.raises(BadRequestError):
        json_body(request("{}", body_is_base64=True))


@pytest.mark.parametrize(
    ("size", "fits"),
    [
        pytest.param(MEGABYTE - 1, True, id="below"),
        pytest.param(MEGABYTE, True, id="case_098_at_1_mb"),
        pytest.param(MEGABYTE + 1, False, id="case_098_above_1_mb"),
    ],
)
def test_a_body_has_at_most_one_megabyte(size: int, *, fits: bool) -> None:
    body = '"' + "x" * (size - 2) + '"'
    if fits:
        assert len(json_body(request(body))) == size - 2
    else:
        with pytest.raises(TooLargeError):
            json_body(request(body))


def test_the_cap_counts_bytes_not_characters() -> None:
    with pytest.raises(TooLargeError):
        json_body(request('"' + "é" * (MEGABYTE // 2) + '"'))


@pytest.mark.parametrize(
    ("text", "version"),
    [("3", 3), ('"3"', 3), ('W/"12"', 12), ("*", None), (" 7 ", 7), ("999999999", 999_999_999)],
)
def test_if_match_names_a_version(text: str, version: int | None) -> None:
    assert request(None, headers={"if-match": text}).if_match() == version


@pytest.mark.parametrize("text", ["", "three", "-1", "1.0", "9999999999", "1, 2", "٣"])
def test_any_other_if_match_is_a_bad_header(text: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        request(None, headers={"if-match": text}).if_match()
    assert refused.value.code == "BAD_HEADER"


@pytest.mark.parametrize("text", ["", "1", "019", "not-an-id", "x" * 300])
def test_a_path_id_that_is_no_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFoundError):
        request(None, variables={"automationId": text}).path_id("automationId")
