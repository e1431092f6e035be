"""The process tree of `whenthen dev`: Postgres, emulated AWS, functions, pollers, HTTP."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import Any

from devstack import sqs_rules, stream_rules
from devstack.console import Console
from devstack.control_door import ControlDoor
from devstack.data_folder import DataFolder
from devstack.emulated_aws import EmulatedAws, enforce_iam, start_aws
from devstack.errors import StackError
from devstack.function_pool import pids_of
from devstack.hops import HopFollower
from devstack.http_server import HttpServer
from devstack.journal import Journal
from devstack.kept_keys import keep_keys
from devstack.mail_rules import keep_mails
from devstack.options import Options, parse_options
from devstack.postgres import start_postgres
from devstack.ready_file import Ready, write_ready_file
from devstack.sandbox import ROOT, Invocation, error_text
from devstack.seed import seed
from devstack.stack import Listeners, RunningStack, RunPlan
from devstack.stack_deploy import Stack, deploy
from devstack.stack_parameters import database_parameters, dev_defaults, overrides
from devstack.stack_template import split_template
from whenthen.settings import load_settings
from whenthen.store.connection import Database
from whenthen.store.migrate import migrate

# The functions of which several processes run, so that races are real.
PARALLEL = ("HttpApiFunction", "RunExecutorFunction")
WATCHDOG = "RunWatchdogFunction"
MIGRATOR = "DbMigratorFunction"
END_POLL_S = 0.1


def main(arguments: list[str] | None = None) -> int:
    """Run the stack until Ctrl-C or SIGTERM; return the exit code."""
    options = parse_options(arguments)
    console = Console()
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(end_or_abort, end))
    _leave_proxies_out()
    try:
        with ExitStack() as cleanup:
            DevStack(options, console, cleanup).run_until(end)
    except StackError as error:
        print(f"whenthen dev: {error}", file=sys.stderr)
        return 1
    console.say("stack", "stopped")
    return 0


class DevStack:
    """Starts the parts in order; `cleanup` stops them in reverse, whatever happened between."""

    def __init__(self, options: Options, console: Console, cleanup: ExitStack) -> None:
        self._options = options
        self._console = console
        self._cleanup = cleanup
        self._folder = DataFolder(options.data)
        cleanup.callback(self._folder.close)
        self._running: RunningStack | None = None
        self._ready: Ready | None = None

    def run_until(self, end: threading.Event) -> None:
        """Start everything, say so, and return when `end` is set."""
        database_url = self._start_postgres()
        database = Database(load_settings({"DATABASE_URL": database_url}), _no_credentials)
        self._cleanup.callback(database.close)
        migrate(database)
        tenants = seed(database, self._folder.path)
        hops = HopFollower(self._console, database)
        hops.start()
        self._cleanup.callback(hops.stop)
        journal = Journal(self._folder.path, hops.event)
        self._cleanup.callback(journal.close)
        server = HttpServer(self._options.port, self._invoke_http)
        self._cleanup.callback(server.close)
        aws, stack = self._deploy(database_url, server.url)
        stream_rules.on_record(journal.event)
        running = self._run_functions(aws, stack, self._listeners(journal, hops))
        running.start_functions()
        _ask(running, MIGRATOR, {"action": "migrate"})
        self._take_up(running)
        running.start_sources()
        control = ControlDoor(self._folder.path, stack.functions, running.invoke)
        control.open()
        self._cleanup.callback(control.close)
        server.start()
        self._cleanup.callback(server.stop)
        self._ready = Ready(server.url, tenants, database_url, journal.log_path)
        self._announce(aws)
        if self._options.demo:
            self._start_demo(self._ready)
        wait_until_asked(end)
        self._console.say("stack", "stopping")

    def _start_postgres(self) -> str:
        if self._options.fresh:
            self._folder.empty()
        if url := os.environ.get("DATABASE_URL"):
            return url
        postgres = start_postgres(self._folder.path)
        self._cleanup.callback(postgres.stop)
        return postgres.url

    def _deploy(self, database_url: str, url: str) -> tuple[EmulatedAws, Stack]:
        sqs_rules.Fairness.on = self._options.fair_queues
        aws = start_aws()
        self._cleanup.callback(aws.stop)
        keep_keys(self._folder.path)
        secret_arn = aws.make_secret("database", {"username": "postgres", "password": ""})
        template = split_template(
            self._options.template,
            decided=database_parameters(database_url, secret_arn),
            environ=os.environ,
            defaults=dev_defaults(url),
        )
        keep_mails(self._folder.path / "mail")
        if sender := template.parameters.get("MailFrom"):
            aws.verify_sender(sender)
        return aws, deploy(template)

    def _run_functions(self, aws: EmulatedAws, stack: Stack, listeners: Listeners) -> RunningStack:
        plan = RunPlan(
            code=(ROOT / "functions", ROOT / "shared"),
            processes=dict.fromkeys(PARALLEL, self._options.processes),
            overrides=overrides(os.environ),
        )
        running = RunningStack(aws, stack, plan, listeners)
        # From here on every call is one that a function makes, with its own role.
        enforce_iam()
        self._http_function = stack.http_function
        self._running = running
        self._cleanup.callback(running.stop)
        return running

    def _listeners(self, journal: Journal, hops: HopFollower) -> Listeners:
        def follow(_function: str, event: Any, _invocation: Invocation) -> None:
            records = event.get("Records", [])
            hops.batch_done([record["body"] for record in records if "body" in record])

        return Listeners(
            on_line=journal.line,
            on_invocation=follow,
            on_change=self._write_ready_file,
            on_failure=lambda function, text: self._console.say("failed", f"{function} {text}"),
        )

    def _take_up(self, running: RunningStack) -> None:
        """Let the watchdog see to what an earlier stack on this data left unfinished.

        The emulated queue and stream live in memory, the facts in Postgres: unmatched events are in
        the outbox, runs are rows. Every lease is void, since its worker died with its stack.
        """
        taken = _ask(running, WATCHDOG, {"workersGone": True})
        events, runs = taken["relayed"], taken["swept"]
        if events or runs:
            self._console.say("stack", f"taken up: {events} events, {runs} runs")

    def _announce(self, aws: EmulatedAws) -> None:
        self._write_ready_file()
        if self._ready is not None:
            seeded = self._ready.seed.demo
            for name, value in {
                "console": f"{self._ready.url}/",
                "API": f"{self._ready.url}/api/v1",
                "token": seeded.token,
                "workspace": seeded.workspace_id,
                "Tickets": seeded.database_id,
                "AWS": aws.endpoint,
                "Postgres": self._ready.database_url,
                "data": str(self._folder.path),
            }.items():
                self._console.say("stack", f"{name:<10}{value}")

    def _write_ready_file(self) -> None:
        if self._options.ready_file and self._ready and self._running:
            write_ready_file(self._options.ready_file, self._ready, pids_of(self._running.pools))

    def _start_demo(self, ready: Ready) -> None:
        environment = {
            **os.environ,
            "WHENTHEN_URL": ready.url,
            "WHENTHEN_TOKEN": ready.seed.demo.token,
        }
        demo = subprocess.Popen([sys.executable, "-m", "cli.main", "demo"], env=environment)
        self._cleanup.callback(demo.kill)
        threading.Thread(target=demo.wait, daemon=True).start()

    def _invoke_http(self, event: Any, wait_s: float) -> Invocation:
        if self._running is None or self._http_function is None:
            return Invocation(error={"errorType": "NotReady", "errorMessage": "starting"})
        return self._running.invoke(self._http_function, event, wait_s)


def _ask(running: RunningStack, function: str, event: Any) -> Any:
    """Return what a function makes of `event`; without it the stack cannot start."""
    invocation = running.invoke(function, event)
    if invocation.error is not None:
        raise StackError(f"{function} failed: {error_text(invocation.error)}")
    return invocation.result


def _no_credentials() -> tuple[str, str | None]:
    raise StackError("the database's URL holds no credentials")


def wait_until_asked(end: threading.Event) -> None:
    """Return once a signal has set `end`.

    Not by `end.wait()`: only the main thread handles signals, one that another thread received does
    not wake it, and it may not hold the event's lock when the handler sets the event.
    """
    while not end.is_set():
        time.sleep(END_POLL_S)


def end_or_abort(end: threading.Event, *_: object) -> None:
    """Handle a signal: end in order; asked twice, at once."""
    if end.is_set():
        # Asked twice: leave at once. Postgres stays and is taken over by the next start.
        os._exit(130)
    end.set()


def _leave_proxies_out() -> None:
    """Keep a proxy for the rest of the world away from this machine's own servers."""
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1,localhost")))
