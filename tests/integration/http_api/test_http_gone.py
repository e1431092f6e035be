"""Rows that go, or never were, between the check of a permission and the use of the row."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy
from sqlalchemy.engine import Connection

from tests.integration.http_api.client import Api
from whenthen.domain.errors import NotFoundError
from whenthen.domain.kinds import Role
from whenthen.domain.rules.permissions import Access
from whenthen.domain.schemas.automations import StatusBody
from whenthen.domain.schemas.data import PatchDatabase
from whenthen.engine import (
    edit_definition,
    manage_automations,
    manage_databases,
    write_pages,
    write_records,
)
from whenthen.engine.identify import Caller
from whenthen.store import automation_triggers
from whenthen.store.automation_triggers import TriggerRow
from whenthen.store.new_id import new_id

CALLER = Caller(uuid4(), uuid4(), Access(Role.OWNER))
STATUS = StatusBody(status="ACTIVE")  # type: ignore[arg-type]  # as JSON writes it
USES: list[Callable[[Connection], Any]] = [
    lambda connection: edit_definition.detail_of(connection, uuid4()),
    lambda connection: manage_automations.set_status(connection, CALLER, uuid4(), STATUS),
    lambda connection: manage_databases.database(connection, uuid4()),
    lambda connection: manage_databases.patch(connection, uuid4(), PatchDatabase()),
    lambda connection: write_pages.page(connection, uuid4()),
    lambda connection: write_records.record(connection, uuid4()),
    lambda connection: write_records.update(connection, CALLER, uuid4(), {}),
    lambda connection: write_records.delete(connection, CALLER, uuid4()),
]


@pytest.fixture(scope="module")
def api(module_api: Api) -> Api:
    return module_api


@pytest.mark.parametrize("use", USES)
def test_a_row_that_is_gone_is_not_found(api: Api, use: Callable[[Connection], Any]) -> None:
    with pytest.raises(NotFoundError):
        api.context.database.transact(use)


def test_only_a_taken_secret_is_told_as_one(api: Api) -> None:
    row = TriggerRow(new_id(), "PAGE_CREATED", None, {})
    with pytest.raises(sqlalchemy.exc.DBAPIError):
        api.context.database.transact(
            lambda connection: automation_triggers.replace(connection, uuid4(), uuid4(), [row])
        )
