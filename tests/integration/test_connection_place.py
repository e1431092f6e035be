"""Where the database is, and with which credentials it is asked."""

from typing import Any

import pytest
import sqlalchemy

from tests.conftest import settings_for
from tests.integration.transactions import value
from whenthen.store.connection import Database

SECRET = ("app", 'p"w')


def arguments(**environ: str) -> dict[str, Any]:
    made = Database(settings_for(**{"url": "", **environ}), lambda: SECRET)
    return made._arguments()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://",
            {
                "user": "postgres",
                "password": None,
                "database": "postgres",
                "host": "localhost",
                "port": 5432,
            },
        ),
        (
            "postgresql://app:p%40w@db.internal:6543/engine",
            {
                "user": "app",
                "password": "p@w",
                "database": "engine",
                "host": "db.internal",
                "port": 6543,
            },
        ),
        (
            "postgresql://app@/engine?host=/run/postgres",
            {
                "user": "app",
                "password": None,
                "database": "engine",
                "unix_sock": "/run/postgres/.s.PGSQL.5432",
            },
        ),
    ],
)
def test_a_url_says_where_the_database_is(url: str, expected: dict[str, Any]) -> None:
    assert arguments(url=url) == expected


def test_a_host_is_asked_with_the_secret_and_its_certificate_is_checked() -> None:
    found = arguments(DATABASE_HOST="db.internal", DATABASE_SECRET_ARN="arn:secret")
    tls = found.pop("ssl_context")
    assert (tls.check_hostname, tls.verify_mode.name) == (True, "CERT_REQUIRED")
    assert found == {
        "user": "app",
        "password": 'p"w',
        "database": "whenthen",
        "host": "db.internal",
        "port": 5432,
    }


@pytest.mark.parametrize(
    ("host", "ssl", "place"),
    [
        ("db.internal", "false", {"host": "db.internal", "port": 6543}),
        ("/run/postgres", "true", {"unix_sock": "/run/postgres/.s.PGSQL.6543"}),
        ("/run/postgres", "false", {"unix_sock": "/run/postgres/.s.PGSQL.6543"}),
    ],
)
def test_without_encryption_or_through_a_socket_there_is_no_tls(
    host: str, ssl: str, place: dict[str, Any]
) -> None:
    found = arguments(
        DATABASE_HOST=host,
        DATABASE_PORT="6543",
        DATABASE_SSL=ssl,
        DATABASE_SECRET_ARN="arn:secret",
    )
    assert found == {"user": "app", "password": 'p"w', "database": "whenthen", **place}


def test_rotated_credentials_are_asked_for_again_with_every_new_connection(shared_url: str) -> None:
    name, _, folder = shared_url.removeprefix("postgresql://postgres@/").partition("?host=")
    users = ["nobody_any_more", "postgres"]
    rotated = Database(
        settings_for(
            "", DATABASE_HOST=folder, DATABASE_NAME=name, DATABASE_SECRET_ARN="arn:secret"
        ),
        lambda: (users.pop(0), None),
    )
    with pytest.raises(sqlalchemy.exc.DBAPIError):
        value(rotated, "select 1")
    assert value(rotated, "select current_user") == "postgres"
    rotated.close()
