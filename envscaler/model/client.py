"""The model on a server: any server that speaks OpenAI's chat form, written once for all of them.

    Request → wire.body_of → Server.send → wire.reply_of → Reply

It copes with what servers differ in: structured output (a JSON schema, else a JSON object, else words; what
works is remembered) and settings that some models refuse. It does not parse answers (`reply`), remembers
none (`cache`), and leaves the network to `server`.
"""

import logging
from collections.abc import Sequence
from typing import Any, Literal

from envscaler.error import ModelError
from envscaler.model import wire
from envscaler.model.request import Reply, Request
from envscaler.model.server import Server, refused_setting

log = logging.getLogger(__name__)

Rung = Literal["json_schema", "json_object", "words"]
_LADDER: tuple[Rung, ...] = ("json_schema", "json_object", "words")


class OpenAIModel:
    """A model on a server; one object may be used by many threads.

    Args:
        name: what the server calls it.
        workers: threads that may ask at once.
        server: base_url, api_key, timeout, attempts and offline, as `Server` takes them.

    Raises:
        ModelError: there is neither a key nor a server.
    """

    def __init__(self, name: str, *, workers: int = 8, **server: Any) -> None:
        self.name, self.workers = name, workers
        self.server = Server(name, **server)
        # What this model on this server was found to take; a lost race between threads costs one request.
        self._rung: Rung = "json_schema"
        self._refused: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self.server.url!r})"

    def check(self) -> None:
        """Ask for a word, so that a wrong key, URL or name is told before any work begins.

        Raises:
            ModelError: the model cannot be asked.
        """
        self.answer(Request("check", ({"role": "user", "content": "Answer with the one word: yes"},)))

    def answer(self, request: Request) -> Reply:
        """Ask the server.

        Raises:
            ModelError: it cannot be reached, refuses, or stays busy.
        """
        outcome = self._climb_down(request)
        # Not raised in a handler: the server's own words may repeat the key and would show.
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    def _climb_down(self, request: Request) -> Reply | ModelError:
        """Try the forms of structured output from the best that may work; remember the one that does."""
        import openai

        refusal: openai.OpenAIError | None = None
        for rung in self._rungs(request):
            try:
                content = self._send(request, rung)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refusal = refusal or error
                continue
            except openai.OpenAIError as error:
                return self.server.tell(error)
            if refusal is not None:
                self._rung = rung
                log.info("%s: structured output as %s from now on.", self.name, rung)
            return wire.reply_of(content, self.server.url)
        return self.server.tell(refusal)

    def _rungs(self, request: Request) -> Sequence[Rung]:
        if request.schema is None:
            return ("words",)
        # A free-form object has no schema worth sending.
        best: Rung = "json_schema" if request.schema.get("properties") else "json_object"
        return _LADDER[max(_LADDER.index(self._rung), _LADDER.index(best)) :]

    def _send(self, request: Request, rung: Rung) -> bytes:
        """Send; leave out (or rename) a setting the model refuses, and remember that."""
        import openai

        while True:
            refused = self._refused
            body = wire.body_of(self.name, request, rung, refused)
            try:
                return self.server.chat(body)
            except openai.BadRequestError as error:
                new = refused_setting(error, request.settings)
                if new is None or new in refused:
                    raise
                self._refused |= {new}
                log.info("%s refuses the setting %r; it is left out from now on.", self.name, new)
