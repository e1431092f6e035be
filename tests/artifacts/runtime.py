"""What Lambda's image has, made for this machine: the layer, and the runtime's own packages."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The runtime interface client, and what the Lambda image has beside it.
IN_IMAGE = (
    "awslambdaric",
    "boto3",
    "botocore",
    "jmespath",
    "python-dateutil",
    "s3transfer",
    "simplejson",
    "six",
    "snapshot-restore-py",
    "urllib3",
)


def host_python() -> tuple[str, str]:
    """Return a Python of this machine and its version: 3.13 as in Lambda, else this one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [os.environ.get("WHENTHEN_PYTHON", ""), "python3.13"]
    candidates += [str(path) for path in sorted(pyenv.glob("versions/3.13*/bin/python"))]
    for candidate in filter(None, candidates):
        if shutil.which(candidate) and version_of(candidate) == "3.13":
            return candidate, "3.13"
    return sys.executable, version_of(sys.executable)


def version_of(python: str) -> str:
    asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


@dataclass(frozen=True)
class Image:
    """What stands under /opt and /var/runtime in Lambda, and the Python that reads it."""

    layer: Path
    runtime: Path
    python: str
    said: str


def build_image(folder: Path) -> Image:
    """Build both for this machine below `folder`."""
    python, version = host_python()
    said = make("shared", "WhenthenLayer", folder / "layer", (python, version))
    build_runtime(folder / "runtime", python)
    return Image(folder / "layer" / "python", folder / "runtime", python, said)


def build_function(folder: Path, name: str) -> None:
    """Build a function for this machine, as `sam build` does."""
    make("functions", name, folder, host_python())


def make(source: str, name: str, folder: Path, interpreter: tuple[str, str]) -> str:
    """Build a layer or a function with the makefile that ships; return what it said."""
    python, version = interpreter
    return run(
        ["make", "-C", source, "-f", str(ROOT / "layers" / "whenthen" / "Makefile")],
        [
            f"build-{name}",
            f"ARTIFACTS_DIR={folder}",
            "PLATFORM=",
            f"PYTHON_VERSION={version}",
            f"WHENTHEN_PYTHON={python}",
            f"UV={uv()}",
        ],
    )


def build_runtime(folder: Path, python: str) -> None:
    """Install what the image has, at the versions of the lock."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    blocks = re.findall(r"^(?:[a-z0-9-]+==.*?)(?=^[a-z0-9-]+==|\Z)", lock, re.MULTILINE | re.DOTALL)
    wanted = [block for block in blocks if block.split("==")[0] in IN_IMAGE]
    assert len(wanted) == len(IN_IMAGE)
    pins = folder.with_suffix(".txt")
    pins.write_text("".join(wanted))
    run(
        [uv(), "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--compile-bytecode"],
        ["--python", python, "--target", str(folder), "-r", str(pins)],
    )


def uv() -> str:
    return os.environ.get("WHENTHEN_UV") or str(Path(sys.executable).with_name("uv"))


def run(command: list[str], arguments: list[str]) -> str:
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
