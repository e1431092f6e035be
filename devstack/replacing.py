"""Puts other behaviour into a class of moto's."""

from typing import Any


def replace(owner: Any, **behaviour: Any) -> None:
    """Give `owner` these attributes in place of its own, for the rest of the process."""
    for name, value in behaviour.items():
        setattr(owner, name, value)
