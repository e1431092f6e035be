"""The queries that docs/operations.md gives to operators run, whatever the rows hold."""

import re
from pathlib import Path
from uuid import uuid4

from sqlalchemy import text

from whenthen.store.connection import Database
from whenthen.store.stream_ends import DeadEvent, end_events

DOCUMENT = Path(__file__).parents[2] / "docs/operations.md"
BLOCK = re.compile(r"^```sql\n(.*?)^```", re.DOTALL | re.MULTILINE)


def queries() -> list[str]:
    blocks = BLOCK.findall(DOCUMENT.read_text("utf-8"))
    # An id is left to the reader.
    text_of_all = "\n".join(blocks).replace("'...'", f"'{uuid4()}'")
    return [one.strip() for one in re.sub(r"--.*", "", text_of_all).split(";") if one.strip()]


def test_every_query_runs_over_bytes_that_are_no_text(database: Database) -> None:
    data = b"\xff\x00 not UTF-8 \xed\xa0\x80"
    database.transact(lambda connection: end_events(connection, [], [DeadEvent("s:1", "r", data)]))
    found = database.transact(
        lambda connection: [connection.execute(text(one)).all() for one in queries()]
    )
    assert len(found) == 4
    assert [tuple(row) for row in found[0]] == [("s:1", "r", r"\377\000 not UTF-8 \355\240\200")]
