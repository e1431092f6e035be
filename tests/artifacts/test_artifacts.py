"""Every function, as `make build` leaves it, loads under Lambda's runtime and does its work.

The functions' code and the template are the build's own. The layer is built once more for this
machine by the makefile that built the one for Lambda, since wheels for arm64 run nowhere else.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devstack.emulated_aws import EmulatedAws, enforce_iam, start_aws
from devstack.function_environment import function_environment
from devstack.seed import seed
from devstack.stack_deploy import FunctionSpec, Stack, deploy
from devstack.stack_parameters import database_parameters, dev_defaults
from devstack.stack_template import split_template
from tests.artifacts.emulator import EmulatedFunction
from tests.artifacts.runtime import ROOT, build_image, build_layer, host_python
from tests.conftest import open_database
from tests.golden import STORY, Scene, answer_door

BUILD = ROOT / ".aws-sam" / "build"


@dataclass
class Image:
    """What stands under /opt and /var/runtime in Lambda, and the Python that reads it."""

    layer: Path
    runtime: Path
    python: str
    said: str


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    python, version = host_python()
    said = build_layer(folder / "layer", python, version)
    build_image(folder / "runtime", python)
    return Image(folder / "layer" / "python", folder / "runtime", python, said)


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


def test_the_layer_for_lambda_is_compiled_and_within_its_budget() -> None:
    spec = importlib.util.spec_from_file_location("check", ROOT / "layers/whenthen/check.py")
    assert spec
    assert spec.loader
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    files = [path for path in (BUILD / "WhenthenLayer").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) / check.MB <= check.UNZIPPED_MAX_MB
    sources = [path for path in files if path.suffix == ".py"]
    compiled = {path for path in files if path.suffix == ".pyc"}
    assert sources
    for source in sources:
        # The build's Python may be another than this one, so the name is written out.
        bytecode = source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"
        assert bytecode in compiled, source
        flags = int.from_bytes(bytecode.read_bytes()[4:8], "little")
        assert flags == check.UNCHECKED_HASH, source


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
