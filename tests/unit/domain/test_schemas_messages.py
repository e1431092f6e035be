"""Queue messages: a hint with a run's id in it."""

from uuid import UUID

import pytest

from whenthen.domain.schemas.messages import (
    NewerMessage,
    RunMessage,
    UnreadableMessage,
    decode,
    encode,
)

RUN = UUID("019a0000-0000-7000-8000-000000000001")


def test_case_098_a_message_holds_the_version_and_the_run_id_only() -> None:
    assert encode(RUN) == '{"v":1,"runId":"019a0000-0000-7000-8000-000000000001"}'


def test_what_was_encoded_is_decoded() -> None:
    assert decode(encode(RUN)) == RunMessage(RUN)


def test_further_keys_are_ignored() -> None:
    assert decode(f'{{"v":1,"runId":"{RUN}","more":[1]}}') == RunMessage(RUN)


@pytest.mark.parametrize("body", ['{"v":2}', f'{{"v":2,"runId":"{RUN}"}}', '{"v":2,"id":5}'])
def test_a_later_version_is_known_as_such_whatever_its_shape(body: str) -> None:
    assert decode(body) == NewerMessage(2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "not JSON: Expecting value at character 0"),
        ("run 5", "not JSON: Expecting value at character 0"),
        ("[" * 200_000, "not JSON: nested more than 64 levels deep"),
        ("[]", "not a JSON object"),
        ("5", "not a JSON object"),
        ("{}", "no version"),
        (f'{{"runId":"{RUN}"}}', "no version"),
        (f'{{"v":"1","runId":"{RUN}"}}', "no version"),
        (f'{{"v":true,"runId":"{RUN}"}}', "no version"),
        (f'{{"v":0,"runId":"{RUN}"}}', "no version"),
        (f'{{"v":1.0,"runId":"{RUN}"}}', "no version"),
        ('{"v":1}', "no run id"),
        ('{"v":1,"runId":null}', "no run id"),
        ('{"v":1,"runId":"x"}', "no run id"),
        ('{"v":1,"runId":5}', "no run id"),
    ],
    ids=lambda value: value[:24],
)
def test_case_058_anything_else_is_unreadable_and_says_why(body: str, reason: str) -> None:
    assert decode(body) == UnreadableMessage(reason)
