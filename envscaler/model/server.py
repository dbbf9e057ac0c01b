"""One server that speaks OpenAI's protocol: reached, waited for, and its errors told in words.

    client, embedding → Server.send → openai's client → the network

A busy server and a dropped connection are tried again, a bounded number of times and seconds, and a busy server is
asked less at once (`gate`); whatever else goes wrong becomes a `ModelError` that says what to do. The key goes to the
server and nowhere else: not into errors, logs, or what an object shows of itself. What is sent and what comes back is
for `wire` to know.
"""

import base64
import itertools
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from envscaler.error import ModelError
from envscaler.model import wire
from envscaler.model.gate import Gate

if TYPE_CHECKING:
    import openai
    from tenacity import RetryCallState

_OPENAI = "https://api.openai.com/v1"
DEADLINE = 900.0
"""Seconds for one request, all attempts and waits together, where nobody says otherwise."""
_LONGEST_WAIT = 120.0
"""Seconds; a server that wants more is not waited for."""
_SHARE, _POOLS = 32, 16
"""Threads that share a pool of connections, and pools at most: in a pool of hundreds each request looks through all."""


class Server:
    """A server and the model of it that is wanted; one object may be used by many threads.

    Args:
        model: what the server calls the model.
        base_url: the server; default `OPENAI_BASE_URL`, else OpenAI's.
        api_key: default `OPENAI_API_KEY`; a server of one's own may need none.
        timeout: seconds to wait for one answer.
        deadline: seconds for one request, all attempts and waits together.
        attempts: how often one request is sent when the server is busy or the connection drops.
        offline: nothing will be sent, so no key is needed.

    Raises:
        ModelError: there is neither a key nor a server, or one that cannot be sent or reached.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 300.0,
        deadline: float = DEADLINE,
        attempts: int = 6,
        offline: bool = False,
    ) -> None:
        url = base_url or os.environ.get("OPENAI_BASE_URL")
        key = api_key or os.environ.get("OPENAI_API_KEY")
        if not key and not url and not offline:
            raise ModelError(
                f"The model {model!r} needs a key: set OPENAI_API_KEY or pass api_key=…; for a server of "
                "your own pass base_url='http://…/v1'; connect('builtin') needs neither key nor network."
            )
        _check_url(url or _OPENAI)
        _check_key(key)
        self.model, self.timeout, self.deadline, self.attempts = model, timeout, deadline, attempts
        self.gate = Gate()
        self._url = (url or _OPENAI).rstrip("/")
        self._key = key
        self._reached = False
        self._clients: dict[int, openai.OpenAI] = {}
        self._threads, self._own = itertools.count(), threading.local()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Server({self.model!r}, {self.url!r})"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("A server's object holds a key and connections; make another one with connect().")

    @property
    def url(self) -> str:
        """The URL without user, password and query, which can be secrets."""
        parts = urlsplit(self._url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def chat(self, body: dict[str, Any]) -> bytes:
        """The raw answer to a chat completion, asked again where that may help.

        Raises:
            openai.OpenAIError: it did not help; `tell` puts it in words.
        """
        # The body goes as it is: servers know settings that the client's signature does not.
        return self._send(
            lambda client: client.chat.completions.with_raw_response.create(
                model=self.model, messages=body["messages"], extra_body=body
            )
        )

    def embed(self, texts: list[str]) -> bytes:
        """The raw answer to an embeddings request, asked again where that may help.

        Raises:
            openai.OpenAIError: it did not help; `tell` puts it in words.
        """
        # As plain numbers: not every server knows the packed form that is the client's default.
        return self._send(
            lambda client: client.embeddings.with_raw_response.create(
                model=self.model, input=texts, encoding_format="float"
            )
        )

    def _send(self, call: "Callable[[openai.OpenAI], Any]") -> bytes:
        from tenacity import Retrying, retry_if_exception

        retrying = Retrying(retry=retry_if_exception(_may_pass), wait=_wait, stop=self._enough, reraise=True)
        end = time.monotonic() + self.deadline
        content: bytes = retrying(lambda: self._once(call, end))
        self._reached = True
        return content

    def _once(self, call: "Callable[[openai.OpenAI], Any]", end: float) -> bytes:
        """One attempt; the last ones have what is left of the deadline."""
        import openai

        with self.gate.passing():
            left = end - time.monotonic()
            client = self._connected()
            try:
                content: bytes = call(
                    client if left >= self.timeout else client.with_options(timeout=max(left, 1.0))
                ).content
            except openai.RateLimitError as error:
                self.gate.busy(min(_retry_after(error) or 0.0, _LONGEST_WAIT))
                raise
        return content

    def _enough(self, state: "RetryCallState") -> bool:
        import openai

        error = state.outcome.exception() if state.outcome else None
        self._reached |= isinstance(error, openai.APIStatusError)
        if (
            state.seconds_since_start is not None
            and state.seconds_since_start + state.upcoming_sleep > self.deadline
        ):
            return True
        # A server that was never reached is more likely mistyped than busy: say so soon.
        mistyped = isinstance(error, openai.APIConnectionError) and not self._reached
        if mistyped and isinstance(error, openai.APITimeoutError):
            return True  # the whole timeout has passed in silence; it will not be shorter the second time
        return state.attempt_number >= (min(2, self.attempts) if mistyped else self.attempts)

    def _connected(self) -> "openai.OpenAI":
        import httpx2
        import openai

        if not hasattr(self._own, "pool"):
            self._own.pool = next(self._threads) // _SHARE % _POOLS
        with self._lock:
            if self._own.pool not in self._clients:
                # The bare URL, for it is logged with each request. Servers without keys still want a key's header.
                self._clients[self._own.pool] = openai.OpenAI(
                    api_key=self._key or "none",
                    base_url=self.url,
                    default_headers=_basic(self._url),
                    timeout=self.timeout,
                    max_retries=0,
                    http_client=openai.DefaultHttpxClient(limits=httpx2.Limits(keepalive_expiry=30)),
                )
            return self._clients[self._own.pool]

    def tell(self, error: "openai.OpenAIError | None") -> ModelError:
        """What went wrong, in words. Raise it outside the handler: `error` itself may repeat the key."""
        import openai

        where, said = f"{self.model} at {self.url}", self._safe(str(error))
        status = getattr(error, "status_code", None)
        if isinstance(error, openai.APITimeoutError):
            return ModelError(f"{where} gave no answer within {self.timeout:g} s; pass a longer timeout=….")
        if isinstance(error, openai.APIConnectionError):
            cause = self._safe(str(error.__cause__ or error))
            return ModelError(f"{where} cannot be reached ({cause}); is it running, and is base_url right?")
        if status in (401, 403):
            return ModelError(f"{where} refuses the key ({said}); set OPENAI_API_KEY or pass api_key=….")
        if status == 404 or getattr(error, "code", None) == "model_not_found":
            return ModelError(f"{where} is not known there ({said}). {self._offered()}")
        if status == 429:
            return ModelError(
                f"{where} is busy or its quota is used up ({said}); ask later or with fewer workers."
            )
        return ModelError(f"{where} answered with an error: {said}")

    def _offered(self) -> str:
        """The models the server says it has."""
        import openai

        try:
            content = self._connected().with_options(timeout=10).models.with_raw_response.list().content
        except openai.OpenAIError:
            return "The server does not tell which models it has; does base_url end in /v1?"
        names = wire.model_names(content)
        return f"The server has: {', '.join(names)}." if names else "Which models it has it does not tell."

    def _safe(self, text: str) -> str:
        """A server's words without anything secret in them."""
        for secret in filter(None, (self._key, urlsplit(self._url).password)):
            text = text.replace(secret, "…")
        text = re.sub(r"\bsk-[\w*-]{4,}", "…", " ".join(text.split()))
        return text if len(text) <= 500 else f"{text[:500]}…"


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError):  # a port that is none, half an IPv6 address, no text
        usable = False
    if not usable:
        # Not shown: a URL can hold a password, and which part of this one it is cannot be told.
        raise ModelError(
            "Expected a base_url like http://localhost:8000/v1, got one without http://, host or port."
        )


