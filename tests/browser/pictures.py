"""Makes a screenshot small: a PNG of its 256 commonest colours.

Source: PNG (Third Edition), sections 5 (chunks), 9 (filters) and 11.2 (IHDR, PLTE).
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
# Bytes of a pixel by the colour type of 8-bit pictures: RGB, RGBA.
_DEPTHS: Final = {2: 3, 6: 4}
COLOURS_MAX: Final = 256
Colour = tuple[int, int, int]


def shrunk(png: bytes) -> bytes:
    """Return `png` with a palette; a rarer colour becomes the nearest one that is in it."""
    chunks = list(_chunks(png))
    width, height, _, colour_type = struct.unpack_from(">IIBB", chunks[0][1])
    data = zlib.decompress(b"".join(held for kind, held in chunks if kind == b"IDAT"))
    rows = list(_rows(data, width, _DEPTHS[colour_type]))
    palette, places = _palette(Counter(colour for row in rows for colour in row))
    packed = b"".join(b"\0" + bytes(places[colour] for colour in row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return _SIGNATURE + b"".join(
        _chunk(kind, held)
        for kind, held in (
            (b"IHDR", head),
            (b"PLTE", b"".join(bytes(colour) for colour in palette)),
            (b"IDAT", zlib.compress(packed, 9)),
            (b"IEND", b""),
        )
    )


def _palette(counts: Counter[Colour]) -> tuple[list[Colour], dict[Colour, int]]:
    palette = [colour for colour, _ in counts.most_common(COLOURS_MAX)]

    def nearest(colour: Colour) -> int:
        return min(
            range(len(palette)),
            key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour, strict=True)),
        )

    known = {colour: place for place, colour in enumerate(palette)}
    rare = {colour: nearest(colour) for colour in counts.keys() - known.keys()}
    return palette, known | rare


def _rows(data: bytes, width: int, depth: int) -> Iterator[list[Colour]]:
    """Undo the filters, row by row."""
    stride = width * depth
    above = bytearray(stride)
    for start in range(0, len(data), stride + 1):
        row = bytearray(data[start + 1 : start + 1 + stride])
        _unfilter(data[start], row, above, depth)
        yield [(row[i], row[i + 1], row[i + 2]) for i in range(0, stride, depth)]
        above = row


def _unfilter(kind: int, row: bytearray, above: bytearray, depth: int) -> None:
    for i in range(len(row)):
        left = row[i - depth] if i >= depth else 0
        up = above[i]
        match kind:
            case 1:
                row[i] = (row[i] + left) & 255
            case 2:
                row[i] = (row[i] + up) & 255
            case 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            case 4:
                corner = above[i - depth] if i >= depth else 0
                row[i] = (row[i] + _paeth(left, up, corner)) & 255


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
