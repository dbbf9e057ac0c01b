"""The client of any server that speaks OpenAI's chat form, written once for all of them.

    Request → chat.completions → Reply

It copes with what servers differ in: structured output (a JSON schema, else a JSON object, else words; what works is
remembered), settings that some models refuse, where the thinking stands, missing usage. It asks again, a bounded
number of times, when a server is busy or a connection drops. It does not parse answers (`reply`) and remembers none
(`cache`). The key goes to the server and nowhere else: not into errors, logs, or what an object shows of itself.
"""

import logging
import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from envscaler.error import ModelError
from envscaler.model import wire
from envscaler.model.request import Reply, Request

if TYPE_CHECKING:
    import openai
    from tenacity import RetryCallState

log = logging.getLogger(__name__)

Rung = Literal["json_schema", "json_object", "words"]
LADDER: tuple[Rung, ...] = ("json_schema", "json_object", "words")

_OPENAI = "https://api.openai.com/v1"
_LONGEST_WAIT = 120.0
"""Seconds; a server that wants more is not waited for."""


class OpenAIModel:
    """A model on a server; one object may be used by many threads.

    Args:
        name: what the server calls it.
        base_url: the server; default `OPENAI_BASE_URL`, else OpenAI's.
        api_key: default `OPENAI_API_KEY`; a server of one's own may need none.
        workers: threads that may ask at once.
        timeout: seconds to wait for one answer.
        attempts: how often one request is sent when the server is busy or the connection drops.
        offline: nothing will be sent (`replay_only`), so no key is needed.

    Raises:
        ModelError: there is neither a key nor a server.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        workers: int = 8,
        timeout: float = 300.0,
        attempts: int = 6,
        offline: bool = False,
    ) -> None:
        server = base_url or os.environ.get("OPENAI_BASE_URL")
        key = api_key or os.environ.get("OPENAI_API_KEY")
        if not key and not server and not offline:
            raise ModelError(
                f"The model {name!r} needs a key: set OPENAI_API_KEY or pass api_key=…; for a server of your own "
                "pass base_url='http://…/v1'; connect('builtin') needs neither key nor network."
            )
        self.name, self.workers, self.timeout, self.attempts = name, workers, timeout, attempts
        self.base_url = (server or _OPENAI).rstrip("/")
        # Servers without keys still want the header.
        self._key = key or "none"
        self._rung: Rung = "json_schema"
        self._refused: frozenset[str] = frozenset()
        self._reached = False
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self._shown_url!r})"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("An OpenAIModel holds a key and connections; make another one with connect().")

    @property
    def _shown_url(self) -> str:
        """The URL without user, password and query, which can be secrets."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def answer(self, request: Request) -> Reply:
        """Ask the server.

        Raises:
            ModelError: it cannot be reached, refuses, or stays busy.
        """
        outcome = self._climb_down(request)
        # Raised here and not in a handler: the server's own error may repeat the key, and would be shown as context.
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    def _climb_down(self, request: Request) -> Reply | ModelError:
        """Try the forms of structured output from the best that is known to work; remember the one that does."""
        import openai

        refusal: openai.OpenAIError | None = None
        for rung in self._rungs(request):
            try:
                reply = self._send_without_refused(request, rung)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refusal = refusal or error
                continue
            except openai.OpenAIError as error:
                refusal = error
                break
            except ModelError as error:
                return error
            if refusal is not None:
                self._rung = rung
                log.info("%s: structured output as %s from now on.", self.name, rung)
            return reply
        return self._tell(refusal)

    def _rungs(self, request: Request) -> Sequence[Rung]:
        if request.schema is None:
            return ("words",)
        # A free-form object has no schema worth sending.
        best: Rung = "json_schema" if request.schema.get("properties") else "json_object"
        return LADDER[max(LADDER.index(self._rung), LADDER.index(best)) :]

    def _send_without_refused(self, request: Request, rung: Rung) -> Reply:
        """Send; leave out (or rename) a setting the model refuses, and remember that."""
        import openai

        while True:
            refused = self._refused
            body = wire.body_of(self.name, request, rung, refused)
            try:
                return wire.reply_of(self._send(body), self._shown_url)
            except openai.BadRequestError as error:
                new = _refused_setting(error, request.settings)
                if new is None or new in refused:
                    raise
                self._refused = self._refused | {new}
                log.info("%s refuses the setting %r; it is left out from now on.", self.name, new)

    def _send(self, body: dict[str, Any]) -> bytes:
        """One request, sent again while the server is busy or the connection drops."""
        from tenacity import Retrying, retry_if_exception

        retrying = Retrying(retry=retry_if_exception(_may_pass), wait=_wait, stop=self._enough, reraise=True)
        for attempt in retrying:
            with attempt:
                raw = self._connected().chat.completions.with_raw_response.create(
                    model=body["model"], messages=body["messages"], extra_body=body
                )
        self._reached = True
        return raw.content

    def _enough(self, state: "RetryCallState") -> bool:
        import openai

        error = state.outcome.exception() if state.outcome else None
        self._reached |= isinstance(error, openai.APIStatusError)
        # A server that was never reached is more likely mistyped than busy: say so soon.
        mistyped = isinstance(error, openai.APIConnectionError) and not self._reached
        return state.attempt_number >= (min(2, self.attempts) if mistyped else self.attempts)

    def _connected(self) -> "openai.OpenAI":
        import openai

        with self._lock:
            if self._client is None:
                self._client = openai.OpenAI(
                    api_key=self._key, base_url=self.base_url, timeout=self.timeout, max_retries=0
                )
            return self._client

    # What went wrong, in words

    def _tell(self, error: "openai.OpenAIError | None") -> ModelError:
        import openai

        where = f"{self.name} at {self._shown_url}"
        if isinstance(error, openai.APITimeoutError):
            return ModelError(
                f"{where} gave no answer within {self.timeout:g} s; pass a longer timeout=… or ask for less."
            )
        if isinstance(error, openai.APIConnectionError):
            cause = self._safe(str(error.__cause__ or error))
            return ModelError(
                f"{where} cannot be reached ({cause}); is the server running, and is base_url right?"
            )
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return ModelError(
                f"{where} refuses the key (status {error.status_code}); set OPENAI_API_KEY or pass api_key=…."
            )
        said = self._safe(str(error))
        if isinstance(error, openai.NotFoundError) or getattr(error, "code", None) == "model_not_found":
            return ModelError(f"{where} is not known there ({said}). {self._offered()}")
        if isinstance(error, openai.RateLimitError):
            return ModelError(
                f"{where} stays busy or its quota is used up: {said}; ask later or with fewer workers."
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
        return (
            f"The server has: {', '.join(names)}."
            if names
            else "The server lists no models; is base_url right?"
        )

    def _safe(self, text: str, limit: int = 500) -> str:
        """A server's words without anything secret in them."""
        for secret in (self._key, self.base_url) if self._key != "none" else (self.base_url,):
            text = text.replace(secret, self._shown_url if secret == self.base_url else "…")
        text = re.sub(r"\b(sk|key)-[\w*-]{4,}", "…", " ".join(text.split()))
        return text if len(text) <= limit else f"{text[:limit]}…"


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


def _refused_setting(error: "openai.BadRequestError", settings: Mapping[str, Any]) -> str | None:
    """The setting the server names as one it does not take."""
    if error.param in settings:
        return error.param
    if not re.search(
        r"unsupported|not supported|unrecognized|unknown|unexpected|not permitted", str(error), re.IGNORECASE
    ):
        return None
    return next((name for name in settings if re.search(rf"['\"`]{re.escape(name)}['\"`]", str(error))), None)
