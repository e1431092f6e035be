"""Secrets that are easily recognised, and where to look for them."""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from tests.integration.engine_world import World
from whenthen.domain import json_text

# Each with what URLs, JSON, HTML and base64 write in their own ways.
IN_HEADER = 'hdr7Qz/+&é"\\<>%41~K9x'
IN_BODY = 'bdy3Vw/+&é"\\<>%41\n~R4pﬀ'
IN_KEY = "whsec_" + base64.b64encode(bytes(range(160, 192))).decode()
CANARIES = {"IN_HEADER": IN_HEADER, "IN_BODY": IN_BODY, "IN_KEY": IN_KEY}

# So much of a secret, in whichever form, is no accident.
STRETCH_CHARS = 8


def written(secret: str) -> Iterator[str]:
    """The forms in which a secret might be written down."""
    yield secret
    yield from (quote(secret, safe=""), quote(secret), quote_plus(secret))
    yield from (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1]
    for offset in range(3):
        # Without the characters that hold something else too.
        data = bytes(offset) + secret.encode()
        yield base64.b64encode(data).decode().rstrip("=")[offset and offset + 1 : -1]
        yield base64.urlsafe_b64encode(data).decode().rstrip("=")[offset and offset + 1 : -1]
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        yield secret.removeprefix("whsec_").rstrip("=")
        yield key.hex()


def shown(texts: Iterable[str], secrets: Iterable[str] = CANARIES.values()) -> list[str]:
    """Every stretch of a secret that one of `texts` shows."""
    stretches = {
        form[start : start + STRETCH_CHARS]
        for secret in secrets
        for form in written(secret)
        for start in range(len(form) - STRETCH_CHARS + 1)
    }
    whole = "\n\n".join(texts)
    return sorted(stretch for stretch in stretches if stretch in whole)


def landmarks(secret: str) -> set[bytes]:
    """Beginning, middle and end of each form, for what is too large to look for every stretch."""
    return {
        form[start : start + STRETCH_CHARS].encode()
        for form in written(secret)
        for start in (0, len(form) // 2 - STRETCH_CHARS // 2, len(form) - STRETCH_CHARS)
    }


def everything_stored(world: World) -> Iterator[str]:
    """Every value of every column of every table, as text."""
    columns = world.sql(
        "select table_name as t, column_name as c from information_schema.columns"
        " where table_schema = 'public'"
    )
    for column in columns:
        values = world.sql(f'select "{column["c"]}" as value from "{column["t"]}"')
        for row in values:
            yield from _texts(row["value"])


def _texts(value: Any) -> Iterator[str]:
    match value:
        case None:
            return
        case bytes() | memoryview():
            yield bytes(value).decode("utf-8", "replace")
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            yield json_text.dumps(value)
            for key, item in value.items():
                yield key
                yield from _texts(item)
        case _:
            yield str(value)
