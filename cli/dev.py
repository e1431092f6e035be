"""`whenthen dev` becomes the local stack's process."""

import os
import sys
from collections.abc import Sequence

STACK_COMMAND = (sys.executable, "-m", "devstack")


def run(arguments: Sequence[str]) -> int:
    """Replace this process by the stack, so that signals and exit codes are its own."""
    os.execv(STACK_COMMAND[0], [*STACK_COMMAND, *arguments])  # noqa: S606  # that is the point
