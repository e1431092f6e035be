"""Notices: what the engine tells the notifier."""

from uuid import UUID

import pytest

from whenthen.domain.schemas import messages
from whenthen.domain.schemas.notices import DeathNotice, decode, encode

RUN = UUID("019a0000-0000-7000-8000-000000000001")


def test_a_notice_holds_the_run_and_which_of_its_deaths_it_is() -> None:
    body = encode(DeathNotice(RUN, 2))
    assert body == f'{{"v":1,"kind":"death","runId":"{RUN}","death":2}}'
    assert decode(body) == DeathNotice(RUN, 2)


@pytest.mark.parametrize("death", [1, 2**31 - 1])
def test_a_death_is_any_number_that_its_column_holds(death: int) -> None:
    assert decode(encode(DeathNotice(RUN, death))) == DeathNotice(RUN, death)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "5",
        "null",
        "{}",
        '{"kind":"death"}',
        f'{{"kind":"death","runId":"{RUN}"}}',
        f'{{"kind":"birth","runId":"{RUN}","death":1}}',
        '{"kind":"death","runId":"x","death":1}',
        '{"kind":"death","runId":5,"death":1}',
        f'{{"kind":"death","runId":"{RUN}","death":0}}',
        f'{{"kind":"death","runId":"{RUN}","death":-1}}',
        f'{{"kind":"death","runId":"{RUN}","death":2147483648}}',
        f'{{"kind":"death","runId":"{RUN}","death":99999999999999}}',
        f'{{"kind":"death","runId":"{RUN}","death":true}}',
        f'{{"kind":"death","runId":"{RUN}","death":false}}',
        f'{{"kind":"death","runId":"{RUN}","death":"1"}}',
        f'{{"kind":"death","runId":"{RUN}","death":1.0}}',
        messages.encode(RUN),
    ],
)
def test_anything_else_is_no_notice(body: str) -> None:
    assert decode(body) is None
