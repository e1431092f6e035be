"""An answer that is a file and not JSON."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Served:
    """What goes on the wire as it is; without a media type there is no body."""

    media_type: str | None
    body: str | bytes
    headers: Mapping[str, str]
