"""A data folder belongs to one stack, and outlives it."""

import json
import stat
from pathlib import Path
from uuid import UUID

import pytest

from devstack.data_folder import DataFolder
from devstack.errors import StackError
from devstack.ready_file import Ready, write_ready_file
from devstack.seed import seed
from whenthen.domain.rules.permissions import Subject
from whenthen.store import access, tenants
from whenthen.store.connection import Database


def test_a_second_stack_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    held = DataFolder(tmp_path)
    with pytest.raises(StackError, match="another stack runs on"):
        DataFolder(tmp_path)
    held.close()
    DataFolder(tmp_path).close()


def test_emptying_leaves_the_folder_to_its_holder(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18")
    (tmp_path / "events.jsonl").write_text("{}")
    held = DataFolder(tmp_path)
    held.empty()
    assert [item.name for item in tmp_path.iterdir()] == [".lock"]
    held.close()


def test_a_restart_finds_its_tokens_again(database: Database, tmp_path: Path) -> None:
    first = seed(database, tmp_path)
    assert seed(database, tmp_path) == first
    assert stat.S_IMODE((tmp_path / "seed.json").stat().st_mode) == 0o600


def test_tokens_of_another_database_are_not_taken(database: Database, tmp_path: Path) -> None:
    first = seed(database, tmp_path)
    kept = json.loads((tmp_path / "seed.json").read_text())
    kept["demo"]["token"] = "wt_of_another_database"
    (tmp_path / "seed.json").write_text(json.dumps(kept))
    assert seed(database, tmp_path) != first


def test_the_seeded_tokens_have_the_roles_they_say(database: Database, tmp_path: Path) -> None:
    seeded = seed(database, tmp_path)

    def role(token: str) -> str | None:
        digest = tenants.hash_of(token)
        workspace = UUID(seeded.demo.workspace_id)
        standing = database.transact(
            lambda connection: access.of_token(connection, digest, Subject.WORKSPACE, workspace)
        )
        return standing.access.role if standing else None

    assert role(seeded.demo.token) == "OWNER"
    assert role(seeded.viewer_token) == "VIEWER"
    assert role(seeded.other.token) is None


def test_the_ready_file_says_where_everything_is(database: Database, tmp_path: Path) -> None:
    seeded = seed(database, tmp_path)
    path = tmp_path / "new folder" / "ready.json"
    ready = Ready("http://127.0.0.1:1", seeded, "postgresql://x", tmp_path / "stack.log")
    write_ready_file(path, ready, {"F": [1, 2]})
    assert json.loads(path.read_text()) == {
        "url": "http://127.0.0.1:1",
        "token": seeded.demo.token,
        "workspaceId": seeded.demo.workspace_id,
        "databaseId": seeded.demo.database_id,
        "viewerToken": seeded.viewer_token,
        "otherWorkspace": {
            "workspaceId": seeded.other.workspace_id,
            "databaseId": seeded.other.database_id,
            "token": seeded.other.token,
        },
        "databaseUrl": "postgresql://x",
        "logFile": str(tmp_path / "stack.log"),
        "pids": {"F": [1, 2]},
    }
    assert [item.name for item in path.parent.iterdir()] == ["ready.json"]
