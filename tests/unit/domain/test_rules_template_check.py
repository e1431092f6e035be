"""What is wrong with the templates of a config, told when it is saved."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.rules.interpolation import TemplateProblem, check_templates
from whenthen.domain.rules.template_syntax import TemplateError, parse_template


def nowhere(_: str) -> bool:
    return False


def everywhere(_: str) -> bool:
    return True


def test_good_templates_have_no_problems() -> None:
    config = {
        "title": "Ticket {{record.Name}}",
        "values": {"{{bad key}}": "{{trigger.x}}", "n": 5, "l": [None, "{{now}}"]},
        "headers": {"Authorization": "Bearer {{secrets.API_KEY}}"},
    }
    allowed = "headers.Authorization".__eq__
    assert check_templates(config, secrets_allowed=allowed) == []


@pytest.mark.parametrize(
    ("prefix", "place"),
    [("", 'a["First Name"][1].b'), ("actions[0].config", 'actions[0].config.a["First Name"][1].b')],
)
def test_a_problem_names_its_place(prefix: str, place: str) -> None:
    config = {"a": {"First Name": ["fine", {"b": "x {{7*7}}"}]}}
    assert check_templates(config, path=prefix, secrets_allowed=nowhere) == [
        TemplateProblem(
            place, "TEMPLATE_INVALID", 'character 2: "{{" without a path and "}}" after it'
        )
    ]


@pytest.mark.parametrize(
    ("config", "prefix", "place"),
    [
        ("{{x}}", "body", "body"),
        ("{{x}}", "", ""),
        (["{{x}}"], "to", "to[0]"),
        (["{{x}}"], "", "[0]"),
    ],
)
def test_the_place_of_a_problem_is_joined_to_the_place_of_the_config(
    config: Any, prefix: str, place: str
) -> None:
    (problem,) = check_templates(config, path=prefix, secrets_allowed=nowhere)
    assert problem.path == place


def test_every_text_with_a_problem_is_told() -> None:
    config = {"a": "{{x}} {{y}}", "b": "fine", "c": ["{{", "{{now}}", "{{secrets.A}}"]}
    problems = check_templates(config, secrets_allowed=nowhere)
    assert [(problem.path, problem.code) for problem in problems] == [
        ("a", "TEMPLATE_INVALID"),
        ("c[0]", "TEMPLATE_INVALID"),
        ("c[2]", "SECRET_INVALID"),
    ]


def test_where_a_secret_may_stand_is_asked_by_its_place_in_the_config() -> None:
    config = {"url": "https://x/{{secrets.T}}", "headers": {"Authorization": "{{secrets.T}}"}}
    allowed = "headers.Authorization".__eq__
    problems = check_templates(config, path="actions[3].config", secrets_allowed=allowed)
    assert [(problem.path, problem.code) for problem in problems] == [
        ("actions[3].config.url", "SECRET_INVALID")
    ]


@pytest.mark.parametrize(
    ("path", "valid"),
    [
        ("secrets.A", True),
        ("secrets.A_1", True),
        ('secrets["API_KEY"]', True),
        ("secrets.A" + "B" * 63, True),
        ("secrets.A" + "B" * 64, False),
        ("secrets.a", False),
        ("secrets.1A", False),
        ("secrets._A", False),
        ("secrets.API-KEY", False),
        ("secrets.É", False),
        ("secrets.A.b", False),
        ("secrets[0]", False),
        ('secrets["A\\n"]', False),
    ],
)
def test_a_secret_has_a_name_of_capitals(path: str, *, valid: bool) -> None:
    problems = check_templates(f"{{{{now}}}} {{{{{path}}}}}", secrets_allowed=everywhere)
    assert [problem.code for problem in problems] == ([] if valid else ["SECRET_INVALID"])


@given(st.text(st.sampled_from('{} now.record["]0a\\')))
def test_the_check_refuses_what_cannot_be_read(text: str) -> None:
    problems = check_templates(text, secrets_allowed=everywhere)
    try:
        parse_template(text)
    except TemplateError:
        assert [problem.code for problem in problems] == ["TEMPLATE_INVALID"]
    else:
        assert problems == []
