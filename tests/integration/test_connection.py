"""One transaction after another: what is kept, what is given up, and what it costs."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import pg8000.core
import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.engine import Connection

from tests.conftest import settings_for
from tests.integration.transactions import code_of, insert, name_of, new_workspace, rename, value
from whenthen.domain import json_text
from whenthen.store import connection as connection_module
from whenthen.store.connection import Database


@pytest.fixture
def workspace_id(pool: Database) -> UUID:
    return new_workspace(pool)


# -------------------------------------------------------------------------- commit, rollback


def test_what_work_returns_is_returned_and_what_it_wrote_is_kept(
    pool: Database, workspace_id: UUID
) -> None:
    def work(connection: Connection) -> str:
        rename(connection, workspace_id, "after")
        return "done"

    assert pool.transact(work) == "done"
    assert name_of(pool, workspace_id) == "after"


def test_what_work_wrote_is_not_seen_before_it_is_committed(
    pool: Database, workspace_id: UUID
) -> None:
    def work(connection: Connection) -> Any:
        rename(connection, workspace_id, "after")
        return name_of(pool, workspace_id)

    assert pool.transact(work) == "before"


@pytest.mark.parametrize("error", [KeyError("ours"), KeyboardInterrupt()], ids=repr)
def test_an_error_of_work_rolls_back_and_is_raised(
    lone: Database, workspace_id: UUID, error: BaseException
) -> None:
    def work(connection: Connection) -> None:
        rename(connection, workspace_id, "after")
        raise error

    with pytest.raises(type(error)) as raised:
        lone.transact(work)
    assert raised.value is error
    assert name_of(lone, workspace_id) == "before"


@pytest.mark.parametrize(
    "statement",
    ["select 1 / (:x - :x)", "select nothing where :x = 1", "no sql at all :x", "select 1 / 0"],
)
def test_case_123_an_aborted_transaction_never_meets_the_next_one(
    lone: Database, workspace_id: UUID, statement: str
) -> None:
    def work(connection: Connection) -> None:
        rename(connection, workspace_id, "after")
        connection.execute(text(statement), {"x": 1} if ":x" in statement else {})

    with pytest.raises(sqlalchemy.exc.DBAPIError):
        lone.transact(work)
    assert value(lone, "select cast(:x as integer)", x=7) == 7
    assert name_of(lone, workspace_id) == "before"


def test_case_123_a_swallowed_error_does_not_pass_for_a_commit(
    lone: Database, workspace_id: UUID
) -> None:
    def work(connection: Connection) -> None:
        rename(connection, workspace_id, "after")
        with suppress(sqlalchemy.exc.DBAPIError):
            connection.execute(text("select 1 / 0"))

    with pytest.raises(sqlalchemy.exc.DBAPIError):
        lone.transact(work)
    assert name_of(lone, workspace_id) == "before"


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        # Python refuses to read so long a number: the answer is left half read.
        ("select cast(:x as jsonb)", "9" * 5000),
        # No UTF-8 can be made of it: the question is left half sent, good or bad.
        ("select cast(:x as text)", "\ud800"),
        ("select cast(:x as text) from nowhere", "\ud800"),
    ],
    ids=["answer", "question", "bad-question"],
)
def test_case_123_half_a_question_or_answer_never_meets_the_next_one(
    lone: Database, workspace_id: UUID, statement: str, given: str
) -> None:
    def work(connection: Connection) -> None:
        rename(connection, workspace_id, "after")
        connection.execute(text(statement), {"x": given})

    with pytest.raises(ValueError, match=r"limit|surrogates"):
        lone.transact(work)
    assert [value(lone, "select cast(:x as integer)", x=n) for n in range(3)] == [0, 1, 2]
    assert name_of(lone, workspace_id) == "before"


def test_a_transaction_without_statements_is_none(lone: Database) -> None:
    assert lone.transact(lambda _: "nothing") == "nothing"


def test_a_closed_pool_opens_again(pool: Database) -> None:
    assert value(pool, "select 1") == 1
    pool.close()
    pool.close()
    assert value(pool, "select 1") == 1


# --------------------------------------------------------------------------------- timeouts


def test_a_statement_that_runs_on_is_ended_and_may_be_tried_again(pool: Database) -> None:
    started_s = monotonic()
    code = code_of(
        lambda: pool.transact(
            lambda connection: connection.execute(text("select pg_sleep(:s)"), {"s": 60}),
            statement_timeout_ms=50,
        )
    )
    assert code == "DB_TRANSIENT_57014"
    assert monotonic() - started_s < 50


def test_a_lock_that_is_held_on_is_given_up_and_may_be_tried_again(
    pool: Database, workspace_id: UUID
) -> None:
    def holder(connection: Connection) -> str:
        rename(connection, workspace_id, "mine")
        return code_of(
            lambda: pool.transact(
                lambda other: rename(other, workspace_id, "theirs"), lock_timeout_ms=50
            )
        )

    assert pool.transact(holder) == "DB_TRANSIENT_55P03"
    assert name_of(pool, workspace_id) == "mine"


@pytest.mark.parametrize(
    ("setting", "given", "expected"),
    [
        ("lock_timeout", {}, "5s"),
        ("lock_timeout", {"lock_timeout_ms": 50}, "50ms"),
        ("statement_timeout", {}, "30s"),
        ("statement_timeout", {"statement_timeout_ms": 1500}, "1500ms"),
        ("idle_in_transaction_session_timeout", {}, "1min"),
    ],
)
def test_case_123_every_transaction_has_its_timeouts(
    lone: Database, setting: str, given: dict[str, int], expected: str
) -> None:
    def show(connection: Connection) -> Any:
        return connection.execute(text(f"show {setting}")).scalar_one()

    assert lone.transact(show, **given) == expected


def test_a_timeout_ends_with_its_transaction(lone: Database) -> None:
    lone.transact(lambda _: None, lock_timeout_ms=50)
    assert value(lone, "show lock_timeout") == "5s"
    with lone.engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.begin_sql = "begin"
        assert connection.execute(text("show statement_timeout")).scalar_one() == "0"


def test_a_pool_that_is_used_up_is_waited_for_and_then_given_up(
    shared_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "POOL_TIMEOUT_S", 0.05)
    lone = Database(settings_for(shared_url, DATABASE_POOL_SIZE="1"), lambda: ("postgres", None))

    def nested(_connection: Connection) -> None:
        with pytest.raises(sqlalchemy.exc.TimeoutError):
            lone.transact(lambda _: None)

    lone.transact(nested)
    lone.close()


def test_threads_that_come_first_at_once_share_one_pool(shared_url: str) -> None:
    class SlowlyOpened(Database):
        opened = 0
        both = Barrier(2)

        def _open(self) -> sqlalchemy.Engine:
            self.opened += 1
            # Only where a second thread opens as well does this end before its time.
            with suppress(BrokenBarrierError):
                self.both.wait(0.5)
            return super()._open()

    lone = SlowlyOpened(settings_for(shared_url), lambda: ("postgres", None))
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(lambda: lone.engine) for _ in range(2)]
        engines = [future.result() for future in asked]
    lone.close()
    assert len({id(engine) for engine in engines}) == lone.opened == 1


# -------------------------------------------------------------------------------- the clock


def test_the_databases_clock_can_be_turned_for_the_transactions_that_follow(
    lone: Database,
) -> None:
    ahead = "select extract(epoch from whenthen_now() - clock_timestamp())"
    assert float(value(lone, ahead)) == pytest.approx(0, abs=1)
    lone.clock_offset_s = 86_400.5
    assert float(value(lone, ahead)) == pytest.approx(86_400.5, abs=1)
    lone.clock_offset_s = -3_600
    assert float(value(lone, ahead)) == pytest.approx(-3_600, abs=1)
    lone.clock_offset_s = 0
    assert float(value(lone, ahead)) == pytest.approx(0, abs=1)


def test_the_clock_turns_for_the_defaults_of_rows(lone: Database) -> None:
    lone.clock_offset_s = -86_400
    workspace_id = uuid4()
    lone.transact(lambda connection: insert(connection, workspace_id))
    age = "select now() - created_at > interval '23 hours' from workspaces where id = :id"
    assert value(lone, age, id=workspace_id) is True


# ------------------------------------------------------------------------------------- JSON

NUMBERS = (
    '{"id":8202522731445525542,"n":9007199254740993,"amount":1.10,"one":1.0,'
    '"digits":0.1234567890123456789012345,"big":12345678901234567890.5,"minus":-0.00}'
)


def test_case_075_numbers_keep_their_value_through_jsonb(pool: Database) -> None:
    given = json_text.loads(NUMBERS)
    stored = value(pool, "select cast(:given as jsonb)", given=json_text.dumps({"rows": [given]}))
    (row,) = stored["rows"]
    assert {key: str(number) for key, number in row.items()} == {
        "id": "8202522731445525542",
        "n": "9007199254740993",
        "amount": "1.10",
        "one": "1.0",
        "digits": "0.1234567890123456789012345",
        "big": "12345678901234567890.5",
        "minus": "0.00",
    }


def test_case_075_a_number_with_an_exponent_keeps_its_value(pool: Database) -> None:
    given = json_text.dumps(json_text.loads("[1e3,1.50e-7,1E+2,2.5e20]"))
    stored = value(pool, "select cast(:given as jsonb)", given=given)
    assert [float(number) for number in stored] == [1000, 1.5e-7, 100, 2.5e20]


def test_text_of_any_script_is_stored_as_it_is(pool: Database) -> None:
    words = ["Größe", "日本語", "👩‍👩‍👧", "é", "\u2028", '"\\/', "\x01\x7f", "%s %% :x ?"]
    stored = value(pool, "select cast(:given as jsonb)", given=json_text.dumps(words))
    assert stored == words


# ------------------------------------------------------------------------------ round trips


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each time that a driver hands its messages over and waits for the answer."""
    made: list[None] = []
    flush = pg8000.core._flush

    def counting(sock: Any) -> None:
        made.append(None)
        flush(sock)

    monkeypatch.setattr(pg8000.core, "_flush", counting)
    return made


