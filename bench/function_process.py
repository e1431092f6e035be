"""A process of its own for a function, as the runtime starts one."""

import os
import resource
import sys

from bench.aws_at_once import AwsAtOnce


def begin(environ: dict[str, str]) -> AwsAtOnce:
    """Make this process one of a function; its metric lines are nobody's."""
    os.environ.update(environ)
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  # until the process ends
    aws = AwsAtOnce()
    aws.install()
    return aws


def own_cpu_s() -> float:
    """Return the user and system CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
