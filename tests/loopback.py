"""A server on this machine that speaks as much of OpenAI's protocol as a test tells it to, and counts."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

DROP = object()
"""An answer that is none: the connection is closed."""


@dataclass
class Seen:
    """One request as it reached the server."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def last(self) -> str:
        return self.body["messages"][-1]["content"]


@dataclass
class Loopback:
    """What the server says (`answers` first, one a request; then `otherwise`), and what it saw."""

    url: str = ""
    answers: list[Any] = field(default_factory=list)
    otherwise: Callable[[Seen], Any] = lambda seen: completion("yes")
    models: Any = None
    seen: list[Seen] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, seen: Seen) -> Any:
        if seen.path.endswith("/models"):
            return (
                self.models if self.models is not None else (404, {}, {"error": {"message": "no such path"}})
            )
        with self.lock:
            self.seen.append(seen)
            answer = self.answers.pop(0) if self.answers else self.otherwise
        return answer(seen) if callable(answer) else answer


def completion(
    text: str | None, *, finish: str | None = "stop", usage: Any = "default", **message: Any
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": "c1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
    }
    if usage is not None:
        answer["usage"] = {"prompt_tokens": 7, "completion_tokens": 3} if usage == "default" else usage
    return answer


def refusal(
    status: int, message: str, headers: dict[str, str] | None = None, **more: Any
) -> tuple[int, dict, dict]:
    return status, headers or {}, {"error": {"message": message, **more}}


def serve(loopback: Loopback) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            self.say(loopback.respond(Seen(self.path, dict(self.headers.items()), json.loads(raw))))

        def do_GET(self) -> None:
            self.say(loopback.respond(Seen(self.path, dict(self.headers.items()), {})))

        def say(self, answer: Any) -> None:
            if answer is DROP:
                self.close_connection = True
                return
            status, headers, content = answer if isinstance(answer, tuple) else (200, {}, answer)
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {
                "content-type": "application/json",
                "content-length": str(len(raw)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    loopback.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


@pytest.fixture(name="loopback")
def loopback_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = Loopback()
    server = serve(made)
    yield made
    server.shutdown()
    server.server_close()
