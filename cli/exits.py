"""Exit codes: 0 ok, and those below."""

from typing import Final

FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
UNAUTHORISED: Final = 4
UNREACHABLE: Final = 5


class CommandError(Exception):
    """Raised when a command cannot do its work; `exit_code` tells a script why."""

    def __init__(self, message: str, exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
