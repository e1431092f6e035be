"""Every function, as `make build` leaves it, loads under Lambda's runtime and does its work.

The functions' code and the template are the build's own. The layer is built once more for this
machine by the makefile that built the one for Lambda, since wheels for arm64 run nowhere else.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bench.cold_start import FUNCTIONS, load_in_pairs
from devstack.emulated_aws import EmulatedAws, enforce_iam, start_aws
from devstack.function_environment import function_environment
from devstack.seed import seed
from devstack.stack_deploy import FunctionSpec, Stack, deploy
from devstack.stack_parameters import database_parameters, dev_defaults
from devstack.stack_template import split_template
from tests.artifacts.emulator import EmulatedFunction
from tests.artifacts.runtime import ROOT, Image, build_image
from tests.conftest import open_database
from tests.golden import STORY, Scene, answer_door

BUILD = ROOT / ".aws-sam" / "build"
# As `make bench` has it; a cold start is noisy.
PAIRS = 7


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image(tmp_path_factory.mktemp("image"))


@pytest.fixture
def aws() -> Iterator[EmulatedAws]:
    started = start_aws()
    yield started
    started.stop()


def deployed(aws: EmulatedAws, url: str) -> Stack:
    """The built template, deployed in the emulated account."""
    secret_arn = aws.make_secret("database", {"username": "postgres", "password": ""})
    template = split_template(
        BUILD / "template.yaml",
        decided=database_parameters(url, secret_arn),
        environ={},
        defaults=dev_defaults("http://127.0.0.1"),
    )
    aws.verify_sender(template.parameters["MailFrom"])
    return deploy(template)


def environment_of(aws: EmulatedAws, spec: FunctionSpec, image: Image) -> dict[str, str]:
    code = BUILD / spec.logical_id
    environment = function_environment(aws, spec, (code, image.layer), {})
    return {
        **environment,
        "PYTHONPATH": f"{code}:{image.layer}:{image.runtime}",
        # As in Lambda, where /opt and /var/task cannot be written.
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(spec.timeout_s),
    }


@pytest.mark.timeout(300)
def test_case_119_every_function_loads_from_the_artifacts_and_handles_its_golden_events(
    image: Image, aws: EmulatedAws, migrated_url: str, tmp_path: Path
) -> None:
    stack = deployed(aws, migrated_url)
    assert {function for _, function, _ in STORY} == set(stack.functions)
    environments = {
        name: environment_of(aws, spec, image) for name, spec in stack.functions.items()
    }
    # From here on every call is one that a function makes, with its own role.
    enforce_iam()
    with ExitStack() as running:
        database = open_database(migrated_url)
        running.callback(database.close)
        tenant = seed(database, tmp_path).demo
        functions: dict[str, EmulatedFunction] = {}

        def invoke(function: str, event: Any) -> Any:
            # One after the other, so that none measures how long another takes to start.
            if function not in functions:
                functions[function] = running.enter_context(
                    EmulatedFunction(
                        [image.python, "-m", "awslambdaric", stack.functions[function].handler],
                        environments[function],
                        tmp_path / f"{function}.log",
                    )
                )
            return functions[function].invoke(event)

        door = running.enter_context(answer_door())
        Scene(database, tenant, invoke, door).tell()
        report = {name: round(function.init_ms) for name, function in functions.items()}
    sys.stdout.write(f"\n{image.said.splitlines()[-2]}\n{image.python}, init in ms:\n")
    sys.stdout.write("".join(f"  {name:<28}{ms:>6}\n" for name, ms in report.items()))


@pytest.mark.timeout(600)
def test_what_a_cold_start_takes_beside_the_reference_is_printed(
    image: Image, tmp_path: Path
) -> None:
    codes = {key: BUILD / name for key, (name, _) in FUNCTIONS.items()}
    figures = load_in_pairs(image, codes, tmp_path, PAIRS)
    lines = [f"  {key:<28}{figures[f'cold_start_ratio_{key}']:>6}\n" for key in FUNCTIONS]
    # Judged by `make bench` on a quiet machine, not here.
    sys.stdout.write("\nloading, of what the reference takes:\n" + "".join(lines))
    assert all(figures[f"cold_start_ratio_{key}"] > 0 for key in FUNCTIONS)


def test_the_layer_for_lambda_is_compiled_and_within_its_budget() -> None:
    check = layer_check()
    files = [path for path in (BUILD / "WhenthenLayer").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) / check.MB <= check.UNZIPPED_MAX_MB
    assert_compiled([path for path in files if path.suffix == ".py"])


@pytest.mark.parametrize("function", sorted({function for _, function, _ in STORY}))
def test_every_function_for_lambda_is_compiled(function: str) -> None:
    assert_compiled(list((BUILD / function).rglob("*.py")))


def layer_check() -> Any:
    spec = importlib.util.spec_from_file_location("check", ROOT / "layers/whenthen/check.py")
    assert spec
    assert spec.loader
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    return check


def assert_compiled(sources: list[Path]) -> None:
    """Each source has bytecode that Lambda's Python takes as it is."""
    assert sources
    for source in sources:
        # The build's Python may be another than this one, so the name is written out.
        bytecode = source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"
        assert bytecode.is_file(), source
        flags = int.from_bytes(bytecode.read_bytes()[4:8], "little")
        assert flags == layer_check().UNCHECKED_HASH, source


def test_the_layer_for_lambda_holds_code_for_its_machine_alone() -> None:
    machines = set()
    for library in (BUILD / "WhenthenLayer").rglob("*.so"):
        head = library.read_bytes()[:20]
        assert head[:4] == b"\x7fELF"
        machines.add(int.from_bytes(head[18:20], "little"))
    # ELF, "e_machine": 183 is AArch64.
    assert machines == {183}


def test_every_function_is_built_whole() -> None:
    built = json.dumps(sorted(path.name for path in BUILD.iterdir() if path.is_dir()))
    for _, function, _ in STORY:
        assert function in built
        assert (BUILD / function / "http_api" / "handler.py").is_file()
