"""Writes automations as YAML whose texts every reader takes for text: old ones, new ones, ours."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import yaml

from cli.yaml_scalars import PREFIX, SCALARS

# Nothing is folded: a line of the file is a line of the text.
_WIDTH: Final = 1_000_000


def yaml_text(values: Iterable[Mapping[str, Any]]) -> str:
    """Return one document for each of `values`, their keys in the order given."""
    return yaml.dump_all(
        values,
        Dumper=_Dumper,
        explicit_start=True,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=_WIDTH,
    )


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 (the parent's words) or JSON would take for anything but text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  # PyYAML's signature
        # Lists stand indented below their key, as people write them.
        super().increase_indent(flow, indentless=False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"{PREFIX}str", text, style=_style(text))


def _style(text: str) -> str | None:
    # PyYAML writes some texts that it then reads differently: those with other line breaks than
    # ours, and blocks with blanks at the ends of their lines.
    lines = text.split("\n")
    if not lines[0] or not all(line.isprintable() and line == line.strip() for line in lines):
        return '"'
    return "|" if lines[1:] else None


def _number(dumper: yaml.SafeDumper, number: Decimal) -> yaml.ScalarNode:
    text = str(number)
    # Of 1.5e1 the digits are 15.
    kind = "float" if set(text) & {".", "E"} else "int"
    return dumper.represent_scalar(f"{PREFIX}{kind}", text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _number)
for _tag, _form, _first in SCALARS:
    _Dumper.add_implicit_resolver(_tag, _form, _first)
