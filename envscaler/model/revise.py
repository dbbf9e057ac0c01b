"""Ask until the answer can be used: what was wrong with it goes back as `feedback`, a bounded number of
times.

`ask` sees to the form of an answer (it parses); here a stage says whether what was parsed will do: a state
that loads, a method that has its docstring, a check that is not true at reset. Every prompt that is asked
this way has a block `feedback`. This module judges nothing itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from envscaler.error import PartRefused
from envscaler.model.ask import ask
from envscaler.model.request import Model
from envscaler.schema import canonical

T = TypeVar("T")
TRIES = 3
_SHOWN = 4000


def ask_usable(
    model: Model,
    step: str,
    variables: Mapping[str, Any],
    answer: type[T],
    problem: Callable[[T], str],
    *,
    sample: int = 0,
    feedback: str = "",
    tries: int = TRIES,
    parses: int = TRIES,
    again: Callable[[str], None] | None = None,
) -> T:
    """Ask for an answer, and again with feedback while `problem` finds something wrong with it.

    Args:
        model: who answers.
        step: the prompt, e.g. `scenarios/check`.
        variables: its blocks but `feedback`.
        answer: what an answer is parsed to.
        problem: a sentence on what is wrong with an answer, or "" when it will do.
        sample: index of the sample, so that answers to one prompt differ.
        feedback: what was wrong before the first try, where something was.
        tries: how often to ask.
        parses: replies to each try, until one can be parsed.
        again: is told the fault whenever the part has to be asked for again.

    Raises:
        PartRefused: the last answer has a fault, too; the message holds it.
        ReplyError: an answer could not even be parsed.
    """
    fault, sent = "", {feedback}
    for number in range(1, tries + 1):
        if number > 1 and again:
            again(fault)
        reply = ask(model, step, {**variables, "feedback": feedback}, answer, sample=sample, tries=parses)
        fault = problem(reply)
        if not fault:
            return reply
        feedback = sent_anew(told(fault, reply), sent, number)
    raise PartRefused(f"{step}: {fault} (asked {tries} times)")


def told(fault: str, reply: Any) -> str:
    """The feedback for the author of a reply: what is wrong with it, and the reply itself."""
    dump = getattr(reply, "model_dump", None)
    text = reply if isinstance(reply, str) else canonical(dump(mode="json") if dump else reply)
    # Said outside of what is shown, for a weak model copies a mark that stands in it; and last, for it says again what
    # it read last.
    part = f" (the first {_SHOWN} characters)" if len(text) > _SHOWN else ""
    return f"What you wrote was{part}:\n{text[:_SHOWN]}\n\nThis cannot be used: {fault}"


def sent_anew(feedback: str, sent: set[str], number: int) -> str:
    """Feedback as it is to be sent: numbered where the same was sent before, and added to what was.

    Else a model that repeats itself would not be asked, but given its own memory of what it said before.

    Args:
        feedback: what is wrong with an answer.
        sent: what was sent before about this part.
        number: of the answer, from 1.
    """
    anew = f"Answer {number} cannot be used either. {feedback}" if feedback in sent else feedback
    sent.add(anew)
    return anew
