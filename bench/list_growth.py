"""How long lists, one run and the statistics take with few and with a million runs kept."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any, NamedTuple

from sqlalchemy import text

from bench.api_calls import Api, Query, api_of_owner
from bench.durable_postgres import Postgres
from bench.engine_database import EngineDatabase, engine_database
from bench.figures import Figures, quantile, shape
from bench.many_runs import add_runs
from bench.sizes import Sizes
from bench.triage import Triage

AUTOMATIONS = 10
# Rows of a page: so many there are at every stage, so that no page costs more for being fuller.
PAGE = "20"
# Shares of the runs at last with which everything is timed.
STAGES = (100, 10, 1)
WARM_UP = 5


class Call(NamedTuple):
    """What is timed; `deep` begins after the runs that were the newest ones of the first stage."""

    name: str
    path: str
    query: Query
    deep: bool = False


class _Cost(NamedTuple):
    """The median time of a call, and the blocks of 8 KB that the server looks at for one."""

    p50_ms: float
    blocks: float


def list_growth(sizes: Sizes, postgres: Postgres) -> Figures:
    """Time each call of the HTTP API's handler, at each stage of the history."""
    with engine_database(postgres) as engine:
        triage = Triage(engine.database)
        triage.set_up(AUTOMATIONS)
        api = api_of_owner(engine, triage)
        stages = [sizes.listed_runs // share for share in STAGES]
        costs: dict[str, list[_Cost]] = {}
        cursors: dict[str, str] = {}
        have = 0
        for n in stages:
            add_runs(engine.url, triage, have + 1, n)
            have = n
            for call in _calls(engine, api, triage):
                query = {"limit": PAGE, **_begun(api, call, cursors)}
                cost = _cost(engine, api, call.path, query, sizes.list_calls)
                costs.setdefault(call.name, []).append(cost)
        api.close()
    calls = {name: _curve(stages, curve) for name, curve in costs.items()}
    return {"growth_lists": {"runs": stages, "calls": calls}}


def _curve(stages: Sequence[int], costs: Sequence[_Cost]) -> Figures:
    """Return a call's figures; its shape is that of what grew less, its time or its blocks.

    So neither a busy moment nor another plan that is as fast counts as growth.
    """
    times_ms, blocks = [one.p50_ms for one in costs], [one.blocks for one in costs]
    grew_less = min(times_ms, blocks, key=lambda curve: curve[-1] / curve[0])
    return {
        "p50_ms": [round(one, 2) for one in times_ms],
        "blocks": [round(one) for one in blocks],
        "shape": shape(stages, grew_less),
    }


def _calls(engine: EngineDatabase, api: Api, triage: Triage) -> list[Call]:
    """Return what to time; what names a run or an instant does so of the newest."""
    workspace = f"/workspaces/{triage.workspace_id}"
    every, one = f"{workspace}/runs", f"/automations/{triage.matching_id}/runs"
    newest = api.get(every, {"limit": "1"})["data"][0]
    until = datetime.fromisoformat(newest["createdAt"])
    day = {"from": (until - timedelta(days=1)).isoformat(), "to": newest["createdAt"]}
    return [
        Call("runs of a workspace", every, {}),
        Call("runs of a workspace, deep page", every, {}, deep=True),
        *(
            Call(f"runs of a workspace that are {status}", every, {"status": status})
            for status in ("SUCCEEDED", "FAILED", "DEAD_LETTER", "RUNNING")
        ),
        Call("runs of a workspace, FAILED, deep page", every, {"status": "FAILED"}, deep=True),
        Call("runs of a workspace, one record", every, {"recordId": "record-7"}),
        Call("runs of a workspace, one chain", every, {"rootRunId": newest["rootRunId"]}),
        Call("runs of a workspace, one day", every, day),
        Call(
            "runs of a workspace, one automation that are RUNNING",
            every,
            {"automationId": str(triage.matching_id), "status": "RUNNING"},
        ),
        Call("runs of an automation", one, {}),
        Call("runs of an automation, deep page", one, {}, deep=True),
        *(
            Call(f"runs of an automation that are {status}", one, {"status": status})
            for status in ("SUCCEEDED", "FAILED", "RUNNING")
        ),
        Call(
            "runs of an automation that fails ever since, SUCCEEDED",
            f"/automations/{_failing(engine, triage)}/runs",
            {"status": "SUCCEEDED"},
        ),
        Call("one run with steps and log", f"{one}/{_whole_run(engine, triage)}", {}),
        Call("statistics of a day", f"{workspace}/automations/stats", day),
    ]


def _begun(api: Api, call: Call, cursors: dict[str, str]) -> Query:
    """Return the call's query, with the cursor that its first page gave at the first stage.

    Since then all that came is newer, so the cursor lies the deeper the more runs there are.
    """
    if not call.deep:
        return call.query
    if call.name not in cursors:
        cursors[call.name] = api.get(call.path, {**call.query, "limit": "1"})["nextCursor"]
    return {**call.query, "cursor": cursors[call.name]}


def _cost(engine: EngineDatabase, api: Api, path: str, query: Query, calls: int) -> _Cost:
    for _ in range(WARM_UP):
        api.get(path, query)
    before = _blocks(engine, api)
    times_ms = []
    for _ in range(calls):
        started_s = perf_counter()
        api.get(path, query)
        times_ms.append((perf_counter() - started_s) * 1_000)
    return _Cost(quantile(times_ms, 0.5), (_blocks(engine, api) - before) / calls)


def _blocks(engine: EngineDatabase, api: Api) -> int:
    api.hand_over_counts()
    return engine.database.transact(lambda connection: int(connection.scalar(_BLOCKS)))


_BLOCKS = text(
    "select blks_hit + blks_read from pg_stat_database where datname = current_database()"
)


def _failing(engine: EngineDatabase, triage: Triage) -> Any:
    """Return the automation whose runs have failed ever since the first ones."""
    values = {"workspace_id": triage.workspace_id}
    return engine.database.transact(lambda c: c.execute(_FAILING, values).scalar_one())


_FAILING = text(
    "select id from automations where workspace_id = :workspace_id order by id limit 1 offset 1"
)


def _whole_run(engine: EngineDatabase, triage: Triage) -> Any:
    """Return the newest run of the matching automation that has its steps and its log."""
    return engine.database.transact(
        lambda connection: connection.execute(
            _WHOLE_RUN, {"automation_id": triage.matching_id}
        ).scalar_one()
    )


_WHOLE_RUN = text(
    """
    select id from automation_runs r
    where automation_id = :automation_id
        and exists (select from automation_run_steps s where s.run_id = r.id)
    order by created_at desc limit 1
    """
)
