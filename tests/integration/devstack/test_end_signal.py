"""A stack that is asked to end does, whichever of its threads the signal reaches."""

import subprocess
import sys

# The thread sends the signal to itself while the main thread waits.
SCRIPT = """
import signal, threading
from functools import partial
from devstack.main import end_or_abort, wait_until_asked
end = threading.Event()
signal.signal(signal.SIGINT, partial(end_or_abort, end))
waits = threading.Event()
def other():
    waits.wait()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    threading.Event().wait()
threading.Thread(target=other, daemon=True).start()
threading.Timer(0.5, waits.set).start()
wait_until_asked(end)
print("ended in order")
"""


def test_a_signal_that_another_thread_receives_ends_the_stack() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.returncode, done.stdout) == (0, "ended in order\n"), done.stderr