@pytest.mark.parametrize("statements", [1, 5])
def test_a_statement_takes_one_round_trip_begin_none_and_commit_one(
    lone: Database, round_trips: list[None], statements: int
) -> None:
    def work(connection: Connection) -> list[tuple[int, str]]:
        rows = []
        for n in range(statements):
            found = connection.execute(
                text("select cast(:n as integer), cast(:s as text)"), {"n": n, "s": "x"}
            )
            rows.append(tuple(found.one()))
        return rows

    lone.transact(work)
    round_trips.clear()
    assert lone.transact(work) == [(n, "x") for n in range(statements)]
    assert len(round_trips) == statements + 1


def test_a_first_value_that_cannot_be_sent_leaves_no_half_begun_transaction(
    lone: Database,
) -> None:
    with pytest.raises(UnicodeEncodeError):
        lone.transact(lambda c: c.execute(text("select cast(:x as text)"), {"x": "\ud800"}))
    for n in range(3):
        assert value(lone, "select cast(:n as integer)", n=n) == n


def test_a_transaction_that_cannot_begin_runs_nothing(lone: Database, workspace_id: UUID) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError) as raised:
        lone.transact(lambda c: rename(c, workspace_id, "after"), lock_timeout_ms=-2)
    assert "lock_timeout" in str(raised.value)
    assert name_of(lone, workspace_id) == "before"


def test_a_connection_counts_its_statements_without_begin_commit_and_rollback(
    lone: Database,
) -> None:
    def count(connection: Connection) -> int:
        raw: Any = connection.connection.dbapi_connection
        return int(raw.statements)

    before = lone.transact(count)
    lone.transact(lambda c: [c.execute(text("select 1")), c.execute(text("select :x"), {"x": "y"})])
    with pytest.raises(sqlalchemy.exc.DBAPIError):
        lone.transact(lambda c: c.execute(text("select 1 / 0")))
    assert lone.transact(count) == before + 2


def test_an_error_tells_no_parameter(lone: Database) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError) as raised:
        lone.transact(lambda c: c.execute(text("select :x from nowhere"), {"x": "s3cret"}))
    assert "s3cret" not in str(raised.value)
