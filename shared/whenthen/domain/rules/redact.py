"""How secrets stay out of what is written down: logs, outputs, errors, notifications."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from whenthen.domain.rules.escaped_text import View, views
from whenthen.domain.rules.secret_forms import Form, Shapes, shapes_of

_MARK: Final = "•••"


def redact(value: Any, secrets: Sequence[str]) -> Any:
    """Return the JSON `value` with "•••" for every secret in it, keys and numbers included.

    A secret is found raw, URL-encoded, in base64 (within a longer text too), hexadecimal, and
    JSON- or HTML-escaped, up to three times over; in parts, if it has several lines or is a JSON
    document; and where several overlap. Do it before anything is truncated, or use
    `redact_beginning` on what is cut: a part of a secret is not recognised.
    """
    shapes = shapes_of(tuple(secrets))
    return _redacted(value, shapes) if shapes.forms else value


def redact_beginning(text: str, secrets: Sequence[str]) -> str:
    """Return `text`, the beginning of a longer one, with "•••" for every secret in it.

    What may be the beginning of a secret, or of a written form of one, goes from its end too.
    """
    shapes = shapes_of(tuple(secrets))
    return _redacted_text(text, shapes, is_cut=True) if shapes.forms else text


def _redacted(value: Any, shapes: Shapes) -> Any:
    match value:
        case str():
            return _redacted_text(value, shapes)
        case list() | dict() if value in shapes.documents:
            return _MARK
        case list():
            return [_redacted(item, shapes) for item in value]
        case dict():
            return {
                _redacted_text(key, shapes): _redacted(item, shapes) for key, item in value.items()
            }
        case int() | float() | Decimal() if not isinstance(value, bool):
            digits = str(value)
            return value if _redacted_text(digits, shapes) == digits else _MARK
    return value


def _redacted_text(text: str, shapes: Shapes, *, is_cut: bool = False) -> str:
    # Replacing one secret after the other would leave the rest of one that overlaps another.
    shown: list[str] = []
    end = 0
    for start, stop in sorted(_places(text, shapes.forms, is_cut=is_cut)):
        if start > end or not shown:
            shown += [text[end:start], _MARK]
        end = max(end, stop)
    return "".join([*shown, text[end:]])


def _places(text: str, forms: Sequence[Form], *, is_cut: bool) -> Iterator[tuple[int, int]]:
    with_spaces = any(" " in form.text for form in forms)
    for view in views(text, with_spaces=with_spaces):
        for form in forms:
            yield from _found(view, form)
        if is_cut:
            start = min(_unfinished_from(view, form) for form in forms)
            if start < len(view.text):
                yield view.source(start, start + 1)[0], len(text)


def _found(view: View, form: Form) -> Iterator[tuple[int, int]]:
    start = view.text.find(form.text)
    while start >= 0:
        stop = start + len(form.text) + form.after
        yield view.source(max(start - form.before, 0), min(stop, len(view.text)))
        start = view.text.find(form.text, start + 1)


def _unfinished_from(view: View, form: Form) -> int:
    """Return where in a cut text its end begins that may be a beginning of `form`.

    An escape that is not whole may be one too.
    """
    ends = (view.text, view.text[: view.whole])
    return min(view.whole, *(_beginning_of(form, text) for text in ends))


def _beginning_of(form: Form, text: str) -> int:
    """Return where the end of `text` begins that is a beginning of `form`, or the text's length."""
    start = text.find(form.text[0], max(len(text) - len(form.text), 0))
    while start >= 0:
        if form.text.startswith(text[start:]):
            return max(start - form.before, 0)
        start = text.find(form.text[0], start + 1)
    return len(text)
