"""SQS and Kinesis as they are when they take nothing more, on a port of the loopback interface."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


def throttled(_body: Json) -> tuple[int, Json]:
    """Refuse the whole call (SQS, "SendMessageBatch": RequestThrottled)."""
    return 400, {"__type": "com.amazonaws.sqs#RequestThrottled", "message": "too many requests"}


def each_throttled(body: Json) -> tuple[int, Json]:
    """Take the call and refuse each of its messages."""
    fault = {"SenderFault": False, "Code": "RequestThrottled", "Message": "too many requests"}
    return 200, {"Successful": [], "Failed": [{"Id": e["Id"], **fault} for e in body["Entries"]]}


def shards_full(body: Json) -> tuple[int, Json]:
    """Take the call and refuse each of its records, as shards at their limit do."""
    fault = {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "Rate exceeded"}
    records = body["Records"]
    return 200, {"FailedRecordCount": len(records), "Records": [fault for _ in records]}


@contextmanager
def refusing(answer: Callable[[Json], tuple[int, Json]]) -> Iterator[str]:
    """Open an endpoint whose every answer is `answer(body)`; return its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, told = answer(body)
            text = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", self.headers["Content-Type"])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
