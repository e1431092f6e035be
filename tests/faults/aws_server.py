"""An emulated AWS in a process of its own: what it holds outlives every function that is killed.

Prints its endpoint, then serves until it is killed, or until its standard input is closed. Each
line of the input says how far the clock of its queues is turned ahead, in seconds.
"""

import sys
import time

import moto.sqs.models
from moto.server import ThreadedMotoServer

from devstack.message_index import MessageIndex
from devstack.moto_speed import speed_up_moto
from devstack.replacing import replace
from devstack.sqs_rules import teach_moto_sqs
from devstack.stream_rules import teach_moto_kinesis


class Clock:
    """The queues' clock: delays and invisibility end by it."""

    def __init__(self) -> None:
        self.offset_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.offset_s


def serve(clock: Clock) -> None:
    """Serve until the standard input is closed."""
    replace(MessageIndex.__init__, __kwdefaults__={"fair": True, "clock": clock})
    speed_up_moto()
    teach_moto_sqs()
    # Of two records that are put at once moto's own shards keep one (measured: 1 of 1,800).
    teach_moto_kinesis()
    replace(moto.sqs.models, unix_time_millis=lambda: clock() * 1000)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    sys.stdout.write(f"http://{host}:{port}\n")
    sys.stdout.flush()
    for line in sys.stdin:
        clock.offset_s = float(line)
        sys.stdout.write("turned\n")
        sys.stdout.flush()
    server.stop()


if __name__ == "__main__":
    serve(Clock())
