"""What each function may load before its first invocation: cold starts are a promise.

A function that needs something else loads it on first use, inside the function of ours that does.
How long loading takes is measured by `make bench` (`cold_start_ratio_*`).
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS_FOLDER = Path(__file__).parents[2] / "functions"
# sqlalchemy is the statements' own core, pg8000 the driver with what it brings along.
DATABASE = {"sqlalchemy", "typing_extensions", "pg8000", "scramp", "asn1crypto", "dateutil", "six"}
VALIDATION = {"pydantic", "pydantic_core", "annotated_types", "typing_inspection"}
# The resolver of routes; it names botocore for its user agent, and that package's client is what
# would cost.
ROUTING = {"aws_lambda_powertools", "botocore", "jmespath"}
# Of the standard library, what is large and seldom needed.
SELDOM = {"ctypes", "multiprocessing", "smtplib", "sqlite3", "unittest", "xml", "xmlrpc"}
# Made by compiled modules, no packages of their own.
COMPILED = ("_", "cython_runtime")

CORE = {"whenthen", "whenthen.aws", "whenthen.domain", "whenthen.domain.rules"}
CORE |= {"whenthen.engine", "whenthen.store"}
SCHEMAS, ACTIONS = {"whenthen.domain.schemas"}, {"whenthen.actions"}

# function → other people's packages, and our own, that it may load.
BUDGET: dict[str, tuple[set[str], set[str]]] = {
    "db_migrator": (DATABASE | VALIDATION, CORE | SCHEMAS),
    "stream_matcher": (DATABASE, CORE | SCHEMAS | ACTIONS),
    "run_executor": (DATABASE | VALIDATION, CORE | SCHEMAS | ACTIONS),
    "schedule_reconciler": (DATABASE, CORE | SCHEMAS),
    "run_watchdog": (DATABASE, CORE | SCHEMAS | ACTIONS),
    "dlq_notifier": (DATABASE, CORE | SCHEMAS),
    "http_api": (
        DATABASE | VALIDATION | ROUTING,
        CORE | SCHEMAS | ACTIONS | {"http_api.answers"},
    ),
}
# The modules that are new after an import; those that are packages have a path.
SCRIPT = """
import json, sys
before = set(sys.modules)
import {module}
new = {{name: hasattr(found, "__path__") for name, found in sys.modules.items()}}
print(json.dumps({{name: new[name] for name in new.keys() - before}}))
"""


def loaded_by(module: str) -> dict[str, bool]:
    """What a fresh interpreter has in memory after importing `module`; is it a package?"""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: dict[str, bool] = json.loads(done.stdout)
    return found


def excess(function: str, loaded: dict[str, bool]) -> list[str]:
    """What was loaded beyond the function's budget."""
    packages, own = BUDGET[function]
    ours = {"whenthen", *BUDGET}
    tops = {name.partition(".")[0] for name in loaded}
    others = {top for top in tops - ours - sys.stdlib_module_names if not top.startswith(COMPILED)}
    of_ours = {name for name, is_package in loaded.items() if is_package and of(name, ours)}
    return sorted((others - packages) | (of_ours - own - {function}) | (tops & SELDOM))


def of(name: str, tops: set[str]) -> bool:
    return name.partition(".")[0] in tops


def test_every_function_has_a_budget() -> None:
    assert {handler.parent.name for handler in FUNCTIONS_FOLDER.glob("*/handler.py")} == set(BUDGET)


@pytest.mark.parametrize("function", BUDGET)
def test_a_function_loads_nothing_that_is_not_in_its_budget(function: str) -> None:
    beyond = excess(function, loaded_by(f"{function}.handler"))
    assert not beyond, (
        f"{function} loads {', '.join(beyond)} before its first invocation: import it where it is"
        " used (noqa: PLC0415), or enter it into the budget here and measure what it costs"
    )


@pytest.mark.parametrize(
    ("function", "also", "beyond"),
    [
        ("stream_matcher", "pydantic", "pydantic"),
        ("run_executor", "httpx", "httpx"),
        ("run_executor", "boto3", "boto3"),
        ("run_executor", "http_api.routing", "http_api"),
        ("dlq_notifier", "whenthen.actions.registry", "whenthen.actions"),
        ("dlq_notifier", "smtplib", "smtplib"),
        ("http_api", "joserfc.jwt", "joserfc"),
    ],
)
def test_the_budget_sees_what_is_loaded_besides(function: str, also: str, beyond: str) -> None:
    assert beyond in excess(function, loaded_by(f"{function}.handler, {also}"))
