"""What becomes of templates: checked on save, filled in at run time."""

import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.domain.errors import FatalError
from whenthen.domain.json_text import dumps, loads
from whenthen.domain.limits import INTERPOLATED_MAX_BYTES
from whenthen.domain.rules.interpolation import (
    ActionOutputs,
    check_templates,
    interpolate,
)


def nowhere(_: str) -> bool:
    return False


def everywhere(_: str) -> bool:
    return True


ROOTS: dict[str, Any] = {
    "trigger": {"type": "record.created", "payload": {"items": [{"price": Decimal("1.10")}]}},
    "record": {
        "id": "r1",
        "Name": "Leaking tap",
        "First Name": "Ada",
        "Count": 3,
        "Tags": ["a"],
        "Obj": {"k": 1},
        "Flag": False,
        "Null": None,
        "Empty": "",
        "Big": 9007199254740993,
        "Money": Decimal("1.10"),
        "größe": "é",
    },
    "run": {"id": "run1", "createdAt": "2026-06-01T00:00:00.000Z", "depth": 0},
    "automation": {"id": "a1", "name": "Triage"},
    "workspace": {"id": "w1", "name": "Acme"},
    "actions": ActionOutputs([("id-0", {"recordId": "r9", "list": [1, 2]}), ("id-1", "text")]),
    "secrets": {"API_KEY": "s3cret-value"},
    "now": "2026-06-01T12:00:00.000Z",
}


def filled(config: Any, required: Callable[[str], bool] = nowhere, **roots: Any) -> Any:
    return interpolate(config, ROOTS | roots, required).config


def code_of(config: Any, required: Callable[[str], bool] = nowhere, **roots: Any) -> str:
    with pytest.raises(FatalError) as caught:
        interpolate(config, ROOTS | roots, required)
    assert "s3cret" not in caught.value.message
    return caught.value.code


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{record.Count}}", 3),
        ("{{ record.Tags }}", ["a"]),
        ("{{record.Obj}}", {"k": 1}),
        ("{{record.Flag}}", False),
        ("{{record.Null}}", None),
        ("{{record.Empty}}", ""),
        ("{{record.Missing}}", None),
        ("{{record.Big}}", 9007199254740993),
        ("{{record.Money}}", Decimal("1.10")),
        ("{{record.Name}}", "Leaking tap"),
        ('{{record["First Name"]}}', "Ada"),
        ("{{record.größe}}", "é"),
        ("{{record}}", ROOTS["record"]),
        ("{{now}}", "2026-06-01T12:00:00.000Z"),
        ("{{run.depth}}", 0),
        ("{{trigger.payload.items[0].price}}", Decimal("1.10")),
        ("{{trigger.payload.items[1].price}}", None),
        ("{{actions[0].output.recordId}}", "r9"),
        ("{{actions[0].output}}", {"recordId": "r9", "list": [1, 2]}),
        ('{{actions["id-0"].output.list[1]}}', 2),
        ("{{actions.id-1.output}}", "text"),
        ("{{actions[0]}}", {"output": {"recordId": "r9", "list": [1, 2]}}),
        ("{{actions[1].output.x}}", None),
        ("{{actions[2].output}}", None),
        ('{{actions["id-2"].output}}', None),
        ('{{actions["0"].output}}', None),
        ("{{actions[0].id}}", None),
        ("{{secrets.API_KEY}}", "s3cret-value"),
    ],
)
def test_case_078_a_lone_token_keeps_the_type(text: str, value: Any) -> None:
    found = filled({"x": text})["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("c={{record.Count}} {{record.Tags}} {{record.Obj}}", 'c=3 ["a"] {"k":1}'),
        ("{{record.Flag}}|{{record.Null}}|{{record.Empty}}|", "false|null||"),
        ("{{record.Name}}!", "Leaking tap!"),
        (" {{record.Count}}", " 3"),
        ("{{record.Count}}{{record.Count}}", "33"),
        ("{{record.Big}} {{record.Money}}", "9007199254740993 1.10"),
        ("{{trigger.payload}} ", '{"items":[{"price":1.10}]} '),
        ("a{{record.Missing}}b", "ab"),
        ("a{{actions[5].output}}b", "ab"),
        ("é {{record.größe}}", "é é"),
        ("Bearer {{secrets.API_KEY}}", "Bearer s3cret-value"),
        ("no template {x} }}", "no template {x} }}"),
        ("", ""),
    ],
)
def test_case_078_in_text_texts_stand_as_they_are_and_the_rest_as_json(
    text: str, value: str
) -> None:
    assert filled(text) == value


