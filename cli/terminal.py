"""What people see: tables, colours, questions, progress. Nothing that came in steers a terminal."""

import os
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Final, Self, TextIO

from cli import json_text
from cli.exits import CommandError

_COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1"}
_BAR_CHARS: Final = 30


def printable(text: str) -> str:
    """Return `text` with what a terminal would obey written out: an ESC as its escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """Return `text` in a colour, if `stream` is a terminal whose user has nothing against it."""
    if not stream.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def print_json(value: Any) -> None:
    """Print a value for programs."""
    print(json_text.dumps(value, indent=2))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows in columns as wide as their widest cell; null is an empty cell."""
    lines = [
        list(columns),
        *([printable("" if cell is None else str(cell)) for cell in row] for row in rows),
    ]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def note(text: str) -> None:
    """Tell people something beside the output, which programs may be reading."""
    lines = map(printable, text.split("\n"))
    print("\n".join(lines), file=sys.stderr, flush=True)


def confirmed(question: str) -> bool:
    """Return whether the person at the terminal says yes.

    Raises:
        CommandError: nobody is there to ask.

    """
    if not sys.stdin.isatty():
        raise CommandError(f"{question} Nobody is here to answer: say --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


class Progress:
    """A bar on standard error while it is a terminal: `redrive [######----] 60/100`."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = max(total, 1)
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self.show(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def show(self, done: int) -> None:
        """Say how much is done."""
        if self._shown:
            filled = _BAR_CHARS * min(done, self._total) // self._total
            bar = "#" * filled + "-" * (_BAR_CHARS - filled)
            text = f"\r{self._what} [{bar}] {done}/{self._total}"
            print(text, end="", file=sys.stderr, flush=True)
