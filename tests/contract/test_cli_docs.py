"""docs/cli.md against the parser: every command, every exit code, and no others."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from cli import exits
from cli.parser import build_parser

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cli.md").read_text()
# | `whenthen runs show AUTOMATION [RUN]` | …
ROW = re.compile(r"^\| `whenthen ([a-z]+(?: [a-z]+)?)", re.MULTILINE)


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be given, with its own parser: `("runs list", …)`."""
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for group in groups:
        for name, inner in group.choices.items():
            below = list(commands_of(inner))
            yield from ((f"{name} {more}", leaf) for more, leaf in below)
            if not below:
                yield name, inner


def test_every_command_stands_in_a_table_and_no_other() -> None:
    documented = ROW.findall(TEXT)
    assert sorted(documented) == sorted(name for name, _ in commands_of(build_parser()))


def test_every_option_in_the_text_is_one_of_a_command() -> None:
    known = {
        option
        for _, parser in commands_of(build_parser())
        for action in parser._actions
        for option in action.option_strings
    }
    # `whenthen dev` has a parser of its own.
    assert set(re.findall(r"--[a-z][a-z-]+", TEXT)) <= known | {"--ready-file"}


def test_every_exit_code_stands_in_the_table() -> None:
    codes = {0, *(value for value in vars(exits).values() if isinstance(value, int))}
    assert {int(code) for code in re.findall(r"^\| (\d) \|", TEXT, re.MULTILINE)} == codes


def test_every_command_says_what_it_does() -> None:
    silent = [
        name
        for name, parser in commands_of(build_parser())
        if name != "dev" and not parser.description
    ]
    assert silent == []


def test_the_command_line_is_not_in_the_layer() -> None:
    makefile = (ROOT / "layers" / "whenthen" / "Makefile").read_text()
    # Of functions/ everything, of shared/ the package.
    assert re.findall(r"^\tcp -R (\S+)", makefile, re.MULTILINE) == ["*/", "whenthen"]
    assert not (ROOT / "shared" / "cli").exists()
    imported = [
        path
        for folder in ("shared", "functions")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"^\s*(?:from|import) cli\b", path.read_text(), re.MULTILINE)
    ]
    assert imported == []
