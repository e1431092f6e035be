"""`whenthen migrate` and `bootstrap`: what is done to a deployment itself, by its own function.

Whoever may invoke the function may do it: IAM is the credential, since there is no token yet.
"""

import argparse
import json
from typing import Any, Final

from cli import functions
from cli.exits import FAILED, USAGE, CommandError
from cli.terminal import note, print_json

MIGRATOR: Final = "DbMigratorFunction"


def migrate(options: argparse.Namespace) -> int:
    """Bring the deployment's database to the schema of its code."""
    answer = _asked(options, {"action": "migrate"})
    if options.json:
        print_json(answer)
    else:
        for name in answer["applied"]:
            print(f"applied {name}")
        print(f"the schema is at {answer['version']}")
    return 0


def bootstrap(options: argparse.Namespace) -> int:
    """Make a workspace with its OWNER in an empty deployment, and print the first token."""
    wanted = {"workspace": options.workspace, "email": options.email, "another": options.another}
    answer = _asked(options, {"action": "bootstrap", **wanted})
    if "error" in answer:
        told = answer["error"]
        exit_code = USAGE if told["code"] == "VALIDATION_FAILED" else FAILED
        raise CommandError(f"{told['code']}: {told['message']}", exit_code)
    if options.json:
        print_json(answer)
    else:
        note(f"workspace {answer['workspaceId']}, OWNER {options.email} ({answer['userId']})")
        note("the OWNER's token, shown this once:")
        print(answer["token"])
    return 0


def _asked(options: argparse.Namespace, event: dict[str, Any]) -> Any:
    return functions.invoke(options, MIGRATOR, json.dumps(event).encode())
