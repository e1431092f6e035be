"""YAML of automations: texts stay texts, and what is no plain data is refused with its place."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.exits import USAGE, CommandError
from cli.json_text import same
from cli.yaml_files import read_files
from cli.yaml_text import yaml_text

WORDS = [
    *("no", "NO", "yes", "on", "off", "y", "n", "True", "FALSE", "Null"),
    *("2026-01-01", "2026-01-01T09:00:00Z", "12:30:45", "190:20:30"),
    *("010", "0o17", "0x1F", "0b1", "1_000", "+1", "1.", ".5", ".inf", ".nan", "1e", "<<", "="),
]


def values_of(folder: Path, text: str) -> list[Any]:
    file = folder / "a.yaml"
    file.write_text(text, "utf-8")
    return [document.value for document in read_files([str(file)])]


def refusal_of(folder: Path, content: str | bytes) -> str:
    file = folder / "a.yaml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(CommandError) as refused:
        read_files([str(file)])
    assert refused.value.exit_code == USAGE
    return str(refused.value).removeprefix(f"{file}")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_is_no_json_is_text(tmp_path: Path, word: str) -> None:
    assert values_of(tmp_path, f"a: {word}\n{word}: 1\n") == [{"a": word, word: 1}]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.10", Decimal("1.10")),
        ("1e3", Decimal("1e3")),
        ("12345678901234567.890", Decimal("12345678901234567.890")),
        ('"1"', "1"),
        ("!!str 1", "1"),
    ],
)
def test_a_word_of_json_is_what_it_is_there(tmp_path: Path, word: str, value: Any) -> None:
    (found,) = values_of(tmp_path, f"a: {word}\n")
    assert same(found["a"], value)
    assert str(found["a"]) == str(value)


@pytest.mark.parametrize("key", ["no", "1", "true", "null", "2026-01-01"])
def test_a_key_is_text_whatever_it_looks_like(tmp_path: Path, key: str) -> None:
    assert values_of(tmp_path, f"{key}: 1\n") == [{key: 1}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", ", line 3: the key a stands twice"),
        ('1: 1\n"1": 2\n', ", line 2: the key 1 stands twice"),
        ("a: &x 1\nb: *x\n", ", line 2: aliases are not read: write the value out"),
        ("a: &x [*x]\n", ", line 1: aliases are not read: write the value out"),
        ("a: !!timestamp 2026-01-01\n", ", line 1: the tag !!timestamp is not read"),
        ("a: !!python/object/apply:os.system [x]\n", None),
        ("a: !!binary aGk=\n", ", line 1: the tag !!binary is not read"),
        ("a: !!int x\n", ", line 1: not a int; put a text in quotes"),
        ("a: !ref b\n", ", line 1: the tag !ref is not read"),
        (
            "a:\n  b: {{record.Name}}\n",
            ', line 2: a key must be a word; put a template in quotes: "{{ … }}"',
        ),
        ("a: {{x}} y\n", None),
        (f"a: {'9' * 401}\n", ", line 1: a number of more than 400 digits"),
        ('a: "\\0"\n', ", line 1: holds a character that cannot be stored"),
        ('a: "\\ud800"\n', ", line 1: holds a character that cannot be stored"),
        ("a: [1\n", None),
        ("a: 1\x07\n", None),
    ],
)
def test_what_is_no_plain_data_is_refused_where_it_stands(
    tmp_path: Path, text: str, told: str | None
) -> None:
    refusal = refusal_of(tmp_path, text)
    assert told is None or refusal == told


def test_a_billion_laughs_are_refused_at_the_first(tmp_path: Path) -> None:
    lines = ["l0: &l0 ha"] + [f"l{n}: &l{n} [{f'*l{n - 1}, ' * 9}]" for n in range(1, 10)]
    assert refusal_of(tmp_path, "\n".join(lines)).startswith(", line 2: aliases are not read")


def test_a_template_outside_quotes_gets_a_hint(tmp_path: Path) -> None:
    assert refusal_of(tmp_path, "title: {{record.Name}} arrived\n").endswith(
        "(a template must stand in quotes)"
    )


@pytest.mark.parametrize("depth", [65, 100_000])
def test_what_is_nested_too_deep_is_refused_before_it_is_walked(tmp_path: Path, depth: int) -> None:
    refusal = refusal_of(tmp_path, "[" * depth + "]" * depth)
    assert refusal == ", line 1: nested more than 64 levels deep"


def test_depth_64_is_read(tmp_path: Path) -> None:
    (value,) = values_of(tmp_path, "a: " + "[" * 63 + "]" * 63)
    assert value.keys() == {"a"}


def test_bytes_that_are_not_utf_8_and_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path, b"a: \xff\n") == " is not UTF-8 at byte 3"
    with pytest.raises(CommandError, match="No such file"):
        read_files([str(tmp_path / "none.yaml")])


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert values_of(tmp_path, "\ufeffname: a\n") == [{"name": "a"}]


def test_documents_and_lists_hold_automations_and_empty_documents_count(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: a\n---\n---\n- name: b\n- name: c\n---\n# nothing\n")
    documents = read_files([str(file)])
    assert [(one.number, one.value["name"]) for one in documents] == [(1, "a"), (3, "b"), (3, "c")]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 1),
        ("actions[0].config.url", 5),
        ("actions[0].config.body", 4),
        ("actions[1]", 2),
        ('actions[0].config.headers["a b"].c', 4),
        ("name", 1),
    ],
)
def test_a_problem_names_the_nearest_line_that_there_is(
    tmp_path: Path, path: str, line: int
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("name: a\nactions:\n  - type: X\n    config:\n      url: x\n")
    (document,) = read_files([str(file)])
    assert document.problem(path, "no").startswith(f"{file}, document 1, line {line}: ")


TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12
) | st.sampled_from([*WORDS, "null", "~", "", "a\nb", " a\n b\n", "\n", "\x85", "\u2028", "- a"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | TEXTS
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(TEXTS, DATA, min_size=1, max_size=3), min_size=1, max_size=3))
def test_what_is_written_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert same(values_of(folder, yaml_text(values)), values)


@given(TEXTS)
def test_other_readers_take_texts_for_texts_too(text: str) -> None:
    assert yaml.safe_load(yaml_text([{"a": text}])) == {"a": text}
