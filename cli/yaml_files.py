"""Reads YAML files of automations; where each value stands is kept for what is wrong with it."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from cli.exits import CommandError
from cli.paths import Step, path_text
from cli.yaml_scalars import PREFIX, SCALARS, scalar_value

# Of an API body.
_DEPTH_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class Document:
    """One automation of a file; `number` counts the file's documents from 1.

    `lines` has the line of each path; paths begin at the automation.
    """

    file: str
    number: int
    value: Any
    lines: dict[str, int] = field(repr=False)

    def problem(self, path: str, message: str) -> str:
        """Return `a.yaml, document 2, line 7: actions[0].config.url: is required`."""
        where = f"{self.place}, line {self._line(path)}"
        return f"{where}: {path}: {message}" if path else f"{where}: {message}"

    @property
    def place(self) -> str:
        return f"{self.file}, document {self.number}"

    def _line(self, path: str) -> int:
        # What is missing has no line, but what it is missing from has.
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines[path]


def read_files(names: Sequence[str]) -> list[Document]:
    """Return every automation of the files in their order; `-` reads standard input.

    A document is one automation or a list of them; empty documents count, and hold none.

    Raises:
        CommandError: a file cannot be read or is not YAML of the form that is understood.

    """
    return [document for name in names for document in _documents(name, _content(name))]


def _content(name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{name} is not readable: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not UTF-8 at byte {error.start}") from error


def _documents(name: str, content: str) -> Iterator[Document]:
    try:
        loader = _Loader(content)
        number = 0
        while loader.check_node():
            number += 1
            yield from _automations(name, number, loader.get_node())
    except yaml.MarkedYAMLError as error:
        raise CommandError(_not_yaml(name, content, error)) from error
    except yaml.YAMLError as error:
        raise CommandError(f"{name} is not YAML: {error}") from error


def _automations(name: str, number: int, node: Any) -> Iterator[Document]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield _document(name, number, item)
    elif node.tag != f"{PREFIX}null":
        yield _document(name, number, node)


def _document(name: str, number: int, node: Any) -> Document:
    lines: dict[str, int] = {}
    return Document(name, number, _plain(node, (), lines), lines)


def _plain(node: Any, steps: tuple[Step, ...], lines: dict[str, int]) -> Any:
    lines[path_text(steps)] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{PREFIX}seq":
        return [_plain(item, (*steps, n), lines) for n, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode) and node.tag == f"{PREFIX}map":
        return _mapping(node, steps, lines)
    try:
        return scalar_value(node.tag, node.value)
    except ValueError as error:
        raise _refused(str(error), node) from error


def _mapping(node: Any, steps: tuple[Step, ...], lines: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refused('a key must be a word; put a template in quotes: "{{ … }}"', key_node)
        # A key is text whatever it looks like: `no: 1`, `2026: 1`.
        key = scalar_value(f"{PREFIX}str", key_node.value)
        if key in found:
            raise _refused(f"the key {key} stands twice", key_node)
        found[key] = _plain(value_node, (*steps, key), lines)
        # An object begins with its first key; what is wrong with it is looked for at its own.
        lines[path_text((*steps, key))] = key_node.start_mark.line + 1
    return found


def _refused(message: str, node: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)


def _not_yaml(name: str, content: str, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    told = error.problem or error.context or "not YAML"
    written = content.split("\n")[line : line + 1]
    if written and "{{" in written[0] and "quotes" not in told:
        told += " (a template must stand in quotes)"
    return f"{name}, line {line + 1}: {told}"


class _Loader(yaml.SafeLoader):
    """Composes nodes of the JSON words only; depth is bounded, and nothing stands for another.

    An alias may stand for a list of aliases and so on: ten lines that are a billion values.
    """

    # Not those of the parent, which take `no` for false and `12:30` for 750.
    yaml_implicit_resolvers = {}  # noqa: RUF012  # a class of PyYAML's keeps them so
    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise self._refused("aliases are not read: write the value out")
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._refused(f"nested more than {_DEPTH_MAX} levels deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _refused(self, message: str) -> yaml.MarkedYAMLError:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        return yaml.MarkedYAMLError(problem=message, problem_mark=event.start_mark)


for _tag, _form, _first in SCALARS:
    _Loader.add_implicit_resolver(_tag, _form, _first)
