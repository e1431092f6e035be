"""An action's config as a dry run shows it."""

from typing import Any

import pytest

from whenthen.domain.limits import INTERPOLATED_MAX_BYTES
from whenthen.domain.rules.interpolation import ActionOutputs
from whenthen.domain.rules.shown_config import HIDDEN, ConfigProblem, ShownConfig, show_config

ROOTS: dict[str, Any] = {
    "trigger": {"n": 1, "list": [1, "a"], "nothing": None, "text": "{{now}}"},
    "now": "2026-01-01T00:00:00.000Z",
    "secrets": {"KEY": HIDDEN},
    "actions": ActionOutputs([("a-1", {"id": 7})]),
}


def nowhere(_: str) -> bool:
    return False


def show(config: Any, *, required: frozenset[str] = frozenset(), is_open: bool = False) -> Any:
    return show_config(
        config, ROOTS, required=required.__contains__, is_html=nowhere, is_open=lambda _: is_open
    )


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        (17, 17),
        (None, None),
        ("{{trigger.n}}", 1),
        ("{{trigger.list}}", [1, "a"]),
        ("n={{trigger.n}} {{trigger.list}}", 'n=1 [1,"a"]'),
        # Values are no templates.
        ("{{trigger.text}}", "{{now}}"),
        ("{{trigger.gone}}", None),
        ("{{actions[0].output.id}}", 7),
        ("Bearer {{secrets.KEY}}", "Bearer •••"),
        ({"a": ["{{now}}", {"{{now}}": "{{trigger.n}}"}]}, {"a": [ROOTS["now"], {"{{now}}": 1}]}),
    ],
)
def test_what_has_a_value_is_filled_in(config: Any, shown: Any) -> None:
    assert show(config) == ShownConfig(shown, [])


@pytest.mark.parametrize(
    ("text", "shown", "code"),
    [
        ("a {{trigger.gone}} b", "a  b", "TEMPLATE_EMPTY"),
        ("{{secrets.NOBODY}}", "{{secrets.NOBODY}}", "SECRET_UNKNOWN"),
        ("{{ nonsense", "{{ nonsense", "ACTION_CONFIG_INVALID"),
        ("{{unknown.root}}", "{{unknown.root}}", "ACTION_CONFIG_INVALID"),
    ],
)
def test_what_has_none_is_named_with_its_place(text: str, shown: str, code: str) -> None:
    found = show({"headers": {"First Name": text}})
    assert found.config == {"headers": {"First Name": shown}}
    assert found.problems == [ConfigProblem('headers["First Name"]', code)]


@pytest.mark.parametrize("text", ["{{trigger.gone}}", "x{{trigger.gone}}", "{{trigger.nothing}}"])
def test_a_value_that_is_needed_must_be_there(text: str) -> None:
    found = show({"to": ["a", text]}, required=frozenset({"to[1]"}))
    assert found == ShownConfig({"to": ["a", text]}, [ConfigProblem("to[1]", "TEMPLATE_MISSING")])


def test_every_fault_is_listed_not_only_the_first() -> None:
    found = show(
        {"url": "{{trigger.gone}}", "body": "{{trigger.gone}}!", "x": "{{secrets.X}}"},
        required=frozenset({"url"}),
    )
    assert [(one.place, one.code) for one in found.problems] == [
        ("url", "TEMPLATE_MISSING"),
        ("body", "TEMPLATE_EMPTY"),
        ("x", "SECRET_UNKNOWN"),
    ]


def test_a_template_whose_value_is_not_known_yet_stays_as_it_is() -> None:
    found = show({"title": "x {{actions[1].output.id}}", "plain": "text"}, is_open=True)
    assert found == ShownConfig(
        {"title": "x {{actions[1].output.id}}", "plain": "text"},
        [ConfigProblem("title", "OUTPUT_UNKNOWN")],
    )


FRAME = len('[""]')


@pytest.mark.parametrize(
    ("size", "fits"),
    [
        (INTERPOLATED_MAX_BYTES - FRAME - 1, True),
        (INTERPOLATED_MAX_BYTES - FRAME, True),
        (INTERPOLATED_MAX_BYTES - FRAME + 1, False),
    ],
)
def test_a_config_above_64_kb_with_its_values_is_shown_without_them(
    size: int, *, fits: bool
) -> None:
    roots = {"trigger": {"x": "a" * size}}
    found = show_config(
        ["{{trigger.x}}"], roots, required=nowhere, is_html=nowhere, is_open=lambda _: False
    )
    if fits:
        assert found == ShownConfig([roots["trigger"]["x"]], [])
    else:
        assert found == ShownConfig(["{{trigger.x}}"], [ConfigProblem("", "ACTION_CONFIG_INVALID")])


def test_a_large_value_that_is_named_often_is_not_copied_as_often() -> None:
    asked: list[str] = []

    def required(place: str) -> bool:
        asked.append(place)
        return True

    found = show_config(
        ["{{trigger.x}}"] * 1000,
        {"trigger": {"x": "a" * 40_000}},
        required=required,
        is_html=nowhere,
        is_open=lambda _: False,
    )
    assert found.problems == [ConfigProblem("", "ACTION_CONFIG_INVALID")]
    assert len(asked) <= 2


def test_values_within_html_are_shown_as_they_would_be_mailed() -> None:
    config = {"html": "<b>{{trigger.x}}</b>", "text": "{{trigger.x}}"}
    found = show_config(
        config,
        {"trigger": {"x": "<i>"}},
        required=nowhere,
        is_html="html".__eq__,
        is_open=lambda _: False,
    )
    assert found == ShownConfig({"html": "<b>&lt;i&gt;</b>", "text": "<i>"}, [])