@pytest.mark.parametrize("name", ['A"B\n\\C', '","admin":true,"x":"', "\u2028</script>", "'; --"])
def test_case_077_no_value_breaks_out_of_its_text(name: str) -> None:
    body = filled({"text": "Hi {{record.Name}}"}, record={"Name": name})
    assert body == {"text": "Hi " + name}
    assert loads(dumps(body)) == body


def test_case_080_values_are_never_templates() -> None:
    note = "{{secrets.API_KEY}} {{run.id}} {{7*7}}"
    once = filled({"note": "{{record.Note}}", "text": "> {{record.Note}}"}, record={"Note": note})
    assert once == {"note": note, "text": "> " + note}
    # What a first automation stored is plain data to a second one.
    assert filled("{{trigger.note}}", trigger=once) == note


@pytest.mark.parametrize(
    "text",
    [
        *["{{record.__class__}}", "{{record.__init__.__globals__}}", "{{actions[0].__class__}}"],
        *["{{now.__class__}}", "{{record.Name[0]}}", "{{record.keys}}", "{{actions.steps}}"],
    ],
)
def test_case_081_a_path_never_reaches_python(text: str) -> None:
    assert filled(text) is None


@pytest.mark.parametrize("text", ["{% for x in range(10**9) %}", "{0.__class__}", "%(x)s", "${x}"])
def test_case_081_other_syntaxes_are_plain_text(text: str) -> None:
    assert filled(text) == text
    assert check_templates(text, secrets_allowed=nowhere) == []


def test_only_texts_are_templates_at_any_depth_and_keys_never() -> None:
    config = {"{{now}}": [1, None, True, {"a": ["{{run.id}}"]}], "n": Decimal("1.10")}
    assert filled(config) == {"{{now}}": [1, None, True, {"a": ["run1"]}], "n": Decimal("1.10")}


def test_the_config_itself_is_left_alone() -> None:
    config = {"a": ["{{run.id}}"], "b": {"c": "x {{now}}"}}
    filled(config)
    assert config == {"a": ["{{run.id}}"], "b": {"c": "x {{now}}"}}


def test_what_is_missing_in_texts_is_listed_once_in_order() -> None:
    config = ["{{record.B}} {{record.A}}", "{{record.B}}!", "{{record.Lone}}", "{{record.Null}}."]
    assert interpolate(config, ROOTS, nowhere).missing == ["record.B", "record.A"]


@pytest.mark.parametrize("roots", [{}, {"record": None}, {"record": "text"}])
def test_a_root_that_the_run_has_not_is_missing(roots: dict[str, Any]) -> None:
    found = interpolate({"a": "{{record.Name}}", "b": "x{{record}}{{actions[0]}}"}, roots, nowhere)
    assert found.config["a"] is None
    assert found.missing[-1] == "actions[0]"


@pytest.mark.parametrize(
    ("config", "asked"),
    [
        ({"a": "now", "b": ["record"]}, []),
        ({"a": "{{record.Name}}", "b": ["{{record.Count}} {{ record.id }}"]}, ["record"]),
        ({"a": "{{now}}", "b": "{{record.Name}} {{record.Missing}}"}, ["now", "record"]),
    ],
)
def test_a_root_that_is_a_function_is_asked_once_and_only_where_it_is_named(
    config: Any, asked: list[str]
) -> None:
    calls: list[str] = []

    def root(name: str) -> Callable[[], Any]:
        def ask() -> Any:
            calls.append(name)
            return ROOTS[name]

        return ask

    found = interpolate(config, {name: root(name) for name in ROOTS}, nowhere)
    assert found == interpolate(config, ROOTS, nowhere)
    assert calls == asked


@pytest.mark.parametrize("text", ["{{record.Missing}}", "{{record.Null}}", "x{{record.Missing}}"])
@pytest.mark.parametrize(
    ("wrap", "place"),
    [
        (lambda text: {"recordId": text}, "recordId"),
        (lambda text: {"to": ["a@b.c", text]}, "to[1]"),
        (lambda text: {"headers": {"X-Id": text}}, "headers.X-Id"),
        (lambda text: {"values": {"First Name": text}}, 'values["First Name"]'),
        (lambda text: text, ""),
    ],
)
def test_a_required_place_without_a_value_is_fatal(
    text: str, wrap: Callable[[str], Any], place: str
) -> None:
    assert code_of(wrap(text), place.__eq__) == "TEMPLATE_MISSING"
    interpolate(wrap(text), ROOTS, (place + "x").__eq__)


