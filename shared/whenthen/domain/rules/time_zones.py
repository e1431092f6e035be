"""Which time zones there are: those of the IANA database, by the names it has for them."""

from functools import cache
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from whenthen.domain.rules.schedule_error import TimeZoneError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_MESSAGE: Final = "is not the name of a time zone, such as Europe/Paris"


# At most as many as there are names: what is refused is not kept.
@cache
def time_zone(name: str) -> ZoneInfo:
    """Return the zone that is called exactly `name`: `Europe/Paris`, not `europe/paris`.

    The names are those that the package `tzdata` lists, and its data are read. `ZoneInfo(name)`
    would prefer the host's database, which may be absent or years old, and where file names have
    no case would find a zone in any spelling.

    Raises:
        TimeZoneError: the list does not have the name.

    Source: https://tzdata.readthedocs.io, "zones".
    """
    if name not in _names():
        raise TimeZoneError(_MESSAGE)
    with _tzdata().joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


@cache
def _names() -> frozenset[str]:
    return frozenset(_tzdata().joinpath("zones").read_text("ascii").split())


def _tzdata() -> "Traversable":
    # Costs 10 ms, which a process that meets no schedule need not pay.
    from importlib.resources import files  # noqa: PLC0415

    return files("tzdata")
