"""Mail and models over the running stack: an .eml under the data folder, an answer in the run."""

from uuid import uuid4

import pytest

from tests.e2e.conftest import PATIENCE_S, Api, Stack, eventually
from tests.e2e.stories import (
    activate,
    add_record,
    ended_run,
    generate,
    mails,
    mails_about,
    send_email,
    target_of_its_own,
    webhook,
)
from tests.integration.webhook_target import respond

pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.timeout(600)]


def test_a_run_asks_a_model_and_mails_its_answer(stack: Stack, owner: Api, tickets: str) -> None:
    automation = activate(
        owner,
        stack,
        tickets,
        generate("Summarise {{record.Name}}", maxTokens=50),
        send_email(
            "ada@exämple.com",
            "bob@example.com",
            subject="Ticket: {{record.Name}}",
            text=...,
            html="<b>{{record.Name}}</b> <p>{{actions[0].output.text}}</p>",
        ),
    )
    add_record(owner, tickets, Name="<Größe> & more")
    run = ended_run(owner, automation)
    assert run["status"] == "SUCCEEDED", run["error"]
    asked, mailed = (action["output"] for action in run["output"]["actions"])
    assert asked == {
        "text": "Summarise <Größe> & more",
        "stopReason": "end_turn",
        "usage": {"inputTokens": 4, "outputTokens": 4, "totalTokens": 8},
    }
    (mail,) = mails_about(stack, run["id"])
    assert list(stack.data.glob(f"mail/*{mailed['messageId']}.eml"))
    assert mail["From"] == "automations@whenthen.test"
    assert mail["To"] == "ada@xn--exmple-cua.com, bob@example.com"
    assert mail["Subject"] == "Ticket: <Größe> & more"
    shown = "&lt;Größe&gt; &amp; more"
    assert mail.get_content().strip() == f"<b>{shown}</b> <p>Summarise {shown}</p>"


def test_the_death_of_a_run_is_mailed_to_the_owner(stack: Stack, owner: Api, tickets: str) -> None:
    with target_of_its_own() as target:
        url = target.on("/", respond(500))
        automation = activate(owner, stack, tickets, webhook(url, retries=0))
        add_record(owner, tickets, Name="x")
        run_id = ended_run(owner, automation)["id"]

    def told() -> list[str]:
        return [mail["Subject"] for mail in mails_about(stack, run_id)]

    eventually(told, "the mail is there", PATIENCE_S)
    assert told() == ['Automation "Story" dead-lettered']


def test_a_dry_run_shows_mail_and_question_and_does_neither(
    stack: Stack, owner: Api, tickets: str
) -> None:
    automation = activate(
        owner,
        stack,
        tickets,
        generate("Summarise {{record.Name}}"),
        send_email("{{record.Name}}@example.com", html="<b>{{record.Name}}</b>"),
    )
    name = f"ada&{uuid4().hex}"
    add_record(owner, tickets, Name=name)
    run_id = ended_run(owner, automation)["id"]

    def mailed_to() -> int:
        return sum(mail["To"] == f"{name}@example.com" for mail in mails(stack))

    assert mailed_to() == 1
    shown = owner.ok("POST", f"/automations/{automation['id']}/dry-run", {"runId": run_id})
    asked, mailed = (action["config"] for action in shown["actions"])
    assert asked["prompt"] == f"Summarise {name}"
    shown_name = name.replace("&", "&amp;")
    assert (mailed["to"], mailed["html"]) == ([f"{name}@example.com"], f"<b>{shown_name}</b>")
    assert mailed_to() == 1
