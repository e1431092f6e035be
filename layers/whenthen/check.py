"""Refuses a layer that is too large or not compiled: `python check.py LAYER_FOLDER`."""

import importlib.util
import io
import sys
import zipfile
from pathlib import Path

# Lambda's own limit is 250 MB for code and layers together; the less, the quicker a cold start.
UNZIPPED_MAX_MB = 60
MB = 1_000_000
# PEP 552: bit 0 of the flags says "by hash", bit 1 "check the source".
UNCHECKED_HASH = 0b01


def main(folder: Path) -> int:
    """Print the layer's size, unzipped and zipped, and what is wrong with it; 1 if something is."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    unzipped_mb = sum(path.stat().st_size for path in files) / MB
    sys.stdout.write(
        f"layer: {unzipped_mb:.1f} MB unzipped (at most {UNZIPPED_MAX_MB}),"
        f" {zipped_bytes(folder, files) / MB:.1f} MB zipped\n"
    )
    stale = [path for path in files if path.suffix == ".py" and not is_compiled(path)]
    for path in stale:
        sys.stderr.write(f"no bytecode that is taken as it is: {path.relative_to(folder)}\n")
    if unzipped_mb > UNZIPPED_MAX_MB:
        sys.stderr.write("the layer is too large\n")
    return 1 if stale or unzipped_mb > UNZIPPED_MAX_MB else 0


def is_compiled(source: Path) -> bool:
    """Return whether this Python would run the source's bytecode without a look at the source."""
    bytecode = Path(importlib.util.cache_from_source(str(source)))
    if not bytecode.is_file():
        return False
    head = bytecode.read_bytes()[:8]
    is_ours = head[:4] == importlib.util.MAGIC_NUMBER
    return is_ours and int.from_bytes(head[4:8], "little") == UNCHECKED_HASH


def zipped_bytes(folder: Path, files: list[Path]) -> int:
    """Return how large the layer's archive is."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in files:
            written.write(path, path.relative_to(folder))
    return archive.tell()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
