"""Keeps the emulated KMS keys beside the data, since what they encrypted is kept there too."""

import hashlib
import itertools
import os
import uuid
from pathlib import Path

import moto.kms.models

from devstack.replacing import replace

SEED_BYTES = 32


def keep_keys(folder: Path) -> None:
    """Let the n-th key that moto makes from now on be the n-th of every start on `folder`."""
    seed = _seed(folder / "keys.seed")
    ids, materials = itertools.count(), itertools.count()

    def derived(what: str, n: int) -> bytes:
        return hashlib.sha256(seed + f"{what} {n}".encode()).digest()

    replace(
        moto.kms.models,
        generate_key_id=lambda _multi_region: str(
            uuid.UUID(bytes=derived("id", next(ids))[:16], version=4)
        ),
        generate_master_key=lambda: derived("material", next(materials)),
    )


def _seed(path: Path) -> bytes:
    if not path.exists():
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(SEED_BYTES))
        temporary.replace(path)
    return path.read_bytes()
