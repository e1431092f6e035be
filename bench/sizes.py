"""How much each part of the bench does; the command line may change every number."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The numbers that docs/performance.md speaks of."""

    # Runs one after another, and events of the throughput part.
    runs: int = 1_000
    events: int = 5_000
    # What a client posts to `whenthen dev`, and for how long.
    e2e_events_per_s: int = 20
    e2e_s: int = 60
    # Automations in the database, one of them matching; events matched beside each number.
    automations: tuple[int, ...] = (10, 1_000, 100_000)
    matched_events: int = 3_000
    # Actions of an automation; runs executed of each.
    actions: tuple[int, ...] = (1, 10, 50)
    action_runs: int = 100
    # Runs at last; lists are timed with a hundredth and a tenth of them too.
    listed_runs: int = 1_000_000
    list_calls: int = 40
    # Events that one workspace floods the stream with; executors that work on its runs.
    flood: int = 20_000
    executors: int = 2
    # Runs whose requests are counted and whose durations are measured for the cost model.
    cost_runs: int = 300
    # Loads of each function beside the reference; with 0 nothing is built, and nothing loaded.
    cold_start_pairs: int = 7


QUICK = Sizes(
    runs=20,
    events=30,
    e2e_events_per_s=5,
    e2e_s=2,
    automations=(10, 100),
    matched_events=200,
    actions=(1, 2),
    action_runs=5,
    listed_runs=20_000,
    list_calls=2,
    flood=100,
    cost_runs=20,
    cold_start_pairs=0,
)
