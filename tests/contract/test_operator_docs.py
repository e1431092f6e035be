"""What docs/deploy.md and docs/operations.md tell an operator to type exists."""

import re
import shlex
from pathlib import Path

import pytest
from samtranslator.yaml_helper import yaml_parse

from cli.parser import build_parser
from tests.contract.test_api_docs import operations

ROOT = Path(__file__).parents[2]
DEPLOY = (ROOT / "docs" / "deploy.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
TEMPLATE = yaml_parse((ROOT / "template.yaml").read_text("utf-8"))
SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
# A command ends where a comment begins, the line does, or another command comes.
COMMAND = re.compile(r"whenthen ((?:[^#\n&|]|\\\n)+)")
# `api METHOD "/path…" …` as the function at the top of docs/operations.md is called.
ASKED = re.compile(r'^api ([A-Z]+) "(/[^"?]+)', re.MULTILINE)


def typed() -> list[str]:
    """Every shell command of this project in both pages."""
    shell = "\n".join(SHELL.findall(DEPLOY + OPERATIONS))
    inline = re.findall(r"`(whenthen [^`]+)`", DEPLOY + OPERATIONS)
    return [found.strip() for text in (shell, *inline) for found in COMMAND.findall(text)]


@pytest.mark.parametrize("words", sorted(set(typed())))
def test_every_command_is_one_that_the_command_line_takes(words: str) -> None:
    arguments = shlex.split(words)
    # `whenthen dev` has a parser of its own.
    if arguments[0] != "dev":
        options = build_parser().parse_args(arguments)
        function = getattr(options, "function", None)
        assert function is None or function in TEMPLATE["Resources"], words
    for word in arguments:
        assert not word.startswith("events/") or (ROOT / word).is_file(), words


def test_the_pages_tell_of_every_command_that_asks_a_function() -> None:
    first = {words.split()[0] for words in typed()}
    assert {"bootstrap", "migrate", "invoke"} <= first


def test_every_parameter_that_is_given_is_one_of_the_template() -> None:
    given = set(re.findall(r"[\"` ]([A-Z][A-Za-z0-9]+)=", DEPLOY))
    assert {"CreateDatabase", "DatabaseHost", "AlarmTopicArn"} <= given
    assert given <= set(TEMPLATE["Parameters"])


@pytest.mark.parametrize("page", [DEPLOY, OPERATIONS], ids=["deploy", "operations"])
def test_every_output_that_is_named_is_one_of_the_template(page: str) -> None:
    named = set(re.findall(r"output\s`?([A-Z][A-Za-z]+)`?", page))
    assert named
    assert named <= set(TEMPLATE["Outputs"])


def test_every_target_of_make_is_one_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)[ `\n]", "".join(SHELL.findall(DEPLOY))))
    assert {"setup", "build"} <= named <= targets


def test_every_request_is_one_of_the_api() -> None:
    routes = {(method, re.sub(r"\{\w+\}", "*", path)) for method, path in operations()}
    asked = {(method, re.sub(r"\$\w+", "*", path)) for method, path in ASKED.findall(OPERATIONS)}
    assert len(asked) >= 4
    assert asked <= routes