def test_a_required_place_takes_any_value() -> None:
    assert filled(["{{record.Empty}}", "{{record.Flag}}", "x{{run.depth}}"], everywhere) == [
        "",
        False,
        "x0",
    ]


@pytest.mark.parametrize("text", ["{{secrets.OTHER}}", "x {{secrets.API_KEY.x}}", "{{secrets[0]}}"])
def test_an_unknown_secret_is_fatal(text: str) -> None:
    assert code_of(text) == "SECRET_UNKNOWN"
    assert code_of(text, secrets={}) == "SECRET_UNKNOWN"
    with pytest.raises(FatalError, match="no secret"):
        interpolate("{{secrets.API_KEY}}", {}, nowhere)


@pytest.mark.parametrize("text", ["{{7*7}}", "{{ env.PATH }}", "{{actions}}"])
def test_a_stored_template_that_no_longer_reads_is_fatal(text: str) -> None:
    assert code_of({"title": text}) == "ACTION_CONFIG_INVALID"


@pytest.mark.parametrize("make", ["{{record.V}}", "x{{record.V}}", "literal"])
@pytest.mark.parametrize("char", ["x", "é", '"'])
def test_the_result_has_at_most_64_kb(make: str, char: str) -> None:
    size = len(dumps(char).encode()) - 2
    room = INTERPOLATED_MAX_BYTES - len('["x"]')

    def config(length: int) -> tuple[Any, dict[str, Any]]:
        text = char * length
        return ([text] if make == "literal" else [make]), {"record": {"V": text}}

    fitting, record = config(room // size)
    assert interpolate(fitting, record, nowhere).config
    too_large, record = config(room // size + 2)
    assert code_of(too_large, **record) == "ACTION_CONFIG_INVALID"


@pytest.mark.parametrize("token", ["{{record.V}}", "-{{record.V}}"])
def test_case_081_a_small_config_cannot_fill_the_memory(token: str) -> None:
    value = ["x" * 60_000]
    tracemalloc.start()
    started = time.process_time()
    try:
        assert code_of([token] * 10_000, record={"V": value}) == "ACTION_CONFIG_INVALID"
        assert code_of(token * 10_000, record={"V": value}) == "ACTION_CONFIG_INVALID"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(json_values)
def test_any_value_comes_through_a_lone_token_unchanged(value: Any) -> None:
    assert filled({"x": "{{record.V}}"}, record={"V": value}) == {"x": value}


@given(json_values)
def test_any_config_on_which_the_check_has_nothing_to_say_can_be_filled(value: Any) -> None:
    if check_templates(value, secrets_allowed=everywhere) == []:
        assert dumps(filled(value))


# ------------------------------------------------------------------------------------------ HTML


@pytest.mark.parametrize(
    ("text", "filled_in"),
    [
        ("<b>{{record.Markup}}</b>", "<b>&lt;i onclick=&quot;x&quot;&gt; &amp;amp; &#x27;</b>"),
        ("{{record.Markup}}", "&lt;i onclick=&quot;x&quot;&gt; &amp;amp; &#x27;"),
        ("{{record.Obj}}", "{&quot;k&quot;:&quot;&lt;&quot;}"),
        ("{{record.Count}}", "3"),
        ("<p>{{record.Count}}</p>", "<p>3</p>"),
        ("<p>&amp;</p>", "<p>&amp;</p>"),
        ("{{record.Missing}}", None),
        ("<p>{{record.Missing}}</p>", "<p></p>"),
    ],
)
def test_within_html_a_value_is_text_and_cannot_add_to_the_markup(
    text: str, filled_in: str | None
) -> None:
    record = {"Markup": '<i onclick="x"> &amp; \'', "Obj": {"k": "<"}, "Count": 3}
    config = {"html": text, "text": "{{record.Markup}}"}
    found = interpolate(config, {"record": record}, nowhere, "html".__eq__).config
    assert found == {"html": filled_in, "text": record["Markup"]}


def test_what_escaping_adds_counts_towards_the_size() -> None:
    config = {"html": "{{record.A}}"}
    roots = {"record": {"A": "<" * (INTERPOLATED_MAX_BYTES // 4)}}
    assert len(interpolate(config, roots, nowhere).config["html"]) == INTERPOLATED_MAX_BYTES // 4
    with pytest.raises(FatalError, match="above 64 KB"):
        interpolate(config, roots, nowhere, "html".__eq__)
