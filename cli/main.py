"""`whenthen`: the local stack, the demo, and everything else that is done to a deployment."""

import os
import sys
from collections.abc import Sequence

from cli import dev
from cli.exits import CommandError
from cli.parser import build_parser
from cli.terminal import note


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["dev"]:
        return dev.run(given[1:])
    options = build_parser().parse_args(given)
    try:
        exit_code = int(options.command(options))
        sys.stdout.flush()
    except CommandError as error:
        note(f"whenthen: {error}")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read along (`| head`) has enough; Python must not complain of it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
