"""The console's files, read once, when the first of them is asked for: a cold start reads none."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

# Stands in index.html for the build, so that all files of a build are cached for good.
BUILD_MARK: Final = "/console/VERSION/"
INDEX: Final = "index.html"
MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOLDER: Final = Path(__file__).with_name("console")


@dataclass(frozen=True)
class File:
    """A file, served as it lies in its folder."""

    media_type: str
    text: str

    @cached_property
    def etag(self) -> str:
        """The digest of the text, weak since it stands for the text in gzip too."""
        return f'W/"{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"'

    @cached_property
    def zipped(self) -> bytes:
        """The text in gzip: API Gateway's HTTP APIs compress nothing themselves."""
        import gzip  # noqa: PLC0415  # no other request waits for it

        return gzip.compress(self.text.encode(), mtime=0)


@dataclass(frozen=True)
class Site:
    """All files by their names, `build` in the address of each but index.html's."""

    build: str
    files: Mapping[str, File]
    index: str


@cache
def site() -> Site:
    """Return the files that this process serves; another file or byte makes another build."""
    texts = {path.name: path.read_text("utf-8") for path in sorted(_FOLDER.iterdir())}
    whole = "\0".join(part for pair in texts.items() for part in pair)
    build = hashlib.sha256(whole.encode()).hexdigest()[:16]
    index = texts.pop(INDEX).replace(BUILD_MARK, f"/console/{build}/")
    files = {name: File(MEDIA_TYPES[Path(name).suffix], text) for name, text in texts.items()}
    return Site(build, files, index)
