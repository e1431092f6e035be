"""What a batch function's answer says about each item, by Lambda's rules.

Source: AWS Lambda Developer Guide, "Reporting batch item failures" of SQS and of Kinesis.
"""

from collections.abc import Collection
from typing import Any


def failed_items(answer: Any, identifiers: Collection[str]) -> set[str] | None:
    """Return the identifiers that failed; None when the whole batch counts as failed.

    An empty answer or an empty list is a success. Anything unreadable fails the whole batch: no
    list, an entry without `itemIdentifier`, an empty one, or one that is not of this batch.
    """
    if not answer:
        return set()
    if not isinstance(answer, dict):
        return None
    entries = answer.get("batchItemFailures")
    if entries is None:
        return set()
    if not isinstance(entries, list):
        return None
    failed: set[str] = set()
    for entry in entries:
        identifier = entry.get("itemIdentifier") if isinstance(entry, dict) else None
        if not isinstance(identifier, str) or identifier not in identifiers:
            return None
        failed.add(identifier)
    return failed
