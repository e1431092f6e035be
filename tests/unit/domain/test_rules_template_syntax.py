"""How templates are written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.rules.template_syntax import (
    ROOTS,
    Part,
    TemplateError,
    Token,
    parse_template,
)


def shown(text: str) -> list[str | tuple[str | int, ...]]:
    return [
        part if isinstance(part, str) else (part.root, *part.rest) for part in parse_template(text)
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("{{now}}", [("now",)]),
        ("{{ now }}", [("now",)]),
        ("{{\t\nnow\u2003}}", [("now",)]),
        ("Ticket {{record.Name}}", ["Ticket ", ("record", "Name")]),
        ("{{record.Name}} closed", [("record", "Name"), " closed"]),
        ("{{run.id}}{{run.depth}}", [("run", "id"), ("run", "depth")]),
        ("{{ actions[0].output.x }}", [("actions", 0, "output", "x")]),
        ('{{ actions["019f-a"].output }}', [("actions", "019f-a", "output")]),
        ("{{ actions.019f-a.output }}", [("actions", "019f-a", "output")]),
        ('{{record["First Name"]}}', [("record", "First Name")]),
        ('{{record["a}}b"]}}!', [("record", "a}}b"), "!"]),
        ('{{ ["trigger"].x }}', [("trigger", "x")]),
        ("{{secrets.API_KEY}}", [("secrets", "API_KEY")]),
        ("{{trigger}} {{ workspace.name }}", [("trigger",), " ", ("workspace", "name")]),
        ("{{record.größe}}", [("record", "größe")]),
        ('{"a":{{record.N}}}', ['{"a":', ("record", "N"), "}"]),
        ("a { b } }} c", ["a { b } }} c"]),
        ("{ {now} }", ["{ {now} }"]),
        ("{% for x in range(10**9) %}", ["{% for x in range(10**9) %}"]),
        ("{0.__class__} %s $x", ["{0.__class__} %s $x"]),
        ("{{record.__init__.__globals__}}", [("record", "__init__", "__globals__")]),
    ],
)
def test_a_text_is_literals_and_tokens(text: str, parts: list[str | tuple[str | int, ...]]) -> None:
    assert shown(text) == parts


INVALID = [
    *["{{", "{{}}", "{{ }}", "{{now", "{{now}", "{{now} }", "{{{now}}}", "{{ now now }}"],
    *["{{7*7}}", "{{ now | upper }}", "{{now()}}", "{{.}}", "{{record.}}", "{{record..x}}"],
    *['{{ "".__class__.__mro__ }}', '{{ "a"*10**9 }}', "{{ record['x'] }}", "{{#if now}}"],
    *["{{ record[x] }}", "{{ actions[-1].output }}", '{{ record["\n"] }}', "{{ {{now}} }}"],
    *["{{ unknown.x }}", "{{ Record.x }}", "{{ records }}", "{{ env.PATH }}", "{{ 0 }}"],
    *["{{ actions }}", "{{secrets}}", "ok {{now}} and {{"],
]


@pytest.mark.parametrize("text", INVALID)
@pytest.mark.parametrize("length", [0, 5_000])
def test_case_081_any_other_template_is_refused(text: str, length: int) -> None:
    with pytest.raises(TemplateError):
        parse_template("x" * length + text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ab {{7*7}}", 'character 3: "{{" without a path and "}}" after it'),
        ("{{ env.PATH }}", f"character 0: a path starts with one of {', '.join(sorted(ROOTS))}"),
        ("{{ actions }}", "character 0: actions is followed by the one that is meant"),
        ('é{{record["\\x"]}}', "character 1: a name in brackets is a JSON string"),
    ],
)
def test_a_refusal_says_where_but_never_what(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse_template(text)
    assert str(caught.value) == message


def test_a_token_shows_its_path_as_text_shortened() -> None:
    assert parse_template('{{ record["Name"][0]["First Name"] }}') == (
        Token("record", ("Name", 0, "First Name"), 'record.Name[0]["First Name"]'),
    )
    (token,) = parse_template("{{record." + "x" * 1_000 + "}}")
    assert isinstance(token, Token)
    assert token.text == "record." + "x" * 193 + "…"


@pytest.mark.parametrize("length", [4_089, 4_090])
def test_texts_on_both_sides_of_the_cached_length_read_the_same(length: int) -> None:
    assert shown("{{now}}" + "x" * length) == [("now",), "x" * length]


def test_a_hostile_text_is_read_in_linear_time() -> None:
    started = time.process_time()
    for text in (
        "{{" * 500_000,
        "{{" + " " * 1_000_000,
        "{{now" + ".a" * 500_000,
        "{{now}}" * 100_000,
    ):
        try:
            parse_template(text)
        except TemplateError:
            continue
    assert time.process_time() - started < 5


tokens = st.sampled_from(["{{now}}", "{{ run.id }}", '{{record["}}"]}}', "{{actions[0].output}}"])
literals = st.text(st.characters(exclude_characters="{"), max_size=5)


@given(st.lists(tokens | literals))
def test_the_parts_cover_the_whole_text(pieces: list[str]) -> None:
    parts = parse_template("".join(pieces))
    assert sum(isinstance(part, Token) for part in parts) == sum("{{" in piece for piece in pieces)
    literal = "".join(part for part in parts if isinstance(part, str))
    assert literal == "".join(piece for piece in pieces if "{{" not in piece)
    assert "" not in parts


@given(st.text(st.sampled_from('{} now.record["]0a\\')))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parts: tuple[Part, ...] = parse_template(text)
    except TemplateError:
        assert "{{" in text
    else:
        assert all(isinstance(part, str) or part.root in ROOTS for part in parts)
