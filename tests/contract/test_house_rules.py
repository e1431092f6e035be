"""The house rules that a program can check: sizes, and what may stand where."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = sorted(
    path
    for folder in ("shared", "functions", "devstack", "cli")
    for path in (ROOT / folder).rglob("*.py")
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MODULE_LINES_MAX = 300
FUNCTION_LINES_MAX = 45


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            yield node


def imports(path: Path) -> set[str]:
    """The modules that a file imports, and the names it takes from them: `os`, `os.environ`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def where(path: Path, *prefixes: str) -> bool:
    return name_of(path).startswith(prefixes)


def test_no_module_is_over_300_lines() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in PRODUCT}
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES_MAX} == {}


def test_no_function_is_over_45_lines() -> None:
    long = {
        f"{name_of(path)}:{node.name}": node.end_lineno - node.lineno + 1
        for path in PRODUCT
        for node in functions(path)
        if node.end_lineno and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX
    }
    assert long == {}


@pytest.mark.parametrize("handler", sorted((ROOT / "functions").glob("*/handler.py")), ids=name_of)
def test_a_handler_has_at_most_50_lines(handler: Path) -> None:
    assert len(handler.read_text().splitlines()) <= 50


def test_sql_stands_only_in_the_store() -> None:
    outside = [path for path in PRODUCT if not where(path, "shared/whenthen/store/")]
    assert [name_of(path) for path in outside if "sqlalchemy.text" in imports(path)] == []


def test_boto3_stands_only_in_aws() -> None:
    # The command line's one module invokes the functions of a deployment.
    allowed = ("shared/whenthen/aws/", "devstack/", "cli/remote_functions.py")
    outside = [path for path in PRODUCT if not where(path, *allowed)]
    loading = [path for path in outside if imports(path) & {"boto3", "botocore"}]
    assert [name_of(path) for path in loading] == []


def test_the_environment_is_read_only_at_the_composition_root() -> None:
    allowed = ("shared/whenthen/engine/composition.py", "devstack/", "cli/")
    outside = [path for path in PRODUCT if not where(path, *allowed)]
    assert [name_of(path) for path in outside if "os.environ" in path.read_text()] == []


def test_stored_json_is_read_and_written_through_json_text() -> None:
    allowed = ("shared/whenthen/domain/json_text.py", "devstack/", "cli/")
    outside = [path for path in PRODUCT if not where(path, *allowed)]
    assert [name_of(path) for path in outside if "json" in imports(path)] == []


def test_nothing_is_left_to_do() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
    marked = [name_of(p) for p in [*PRODUCT, *TESTS] if any(m in p.read_text() for m in marks)]
    assert marked == []


def test_tests_patch_nothing() -> None:
    patching = [name_of(p) for p in TESTS if any("mock" in m for m in imports(p) - {"moto"})]
    assert [name for name in patching if "unittest" in (ROOT / name).read_text()] == []


def test_every_package_says_what_it_is() -> None:
    silent = [
        name_of(path)
        for path in PRODUCT
        if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None
    ]
    assert silent == []
