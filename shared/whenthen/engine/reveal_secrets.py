"""The secrets that a step may use, decrypted; and those that its texts must not show."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from whenthen.domain.errors import FatalError, UnavailableError
from whenthen.domain.kinds import ActionType
from whenthen.domain.rules.classify import classify_error
from whenthen.domain.rules.named_secrets import named_secrets
from whenthen.engine.context import Context
from whenthen.engine.log_redaction import keep_out
from whenthen.engine.manage_secrets import encryption_context
from whenthen.engine.run_progress import RunProgress
from whenthen.store import secrets, version_reads

if TYPE_CHECKING:
    from uuid import UUID

_log = logging.getLogger("whenthen.execute")


def reveal_secrets(context: Context, progress: RunProgress) -> Mapping[str, str]:
    """Return name → value of the secrets that the run's present action names.

    What other actions name that the run may have taken is read too, for `progress` to know: a
    target may give back what another one was sent. The ciphertexts are read anew each time, so
    that a secret that was set or deleted is so at once; a name that is not there is left out. They
    open for the run's own workspace only.

    Raises:
        FatalError: UNEXPECTED, one cannot be decrypted, now or later.
        Exception: the database or the key is out of reach.

    """
    used = _names(progress, progress.index)
    others = _names_before(progress) | _names_of_former_tries(context, progress)
    wanted = used | (others - {name for name, _ in progress.secrets})
    if not wanted:
        return {}
    workspace_id = progress.run.workspace_id
    stored = context.database.transact(
        lambda connection: secrets.ciphertexts(connection, workspace_id, sorted(wanted))
    )
    values = {}
    for name, ciphertexts in stored.items():
        value = _opened(context, workspace_id, name, ciphertexts, is_used=name in used)
        if value is not None:
            values[name] = value
    progress.secrets |= set(values.items())
    keep_out(values.values())
    return {name: value for name, value in values.items() if name in used}


def may_need_secrets(progress: RunProgress) -> bool:
    """Return whether the run's present action names a secret, or one that it may have taken."""
    used = _names(progress, progress.index)
    return bool(progress.run.forced or used or _names_before(progress))


def _names_before(progress: RunProgress) -> frozenset[str]:
    indexes = range(progress.index)
    return frozenset(name for index in indexes for name in _names(progress, index))


def _names_of_former_tries(context: Context, progress: RunProgress) -> frozenset[str]:
    """Return what a run that a person has retried may have sent before: by any version until now.

    A target may give it back although the action that sent it comes later, or is no more.
    """
    run = progress.run
    if not run.forced:
        return frozenset()
    if progress.former_secrets is None:
        versions = context.database.transact(
            lambda connection: version_reads.webhooks_until(
                connection, run.automation_id, run.version
            )
        )
        names = (named_secrets(ActionType.SEND_WEBHOOK, config) for config in versions)
        progress.former_secrets = frozenset().union(*names)
    return progress.former_secrets


def _names(progress: RunProgress, index: int) -> frozenset[str]:
    action = progress.actions[index]
    return named_secrets(action.type, action.config)


def _opened(
    context: Context,
    workspace_id: "UUID",
    name: str,
    ciphertexts: Sequence[bytes],
    *,
    is_used: bool,
) -> str | None:
    try:
        return context.secrets_key.decrypt(ciphertexts, encryption_context(workspace_id, name))
    except Exception as error:
        if classify_error(error).retryable or isinstance(error, UnavailableError):
            raise
        _log.warning("secret cannot be decrypted", extra={"secret": name}, exc_info=error)
        if is_used:
            raise FatalError("UNEXPECTED", f"the secret {name} cannot be decrypted") from error
        # Then no earlier step can have sent it either.
        return None
