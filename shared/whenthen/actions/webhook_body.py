"""What is kept of a webhook's answer: never more in memory than the cap, however it is packed."""

import codecs
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpcore

from whenthen.domain import json_text
from whenthen.domain.limits import WEBHOOK_BODY_MAX_BYTES
from whenthen.domain.rules.redact import redact_beginning

_PLAIN: Final = frozenset({"", "identity"})
_ZLIB: Final = frozenset({"gzip", "x-gzip", "deflate"})
# zlib's own flag for "gzip or zlib, whichever header is there".
_EITHER_HEADER: Final = 32 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Body:
    """The first bytes of an answer's body; `is_cut`: there was more, or there may have been."""

    data: bytes
    is_cut: bool


def read_body(chunks: Iterable[bytes], encoding: str) -> Body:
    """Return the body that `chunks` carry in content coding `encoding`, up to the cap.

    Reading stops as soon as the cap is passed. A body that breaks off, is damaged, or comes in a
    coding that we did not ask for and do not know is cut.

    Raises:
        ActionTimeoutError: the deadline passed while the target was still sending.

    """
    if encoding not in _PLAIN | _ZLIB:
        return Body(b"", is_cut=True)
    data = bytearray()
    try:
        for piece in _unpacked(chunks, encoding):
            data += piece
            if len(data) > WEBHOOK_BODY_MAX_BYTES:
                return Body(bytes(data[:WEBHOOK_BODY_MAX_BYTES]), is_cut=True)
    except (httpcore.RemoteProtocolError, OSError, zlib.error, EOFError):
        # The target has said 2xx: it did what it was asked, and asking again would do it twice.
        return Body(bytes(data), is_cut=True)
    return Body(bytes(data), is_cut=False)


def body_value(body: Body, content_type: str, secrets: Sequence[str] = ()) -> Any:
    """Return the value of JSON, else the text, with U+FFFD for what is not UTF-8.

    JSON is what says so, or says nothing, and is one whole JSON text; it keeps its numbers. Of a
    body that was cut, what may be the beginning of one of `secrets` goes from its end.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    says_json = media_type in {"", "application/json"} or media_type.endswith("+json")
    if says_json and not body.is_cut:
        try:
            return json_text.loads(body.data)
        except json_text.JsonError:
            pass
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    # Of a body that was cut the last character may be half there: it goes.
    text = decoder.decode(body.data, final=not body.is_cut)
    return redact_beginning(text, secrets) if body.is_cut else text


def _unpacked(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding in _PLAIN:
        yield from chunks
        return
    inflate = zlib.decompressobj(_EITHER_HEADER)
    ends = True
    for chunk in chunks:
        # One byte above the cap is enough to know that there is more; what is packed beyond it
        # stays packed.
        yield inflate.decompress(chunk, WEBHOOK_BODY_MAX_BYTES + 1)
        ends = inflate.eof
        if ends:
            break
    if not ends:
        raise EOFError
