"""The status machine of automations, over the whole product of statuses."""

import pytest

from whenthen.domain.errors import ConflictError
from whenthen.domain.kinds import AutomationStatus
from whenthen.domain.rules.automation_status import refuse_archived, transition

DRAFT, ACTIVE, PAUSED, ARCHIVED = AutomationStatus
LEGAL = {
    (DRAFT, ACTIVE),
    (ACTIVE, PAUSED),
    (PAUSED, ACTIVE),
    (DRAFT, ARCHIVED),
    (ACTIVE, ARCHIVED),
    (PAUSED, ARCHIVED),
}
PRODUCT = [(from_, to) for from_ in AutomationStatus for to in AutomationStatus]
NO_OPS = [(status, status) for status in (DRAFT, ACTIVE, PAUSED)]
NOT_ADJACENT = [(ACTIVE, DRAFT), (PAUSED, DRAFT), (DRAFT, PAUSED)]
FROM_ARCHIVED = [(ARCHIVED, to) for to in AutomationStatus]


def test_the_four_tables_cover_the_whole_product_once() -> None:
    cells = [*LEGAL, *NO_OPS, *NOT_ADJACENT, *FROM_ARCHIVED]
    assert sorted(cells) == sorted(PRODUCT)


@pytest.mark.parametrize(("from_", "to"), sorted(LEGAL))
def test_a_legal_transition_passes(from_: AutomationStatus, to: AutomationStatus) -> None:
    transition(from_, to)


@pytest.mark.parametrize(("from_", "to"), NO_OPS)
def test_a_no_op_is_a_conflict(from_: AutomationStatus, to: AutomationStatus) -> None:
    with pytest.raises(ConflictError) as caught:
        transition(from_, to)
    assert caught.value.code == "INVALID_TRANSITION"
    assert caught.value.details == {"reason": "no_op", "from": from_.value, "to": to.value}


@pytest.mark.parametrize(("from_", "to"), NOT_ADJACENT)
def test_a_pair_that_is_not_adjacent_is_a_conflict(
    from_: AutomationStatus, to: AutomationStatus
) -> None:
    with pytest.raises(ConflictError) as caught:
        transition(from_, to)
    assert caught.value.code == "INVALID_TRANSITION"
    assert caught.value.details == {
        "reason": "invalid_transition",
        "from": from_.value,
        "to": to.value,
    }


@pytest.mark.parametrize(("from_", "to"), FROM_ARCHIVED)
def test_archived_is_final_even_for_itself(from_: AutomationStatus, to: AutomationStatus) -> None:
    with pytest.raises(ConflictError) as caught:
        transition(from_, to)
    assert caught.value.code == "ARCHIVED"
    assert caught.value.details is None


@pytest.mark.parametrize("status", [DRAFT, ACTIVE, PAUSED])
def test_what_is_not_archived_may_be_written(status: AutomationStatus) -> None:
    refuse_archived(status)


def test_every_write_to_an_archived_automation_is_a_conflict() -> None:
    with pytest.raises(ConflictError, match="archived") as caught:
        refuse_archived(ARCHIVED)
    assert caught.value.code == "ARCHIVED"
