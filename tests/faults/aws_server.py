"""An emulated AWS in a process of its own: what it holds outlives every function that is killed.

Prints its endpoint, then serves until it is killed, or until its standard input is closed.
"""

import sys

from moto.server import ThreadedMotoServer

if __name__ == "__main__":
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    sys.stdout.write(f"http://{host}:{port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()
