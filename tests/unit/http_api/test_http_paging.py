import base64
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from http_api.paging import page_body, page_request
from whenthen.domain.errors import BadRequestError, InvalidError
from whenthen.store.paging import Page, Position

PLACE = Position(datetime(2026, 3, 4, 5, 6, 7, 890_123, UTC), UUID(int=7))


def cursor(place: Position = PLACE, scope: str = "runs:1") -> str:
    body = page_body(Page([place], more=True), scope, lambda _: None)
    return str(body["nextCursor"])


def test_a_cursor_leads_back_to_the_exact_microsecond() -> None:
    assert page_request({"cursor": cursor()}, "runs:1").after == PLACE


def test_a_cursor_may_lie_before_1970() -> None:
    place = Position(datetime(1, 1, 1, tzinfo=UTC) + timedelta(microseconds=1), UUID(int=0))
    assert page_request({"cursor": cursor(place)}, "runs:1").after == place


def test_the_last_page_has_no_cursor() -> None:
    body = page_body(Page([PLACE, PLACE], more=False), "runs:1", lambda _: "row")
    assert body == {"data": ["row", "row"], "nextCursor": None}


MEGABYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("row_bytes", "rows", "shown"),
    [
        (MEGABYTE, 5, 5),
        (MEGABYTE + 1, 5, 4),
        (MEGABYTE, 6, 5),
        (6 * MEGABYTE, 2, 1),
        (6 * MEGABYTE, 1, 1),
    ],
)
def test_a_page_of_large_rows_is_cut_short_and_goes_on(
    row_bytes: int, rows: int, shown: int
) -> None:
    places = [Position(PLACE.created_at, UUID(int=rows - n)) for n in range(rows)]
    page = Page(places, more=False)
    body = page_body(page, "runs:1", lambda _: "x" * (row_bytes - 2))
    assert len(body["data"]) == shown
    if shown == rows:
        assert body["nextCursor"] is None
    else:
        assert page_request({"cursor": body["nextCursor"]}, "runs:1").after == places[shown - 1]


@pytest.mark.parametrize("scope", ["runs:2", "runs:1:FAILED", "automations:1", ""])
def test_a_cursor_belongs_to_its_list_and_filters(scope: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        page_request({"cursor": cursor()}, scope)
    assert refused.value.code == "BAD_CURSOR"


def test_a_cursor_with_any_character_changed_is_refused() -> None:
    good = cursor()
    for n, character in enumerate(good):
        changed = good[:n] + ("A" if character != "A" else "B") + good[n + 1 :]
        if base64.urlsafe_b64decode(changed + "=") == base64.urlsafe_b64decode(good + "="):
            continue  # only the unused bits of the last character differ
        with pytest.raises(BadRequestError):
            page_request({"cursor": changed}, "runs:1")


@pytest.mark.parametrize("text", ["", "x", "=", "!!!!", "é", "\0", "A" * 43, "A" * 100_000])
def test_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(BadRequestError):
        page_request({"cursor": text}, "runs:1")


def test_a_forged_instant_beyond_the_calendar_is_refused() -> None:
    # The digest is no secret, so a client can make a well-formed cursor of any instant.
    import hashlib  # noqa: PLC0415

    place = (2**63 - 1).to_bytes(8) + bytes(16)
    digest = hashlib.sha256(b"runs:1\0" + place).digest()[:8]
    forged = base64.urlsafe_b64encode(digest + place).rstrip(b"=").decode()
    with pytest.raises(BadRequestError):
        page_request({"cursor": forged}, "runs:1")


@pytest.mark.parametrize(("text", "limit"), [("1", 1), ("50", 50), ("200", 200), ("007", 7)])
def test_a_limit_lies_within_1_and_200(text: str, limit: int) -> None:
    assert page_request({"limit": text}, "runs:1").limit == limit


def test_without_a_limit_a_page_has_fifty_rows() -> None:
    assert page_request({}, "runs:1").limit == 50


@pytest.mark.parametrize("text", ["0", "201", "-1", "1.5", "", "ten", "٣", "1,1", "9" * 5000, " 1"])
def test_any_other_limit_is_invalid(text: str) -> None:
    with pytest.raises(InvalidError) as refused:
        page_request({"limit": text}, "runs:1")
    assert isinstance(refused.value.details, list)
    assert refused.value.details[0]["path"] == "limit"