def _check_key(key: str | None) -> None:
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ModelError(
            "Expected a key of printable ASCII characters on one line; look at OPENAI_API_KEY or api_key."
        )


def _basic(url: str) -> dict[str, str]:
    """The header that stands for `user:password@` in a URL; none where there is no user."""
    parts = urlsplit(url)
    if not parts.username:
        return {}
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        busy = error.status_code in (408, 409, 425, 429) or error.status_code >= 500
        return busy and error.code != "insufficient_quota" and (_retry_after(error) or 0) <= _LONGEST_WAIT
    return isinstance(error, openai.APIConnectionError)


def _wait(state: "RetryCallState") -> float:
    from tenacity import wait_random_exponential

    error = state.outcome.exception() if state.outcome else None
    asked = _retry_after(error) if error is not None else None
    # What the server asks for, and a little more so that the threads do not all come back at once.
    jittered = wait_random_exponential(multiplier=0.5, max=30)(state)
    return asked + min(jittered, 1.0) if asked is not None else jittered


def _retry_after(error: BaseException) -> float | None:
    """Seconds the server asks to wait, if it does."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    return wire.seconds(headers.get("retry-after-ms"), headers.get("retry-after"))


def refused_setting(error: "openai.BadRequestError", settings: Mapping[str, Any]) -> str | None:
    """The setting the server names as one it does not take."""
    if error.param in settings:
        return error.param
    said = str(error)
    if not re.search(
        r"un(supported|recognized|known|expected)|not (supported|permitted)", said, re.IGNORECASE
    ):
        return None
    return next((name for name in settings if re.search(rf"['\"`]{re.escape(name)}['\"`]", said)), None)
