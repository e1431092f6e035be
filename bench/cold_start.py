"""How long functions take to load beside a handler that imports what any such function needs.

Each function is built as it ships (for this machine), and loaded by Lambda's own runtime interface
client under the emulator of its runtime interface. A pair is one load of a function and one of the
reference, one after the other, each first in turn.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.durable_postgres import Postgres
from bench.figures import Figures
from bench.sizes import Sizes
from tests.artifacts.emulator import EmulatedFunction
from tests.artifacts.runtime import Image, build_function, build_image

# Key of the figure → the function, and the module of its handler.
FUNCTIONS = {
    "executor": ("RunExecutorFunction", "run_executor.handler"),
    "matcher": ("StreamMatcherFunction", "stream_matcher.handler"),
    "api": ("HttpApiFunction", "http_api.handler"),
}
REFERENCE = "reference_handler"
# quality: boto3 with one client, SQLAlchemy Core with pg8000, pydantic, from the same layer.
REFERENCE_SOURCE = """
import boto3
import pg8000
import sqlalchemy
import sqlalchemy.dialects.postgresql.pg8000
from pydantic import BaseModel

client = boto3.client("sqs")


def lambda_handler(event, context):
    return {}
"""


def cold_start(sizes: Sizes, _postgres: Postgres) -> Figures:
    """Build layer and functions for this machine and load them; of no pairs, do nothing."""
    if not sizes.cold_start_pairs:
        return {}
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-") as folder:
        image = build_image(Path(folder))
        codes = {}
        for key, (name, _) in FUNCTIONS.items():
            codes[key] = Path(folder) / name
            build_function(codes[key], name)
        return load_in_pairs(image, codes, Path(folder), sizes.cold_start_pairs)


def load_in_pairs(image: Image, codes: dict[str, Path], folder: Path, pairs: int) -> Figures:
    """Return the ratios: `codes` are the functions' built folders, `folder` is for what is made."""
    reference = folder / "reference"
    reference.mkdir()
    (reference / f"{REFERENCE}.py").write_text(REFERENCE_SOURCE)
    figures: Figures = {}
    for key, (_, module) in FUNCTIONS.items():
        both = [(codes[key], module), (reference, REFERENCE)]
        # The first pair reads the files from the disk, and does not count.
        ratios = [_ratio(image, both[:: (-1) ** n], folder / "log") for n in range(pairs + 1)][1:]
        figures[f"cold_start_ratio_{key}"] = round(median(ratios), 2)
        figures[f"cold_start_ratios_{key}"] = [round(ratio, 2) for ratio in ratios]
    return figures


def _ratio(image: Image, both: Sequence[tuple[Path, str]], log: Path) -> float:
    """Load both in this order; return how long the function took ÷ how long the reference did."""
    ms = {module: _init_ms(image, code, module, log) for code, module in both}
    reference_ms = ms.pop(REFERENCE)
    (function_ms,) = ms.values()
    return function_ms / reference_ms


def _init_ms(image: Image, code: Path, module: str, log: Path) -> float:
    command = [image.python, "-m", "awslambdaric", f"{module}.lambda_handler"]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{code}:{image.layer}:{image.runtime}",
        # As in Lambda, where /opt and /var/task cannot be written.
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "29",
    }
    with EmulatedFunction(command, environment, log) as function:
        return function.load()
