"""The emulated AWS as its own process: started, its clock turned, ended."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class AwsProcess:
    """The emulated AWS: where it listens; the clock of its queues can be turned."""

    endpoint: str
    process: subprocess.Popen[str]

    def set_clock(self, offset_s: float) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{offset_s}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()


@contextmanager
def emulated_aws() -> Iterator[AwsProcess]:
    """An emulated AWS in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.aws_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield AwsProcess(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.wait(30)
        process.stdin.close()
        process.stdout.close()
