"""Undoes escapes in a text without losing where everything stands: URL, JSON, HTML, line breaks.

Libraries differ in what they escape and how, and a text may be escaped more than once. Undoing
finds what every one of them writes, where a list of written forms would have holes.
"""

import html
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

# JSON in JSON in a log line.
_DEPTH_MAX: Final = 3
# A hostile text may be escaped in every way at once.
_VIEWS_MAX: Final = 40

_URL: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_FORM: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+|\+")
_BACKSLASH: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}(?:\\x[0-9a-fA-F]{2})*"
    r"|[\"'\\/bfnrt])"
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HTML: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_BREAKS: Final = re.compile(r"[\r\n]+[ \t]*")
# An escape that a cut has left unfinished, or the bytes of half a character; several, where one
# escape stands in another.
_UNFINISHED: Final = re.compile(
    r"(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|x[0-9a-fA-F]?)?"
    r"|&#?[0-9a-zA-Z]{0,7}|[\ud800-\udfff]{1,3}){1,4}\Z"
)


class _Piece(NamedTuple):
    """A stretch of a text, and what it stands for."""

    start: int
    stop: int
    meaning: str


@dataclass(frozen=True)
class View:
    """A text with some of its escapes undone; `text` is what may be searched."""

    text: str
    _parent: "View | None" = None
    # Where the stretches begin in `text`, and (start, stop) of each in the parent's text; a
    # stretch that is as long in both is the same in both.
    _begins: list[int] = field(default_factory=list)
    _sources: list[tuple[int, int]] = field(default_factory=list)

    def source(self, start: int, stop: int) -> tuple[int, int]:
        """Return where the original text says what stands from `start` to `stop` (> start)."""
        if self._parent is None:
            return start, stop
        first, _ = self._place(start)
        _, last = self._place(stop - 1)
        return self._parent.source(first, last)

    @cached_property
    def whole(self) -> int:
        """How far `text` goes without an escape or character that a cut has left unfinished."""
        unfinished = _UNFINISHED.search(self.text)
        return len(self.text) if unfinished is None else unfinished.start()

    def _place(self, at: int) -> tuple[int, int]:
        index = bisect_right(self._begins, at) - 1
        start, stop = self._sources[index]
        ends = self._begins[index + 1] if index + 1 < len(self._begins) else len(self.text)
        if stop - start != ends - self._begins[index]:
            return start, stop
        start += at - self._begins[index]
        return start, start + 1


def views(text: str, *, with_spaces: bool = True) -> Iterator[View]:
    """Return `text` itself, then what it says with escapes undone, up to three deep.

    What is looked for may hold no space (`with_spaces`): then a plus sign need not be one.
    """
    undoing = [undo for undo in _UNDOING if with_spaces or undo is not _form]
    waiting = deque([(View(text), 0)])
    seen = {text}
    shown = 0
    while waiting and shown < _VIEWS_MAX:
        view, depth = waiting.popleft()
        shown += 1
        yield view
        for undo in undoing if depth < _DEPTH_MAX else ():
            pieces = list(undo(view.text))
            undone = _undone(view, pieces) if pieces else view
            if undone.text not in seen:
                seen.add(undone.text)
                waiting.append((undone, depth + 1))


def _undone(parent: View, pieces: list[_Piece]) -> View:
    texts: list[str] = []
    begins: list[int] = []
    sources: list[tuple[int, int]] = []
    length = end = 0

    def add(start: int, stop: int, meaning: str) -> None:
        nonlocal length
        if meaning:
            texts.append(meaning)
            begins.append(length)
            sources.append((start, stop))
            length += len(meaning)

    for piece in pieces:
        add(end, piece.start, parent.text[end : piece.start])
        add(*piece)
        end = piece.stop
    add(end, len(parent.text), parent.text[end:])
    return View("".join(texts), parent, begins, sources)


def _url(text: str) -> Iterator[_Piece]:
    for match in _URL.finditer(text):
        yield from _bytes(match, "%")


def _form(text: str) -> Iterator[_Piece]:
    for match in _FORM.finditer(text) if "+" in text else ():
        if match[0] == "+":
            yield _Piece(match.start(), match.end(), " ")
        else:
            yield from _bytes(match, "%")


def _backslashes(text: str) -> Iterator[_Piece]:
    for match in _BACKSLASH.finditer(text):
        escape = match[0]
        match escape[1]:
            case "x":
                yield from _bytes(match, "\\x")
                continue
            case "u":
                units = escape.replace("\\u", "")
                meaning = bytes.fromhex(units).decode("utf-16-be", "surrogatepass")
            case "U":
                meaning = bytes.fromhex(escape[2:]).decode("utf-32-be", "surrogatepass")
            case letter:
                meaning = _SHORT.get(letter, letter)
        yield _Piece(match.start(), match.end(), meaning)


def _html(text: str) -> Iterator[_Piece]:
    for match in _HTML.finditer(text):
        yield _Piece(match.start(), match.end(), html.unescape(match[0]))


def _unbroken(text: str) -> Iterator[_Piece]:
    """Undo the line breaks of long base64."""
    return (_Piece(match.start(), match.end(), "") for match in _BREAKS.finditer(text))


_UNDOING: Final[tuple[Callable[[str], Iterator[_Piece]], ...]] = (
    _backslashes,
    _url,
    _form,
    _html,
    _unbroken,
)


def _bytes(match: re.Match[str], prefix: str) -> Iterator[_Piece]:
    """Return the characters of a run of escaped bytes of UTF-8; a wrong byte is one of its own."""
    data = bytes.fromhex(match[0].replace(prefix, ""))
    at = match.start()
    for char in data.decode("utf-8", "surrogateescape"):
        width = len(char.encode("utf-8", "surrogateescape")) * (len(prefix) + 2)
        yield _Piece(at, at + width, char)
        at += width
