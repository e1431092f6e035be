"""Which patterns `matches` takes: RE2, which answers in linear time whatever the pattern."""

from typing import Any, Final

# RE2 keeps up to 128 compiled patterns, each of which may grow to this many bytes while it
# searches. Its own default of 8 MiB would let hostile patterns fill a function's memory (measured:
# 3 MB for each that blows up). What needs more to compile, such as \pL{1,200}, is refused.
_MEMORY_MAX_BYTES: Final = 1024 * 1024


class PatternError(ValueError):
    """Raised when RE2 does not take a pattern: bad syntax, look-around, or too large."""


def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern, whose `search(text)` gives a match or None.

    RE2 syntax; the compiled form is cached by the library.

    Raises:
        PatternError: RE2 does not take `pattern`; the reason without the pattern.

    Source: https://github.com/google/re2/wiki/Syntax
    """
    # A native library, loaded only in a process that meets a pattern (15 ms).
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.max_mem = _MEMORY_MAX_BYTES
    options.never_capture = True  # only whether it matches is asked
    options.log_errors = False  # it would write the pattern to stderr, the function's log
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise PatternError("RE2 does not take this pattern") from error
