"""What the events about records, pages and forms say: their payloads, as plain JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID


def record_created(
    database_id: UUID, record_id: UUID, properties: Mapping[str, Any], version: int
) -> dict[str, Any]:
    """Return the payload of `record.created`.

    ::

        {"databaseId": "019…", "recordId": "019…", "recordVersion": 1,
         "properties": {"Name": "Leaking tap", "Status": "B"}}
    """
    return {
        "databaseId": str(database_id),
        "recordId": str(record_id),
        "recordVersion": version,
        "properties": dict(properties),
    }


def form_submitted(
    database_id: UUID, record_id: UUID, properties: Mapping[str, Any], version: int
) -> dict[str, Any]:
    """Return the payload of `form.submitted`, which names the record that the form created."""
    return record_created(database_id, record_id, properties, version)


def record_updated(  # noqa: PLR0913 - one parameter for each key of the payload
    database_id: UUID,
    record_id: UUID,
    properties: Mapping[str, Any],
    version: int,
    *,
    changed_properties: Sequence[str],
    previous: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the payload of `record.updated`.

    As `record_created`, with the new values in `properties`, and

    ::

        {"changedProperties": ["Status"], "previous": {"Status": "A"}}

    `previous` may be the whole old record: only what changed is kept, null where it was absent.
    """
    return {
        **record_created(database_id, record_id, properties, version),
        "changedProperties": list(changed_properties),
        "previous": {name: previous.get(name) for name in changed_properties},
    }


def page_created(page_id: UUID, parent_id: UUID | None, title: str) -> dict[str, Any]:
    """Return the payload of `page.created`: `{"pageId": "019…", "parentId": null, "title": "…"}`.

    The content stays out: it may be large, and nobody matches on it.
    """
    return {
        "pageId": str(page_id),
        "parentId": None if parent_id is None else str(parent_id),
        "title": title,
    }
