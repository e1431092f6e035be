from collections.abc import Callable
from itertools import count
from uuid import UUID

import pytest

from whenthen.domain.errors import InvalidError
from whenthen.domain.rules.stable_ids import action_ids, trigger_ids


def fresh_ids() -> Callable[[], UUID]:
    numbers = count(100)
    return lambda: UUID(int=next(numbers))


def ids(*numbers: int) -> list[UUID]:
    return [UUID(int=number) for number in numbers]


TRIGGER_CASES = [
    # types now, (type, id) before, ids now
    (["A"], [], [100]),
    (["A"], [("A", 1)], [1]),
    (["A", "A"], [("A", 1)], [1, 100]),
    (["A", "A"], [("A", 1), ("A", 2)], [1, 2]),
    (["B", "A"], [("A", 1), ("B", 2)], [2, 1]),
    (["A", "B", "A"], [("A", 1), ("A", 2), ("C", 3)], [1, 100, 2]),
    ([], [("A", 1)], []),
]


@pytest.mark.parametrize(("types", "before", "expected"), TRIGGER_CASES)
def test_the_nth_trigger_of_a_type_keeps_the_id_of_the_nth_before(
    types: list[str], before: list[tuple[str, int]], expected: list[int]
) -> None:
    known = [(kind, UUID(int=number)) for kind, number in before]
    assert trigger_ids(types, known, fresh_ids()) == ids(*expected)


ACTION_CASES = [
    # ids given now, ids before, ids now
    ([None], [], [100]),
    ([1], [1], [1]),
    ([None, 1], [1, 2], [100, 1]),
    ([2, 1], [1, 2], [2, 1]),
    ([2, None, None], [1, 2], [2, 100, 101]),
]


@pytest.mark.parametrize(("given", "before", "expected"), ACTION_CASES)
def test_an_action_keeps_the_id_that_it_carries(
    given: list[int | None], before: list[int], expected: list[int]
) -> None:
    carried = [None if number is None else UUID(int=number) for number in given]
    assert action_ids(carried, ids(*before), fresh_ids()) == ids(*expected)


@pytest.mark.parametrize(("given", "wrong"), [([3], 0), ([1, 1], 1), ([1, 2, 3], 2)])
def test_an_unknown_or_repeated_id_is_refused_by_its_place(given: list[int], wrong: int) -> None:
    with pytest.raises(InvalidError) as refused:
        action_ids(ids(*given), ids(1, 2), fresh_ids())
    assert refused.value.code == "VALIDATION_FAILED"
    assert isinstance(refused.value.details, list)
    assert refused.value.details[0]["path"] == f"actions[{wrong}].id"
