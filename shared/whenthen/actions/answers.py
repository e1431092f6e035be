"""Collects the answers of a group of requests: a refusal concerns its own request only."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from whenthen.actions.requests import StepAnswer
from whenthen.domain.errors import WhenthenError

Plan = TypeVar("Plan")


def split(
    places: Iterable[int], plan: Callable[[int], Plan]
) -> tuple[dict[int, Plan], dict[int, WhenthenError]]:
    """Return what `plan` makes of the request at each place, and the refusals it raised."""
    plans: dict[int, Plan] = {}
    refusals: dict[int, WhenthenError] = {}
    for place in places:
        try:
            plans[place] = plan(place)
        except WhenthenError as refusal:
            refusals[place] = refusal
    return plans, refusals


def in_order(
    successes: Mapping[int, StepAnswer], refusals: Mapping[int, WhenthenError]
) -> list[StepAnswer]:
    """Return all answers in the order of their places; every place is in one of the two."""
    answers: dict[int, StepAnswer] = {**successes, **refusals}
    return [answers[place] for place in sorted(answers)]
