"""Mails about deaths: to the right people, at most once, and in nobody's way."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import boto3
import pytest
from moto.ses.models import ses_backends

import dlq_notifier.handler
from devstack.emulated_aws import ACCOUNT_ID
from tests.conftest import settings_for
from tests.integration.conftest import Aws
from tests.integration.engine_world import World
from tests.integration.mail_servers import (
    HOST,
    Mailroom,
    Script,
    hangs,
    mailroom,
    network,
    parsed,
    says,
)
from tests.integration.test_failures import UNAVAILABLE, WEBHOOK, Target
from tests.integration.test_handlers import metric_values, sqs_event
from whenthen.actions.mailing import Ways
from whenthen.actions.registry import clear_test_executors, register_test_executor
from whenthen.domain.kinds import ActionType
from whenthen.domain.schemas import notices
from whenthen.domain.schemas.notices import DeathNotice
from whenthen.engine import composition
from whenthen.engine.context import Context
from whenthen.engine.mail_deaths import mail_deaths
from whenthen.engine.report_deaths import report_death
from whenthen.store.new_id import new_id

SENDER = "bot@whenthen.example"


@pytest.fixture
def room() -> Iterator[Mailroom]:
    with mailroom() as room:
        yield room


@pytest.fixture
def world(migrated_url: str, aws: Aws) -> Iterator[World]:
    """A world whose deployment mails through `mail.example`."""
    settings = settings_for(
        migrated_url,
        EVENT_STREAM_NAME=aws.stream,
        RUN_QUEUE_URL=aws.queue_url,
        NOTICE_QUEUE_URL=aws.notice_url,
        PUBLIC_URL="https://team.example",
        MAIL_FROM=SENDER,
        SMTP_HOST=HOST,
        SMTP_SECURITY="none",
    )
    context = Context(settings, "test")
    yield World(context)
    context.database.close()
    clear_test_executors()


def dead_run(world: World) -> UUID:
    register_test_executor(ActionType.SEND_WEBHOOK, Target(UNAVAILABLE))
    world.add_automation([{**WEBHOOK, "retries": 0}])
    world.match(world.created_event(world.add_record()))
    world.execute()
    run_id: UUID = world.runs()[-1]["id"]
    return run_id


def tell(world: World, port: int, *run_ids: UUID) -> int:
    """Let the notifier see to the first death of each run; return how many mails have failed."""
    found = [report_death(world.context, DeathNotice(run_id, 1)) for run_id in run_ids]
    mail_deaths(world.context, [one for one in found if one], Ways(network=network(port)))
    return world.context.metrics._counts["automations.death_mails_failed", ()]


def told(world: World) -> int:
    return len(world.sql("select 1 from notifications"))


def test_owners_and_admins_get_a_mail_each_that_says_what_the_notification_says(
    world: World, room: Mailroom
) -> None:
    admin = world.add_member(new_id(), "ADMIN")
    world.add_member(new_id(), "EDITOR")
    run_id = dead_run(world)
    assert tell(world, room.port, run_id) == 0
    assert sorted(room.recipients) == sorted([f"{u}@x.test"] for u in (world.owner_id, admin))
    message = parsed(room.raw[0])
    assert (message["From"], message["Subject"]) == (SENDER, 'Automation "Triage" dead-lettered')
    assert message.get_content().replace("\r\n", "\n") == (
        "Failed after 1 attempts: WEBHOOK_HTTP_RETRIABLE — answered 503\n\n"
        f"Run {run_id}, https://team.example/\n"
    )
    ids = {parsed(raw)["X-Whenthen-Id"] for raw in room.raw}
    assert ids == {f"<death_{run_id}_1_{user}>" for user in (world.owner_id, admin)}


def test_a_death_that_is_told_again_is_not_mailed_again(world: World, room: Mailroom) -> None:
    run_id = dead_run(world)
    for _ in range(3):
        tell(world, room.port, run_id)
    assert len(room.raw) == 1


def test_a_process_that_dies_before_the_mail_loses_it_and_nobody_doubles_it(
    world: World, room: Mailroom
) -> None:
    run_id = dead_run(world)
    assert report_death(world.context, DeathNotice(run_id, 1)) is not None
    assert tell(world, room.port, run_id) == 0
    assert (room.raw, told(world)) == ([], 1)


def test_a_user_whose_address_is_refused_does_not_keep_the_others_from_their_mail(
    world: World, room: Mailroom
) -> None:
    world.add_member(new_id(), "ADMIN")
    room.answers = {f"{world.owner_id}@x.test": "550 no such user"}
    assert tell(world, room.port, dead_run(world)) == 1
    assert (len(room.raw), told(world)) == (1, 2)


@pytest.mark.parametrize("email", [None, "ä@x.test"])
def test_a_user_whom_no_mail_can_reach_is_told_in_the_product_only(
    world: World, room: Mailroom, email: str | None
) -> None:
    world.sql("update users set email = :e", e=email)
    assert tell(world, room.port, dead_run(world)) == 0
    assert (room.raw, told(world)) == ([], 1)


@pytest.mark.parametrize(
    "behaviour",
    [hangs, says(b"421 busy\r\n"), says(b"220 hello\r\n")],
    ids=["hangs", "busy", "hangs up"],
)
def test_a_broken_mail_server_is_asked_once_and_everybody_is_told_in_the_product(
    world: World, behaviour: Any
) -> None:
    run_ids = [dead_run(world), dead_run(World(world.context))]
    server = Script(behaviour)
    assert tell(world, server.port, *run_ids) == told(world)
    assert (server.accepted, told(world) >= 2) == (1, True)
    server.close()


def test_a_name_with_a_line_break_adds_no_header(world: World, room: Mailroom) -> None:
    run_id = dead_run(world)
    world.sql("update automations set name = :n", n="x\r\nBcc: eve@x.test")
    tell(world, room.port, run_id)
    message = room.the_message()
    assert message["Subject"] == 'Automation "x Bcc: eve@x.test" dead-lettered'
    assert "Bcc" not in message


def test_a_deployment_without_a_sender_mails_nothing(context: Context) -> None:
    world = World(context)
    announced = report_death(context, DeathNotice(dead_run(world), 1))
    assert announced is not None
    assert announced.addresses == {}
    mail_deaths(context, [announced])
    assert told(world) == 1
    clear_test_executors()


def test_the_notifier_mails_by_ses(
    world: World, aws: Aws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boto3.client("sesv2").create_email_identity(EmailIdentity=SENDER)
    monkeypatch.setenv("DATABASE_URL", str(world.context.settings.database_url))
    monkeypatch.setenv("MAIL_FROM", SENDER)
    composition.process_context.cache_clear()
    body = notices.encode(DeathNotice(dead_run(world), 1))
    for _ in range(2):
        dlq_notifier.handler.lambda_handler(sqs_event(body, body), object())
    (sent,) = ses_backends[ACCOUNT_ID]["eu-west-1"].sent_messages
    assert sent.destinations == [f"{world.owner_id}@x.test"]
    output = capsys.readouterr()
    counted = metric_values(output.out + output.err)
    assert counted["automations.dead_letter"] == 1
    assert "automations.death_mails_failed" not in counted
    composition.process_context("dlq-notifier").database.close()
    composition.process_context.cache_clear()
    assert aws.stream
