"""`python -m bench`: says on standard error what it does, and last prints one line of JSON."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter

from bench.action_growth import action_growth
from bench.cold_start import cold_start
from bench.cost import cost
from bench.durable_postgres import Postgres, durable_postgres
from bench.end_to_end import end_to_end
from bench.figures import Figures
from bench.hot_path import hot_path
from bench.list_growth import list_growth
from bench.machine import machine
from bench.markdown import tables
from bench.matching_growth import matching_growth
from bench.noisy_neighbour import noisy_neighbour
from bench.sizes import QUICK, Sizes

Part = Callable[[Sizes, Postgres], Figures]
PARTS: dict[str, Part] = {
    "hot_path": hot_path,
    "e2e": end_to_end,
    "matching": matching_growth,
    "actions": action_growth,
    "lists": list_growth,
    "neighbour": noisy_neighbour,
    "cost": cost,
    "cold_start": cold_start,
}
# Names that `--only` takes for several parts.
GROUPS = {"growth": ("matching", "actions", "lists")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts that are asked for, or print the tables of an earlier run's figures."""
    asked = _parser().parse_args(arguments)
    if asked.markdown:
        lines = Path(asked.markdown).read_text("utf-8").splitlines()
        print(tables(json.loads(lines[-1])))
        return
    # Ended from outside, too, we leave no server and no folder behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with durable_postgres() as postgres:
        figures = machine(postgres) | {"seconds": {}}
        for name in asked.only or PARTS:
            print(f"bench: {name}", file=sys.stderr, flush=True)
            started_s = perf_counter()
            figures |= PARTS[name](_sizes(asked), postgres)
            figures["seconds"][name] = round(perf_counter() - started_s)
    print(json.dumps(figures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join([*PARTS, *GROUPS])
    parser.add_argument("--only", type=_parts, metavar="PART,PART", help=f"of {names}")
    parser.add_argument(
        "--quick", action="store_true", help="a tiny form, whose figures say little"
    )
    parser.add_argument("--markdown", metavar="FILE", help="print FILE's last line as tables")
    for field in fields(Sizes):
        option = f"--{field.name.replace('_', '-')}"
        is_list = isinstance(field.default, tuple)
        parser.add_argument(option, type=_numbers if is_list else int, help=str(field.default))
    return parser


def _parts(text: str) -> list[str]:
    names = [part for name in text.split(",") for part in GROUPS.get(name, (name,))]
    if unknown := set(names) - set(PARTS):
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(sorted(unknown))}")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _sizes(asked: argparse.Namespace) -> Sizes:
    given = {name.name: getattr(asked, name.name) for name in fields(Sizes)}
    changed = {name: value for name, value in given.items() if value is not None}
    return replace(QUICK if asked.quick else Sizes(), **changed)


if __name__ == "__main__":
    main()
