"""`whenthen cron preview`: when a schedule would fire, by the engine's own clock."""

import argparse
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cli.api import api_from_environment
from cli.terminal import print_json, print_table


def preview(options: argparse.Namespace) -> int:
    """Print the next instants, in UTC and as the clocks of the zone show them."""
    wanted = {
        "cron": options.expression,
        "timeZone": options.tz,
        "after": options.after,
        "count": options.count,
    }
    body = {name: value for name, value in wanted.items() if value is not None}
    answer = api_from_environment().call("POST", "/schedules/preview", body)
    if options.json:
        print_json(answer)
    else:
        zone = answer["timeZone"]
        print_table(("UTC", zone), [(one, _local(one, zone)) for one in answer["next"]])
    return 0


def _local(instant: str, zone: str) -> Any:
    try:
        return datetime.fromisoformat(instant).astimezone(ZoneInfo(zone)).strftime("%a %F %T %z")
    except (ZoneInfoNotFoundError, ValueError):
        # The deployment may know zones that this machine does not.
        return None
