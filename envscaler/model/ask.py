"""One question to a model, from prompt file to validated answer.

    ask:  prompts/<step>.md + variables → Request → Model → Reply → answer

Every stage talks to models through `ask` (one question, one answer) or `chat` (one turn of an agent), with
a model made by `connect.connect`. When a reply cannot be parsed, the model is shown it with the error and asked
again, a bounded number of times. How a server is spoken to is `client`'s, what is remembered `cache`'s, how
text becomes an answer `reply`'s.

A bad reply is remembered like a good one, so that a run that is made again fails where it failed before, asks nothing
and writes the same bytes; were it forgotten, every restart would pay for it again. Who wants other replies hands the
records that failed, and those alone, to a model connected with `cache="refresh"`; from then on the whole run has them.
A higher number of tries goes on where the lower one gave up, and a changed prompt is another question anyway.
"""

import logging
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, TypeVar

from envscaler.error import ReplyError
from envscaler.model import prompt, reply
from envscaler.model.request import Message, Model, Reply, Request
from envscaler.schema import Origin, digest

log = logging.getLogger(__name__)
T = TypeVar("T")

_SHOWN, _SHOWN_OF_ENDLESS = 8_000, 1_000
"""Characters of a bad reply that are shown to its author; what runs on is hardly shown, for it would be run on with."""


def ask(
    model: Model,
    step: str,
    variables: Mapping[str, Any],
    answer: type[T],
    *,
    sample: int = 0,
    settings: Mapping[str, Any] | None = None,
    tries: int = 3,
) -> T:
    """Ask one question and parse the answer.

    Args:
        model: who is asked.
        step: the prompt file, e.g. `tasks/judge`.
        variables: what it is filled in with; exactly the variables it names.
        answer: a pydantic class, `Code` (a Python block), `JsonObject` (free-form) or `str`.
        sample: which of several answers to the same question is wanted.
        settings: temperature, max_tokens, …
        tries: replies to ask for before giving up.

    Raises:
        PromptError: the prompt file is missing or names other variables.
        ModelError: the model could not be asked.
        ReplyError: none of its replies could be parsed; the last error is told.
    """
    messages = prompt.fill(prompt.for_model(model, step), variables)
    first = Request(step, messages, reply.schema_of(answer), (), dict(settings or {}), sample)
    request, error = first, None
    for number in range(1, max(1, tries) + 1):
        answered = model.answer(request)
        try:
            return reply.parse(answered, answer)
        except ReplyError as refusal:
            error = refusal
            log.info("%s: %s asks again: %s", step, model.name, refusal)
            request = first.with_messages(*_correction(answered, refusal, number))
    raise ReplyError(
        f"{step}: {model.name} gave no usable answer in {max(1, tries)} tries. The last: {error}"
    ) from error


def _correction(answered: Reply, error: ReplyError, number: int) -> tuple[Message, Message]:
    shown = answered.text[: _SHOWN_OF_ENDLESS if answered.finish == "length" else _SHOWN]
    # Said outside of what is shown: a weak model copies a mark that stands in it.
    part = f" Only its first {len(shown)} characters are shown here." if shown != answered.text else ""
    # Numbered, so that a model which repeats itself is asked another thing and not given its own memory of it.
    wish = f"Answer {number} cannot be used.{part} {error}\nAnswer the request again, whole, in the form it asks for."
    return {"role": "assistant", "content": shown or "(no text)"}, {"role": "user", "content": wish}


def chat(
    model: Model,
    step: str,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]] = (),
    *,
    schema: Mapping[str, Any] | None = None,
    sample: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Reply:
    """One turn of an agent: the messages as they are, and the tools it may call or the schema it answers by.

    Raises:
        ModelError: the model could not be asked.
    """
    return model.answer(Request(step, tuple(messages), schema, tuple(tools), dict(settings or {}), sample))


def origin(
    model: Model, *steps: str, seed: int | None = None, settings: Mapping[str, Any] | None = None
) -> Origin:
    """How a record is being made: which model, prompt files, settings, seed and version.

    Raises:
        PromptError: one of the steps has no prompt file.
    """
    prompts = digest([prompt.for_model(model, step).digest for step in steps]) if steps else ""
    return Origin(
        model=model.name,
        settings=dict(settings or {}),
        prompt=prompts,
        seed=seed,
        version=version("envscaler"),
    )
