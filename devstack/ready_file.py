"""Tells a waiting program that the stack is ready, and where everything is."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devstack.seed import Seed


@dataclass(frozen=True, slots=True)
class Ready:
    """What the ready file says, apart from the processes, which change."""

    url: str
    seed: Seed
    database_url: str
    log_file: Path


def write_ready_file(path: Path, ready: Ready, pids: Mapping[str, list[int]]) -> None:
    """Write the file whole or not at all; it holds tokens, so only its owner may read it."""
    demo, other = ready.seed.demo, ready.seed.other
    content = {
        "url": ready.url,
        "token": demo.token,
        "workspaceId": demo.workspace_id,
        "databaseId": demo.database_id,
        "viewerToken": ready.seed.viewer_token,
        "otherWorkspace": {
            "workspaceId": other.workspace_id,
            "databaseId": other.database_id,
            "token": other.token,
        },
        "databaseUrl": ready.database_url,
        "logFile": str(ready.log_file.resolve()),
        "pids": dict(pids),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
    temporary.replace(path)
