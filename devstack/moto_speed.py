"""Spares moto's server work that it does anew on every request. Measured: half of an SQS call."""

from functools import cache

import moto.core.responses
import moto.sqs.models
from moto.core.utils import camelcase_to_underscores
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from devstack.replacing import replace


@cache
def speed_up_moto() -> None:
    """Remember what does not change, once a process."""
    remembered = cache(camelcase_to_underscores)
    for module in (moto.core.responses, moto.sqs.models):
        replace(module, camelcase_to_underscores=remembered)
    # moto lists its own source folder, with a stat a file, to find the service of a host.
    find = DomainDispatcherApplication.get_backend_for_host
    replace(DomainDispatcherApplication, get_backend_for_host=cache(find))
