"""Vetting: what is wrong with a part of a scenario as soon as it is there, in words its author can use.

Each function looks at one part and says "" or a sentence. What can be decided by execution is executed: a check
runs on the state at reset and on damaged ones, a witness is played. Only what leaves no trace in any state ("Has
the id been validated?") is decided by words too, and never where the world itself keeps such a word. Whether the
parts fit together is for the certificate to say; nothing is mended here.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from envscaler.certifying.checklist import find_faults
from envscaler.record import canonical
from envscaler.schema import Call, Check, Entity, Json, Outcome, Skeleton
from envscaler.world.certificate import garbage, wiped
from envscaler.world.change import State, unescaped
from envscaler.world.check import grade_all
from envscaler.world.witness import Played

FEWEST_WORDS = 50
_TRACELESS = (
    "validated|verified|checked|confirmed|reviewed|retrieved|fetched|queried|searched|inspected|examined|found|"
    "identified|determined|located|consulted|considered|read|viewed|seen|noted|compared|ensured|informed|told|"
    "notified|asked|explained|reported|communicated"
)
"""What can be done and leave nothing behind, unless the world keeps a field or a status for it."""
_DONE = re.compile(
    rf"\b(?:been|assistant|agent|system|user)\s+(?:\w+ly\s+)?({_TRACELESS}|looked\s+(?:up|at|for|into))\b"
    r"(?!\s+(?:and|in\b|out\b|off\b))"
    rf"|\b(?:was|were)\s+(?:\w+ly\s+)?({_TRACELESS}|looked\s+(?:up|at|for|into))\s*\?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")
_LONGEST_STATUS = 30


def task_problem(task: str, taken: Collection[str]) -> str:
    """What is wrong with a task: too short, or there already; `taken` is `plain`."""
    words = len(task.split())
    if words < FEWEST_WORDS:
        return f"The task has {words} words; it needs at least {FEWEST_WORDS}, with several sub-tasks."
    return "There is a task with the same words already; pose another." if plain(task) in taken else ""


def plain(text: str) -> str:
    """A text without regard to case and space."""
    return " ".join(text.casefold().split())


# The checklist


def checklist_problem(
    items: Sequence[tuple[str, str]], may_change: Iterable[str], skeleton: Skeleton, state: State
) -> str:
    """What is wrong with a checklist: no goal, something twice, nothing to see, or what is not in the data.

    Args:
        items: text and kind of each.
        may_change: what doing the task may touch.
        skeleton: the world.
        state: the data at reset.
    """
    if not any(kind == "goal" for _, kind in items):
        return "There is no goal: at least one item must be something the task wants brought about."
    texts = [text for text, _ in items]
    if double := [text for text in texts if texts.count(text) > 1]:
        return f"The item {double[0]!r} stands there twice."
    words = kept_words(skeleton.state, state)
    if traceless := [text for text in texts if leaves_no_trace(text, words)]:
        return (
            f"No state can show {traceless[0]!r}: only the data afterwards are looked at, and looking something up, "
            "checking or saying it changes none of them. Ask what must be different in the data, or leave it out."
        )
    if doing := [text for text, kind in items if kind == "guard" and _asks_for_a_deed(text)]:
        return (
            f"The guard {doing[0]!r} asks whether something has been done. A guard is so before anything is done, and "
            "must stay so: ask what must still be as it is, make it a goal, or leave it out."
        )
    return _may_change_problem(may_change, skeleton, state)


def _asks_for_a_deed(item: str) -> bool:
    return bool(_DEED.match(item)) and not _UNDONE.search(item)


_DEED = re.compile(r"\s*(?:has|have)\b.*\b(?:been|\w+ed)\b", re.IGNORECASE)
_UNDONE = re.compile(
    r"\b(?:no|not|none|nobody|nothing|never|neither|only|other|un\w+ed|untouched|same|still|remained|stayed|kept|left|"
    r"avoided|preserved|spared|without)\b",
    re.IGNORECASE,
)
"""Words by which a question asks that something was let be."""


def leaves_no_trace(item: str, words: Collection[str]) -> bool:
    """Whether a question asks for something done that no state shows; `words` are those the world keeps."""
    return any(_WORD.findall("".join(found).lower())[0] not in words for found in _DONE.findall(item))


def kept_words(entities: Iterable[Entity], state: State) -> set[str]:
    """The words of the world's own fields and statuses: what they say can be seen in a state."""
    names = [name for entity in entities for name in (entity.table, *(a.name for a in entity.attributes))]
    return {word for text in [*names, *_names_and_statuses(state)] for word in _WORD.findall(text.lower())}


def _names_and_statuses(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _names_and_statuses(part)
    elif isinstance(value, list):
        for part in value:
            yield from _names_and_statuses(part)
    elif isinstance(value, str) and len(value) <= _LONGEST_STATUS:
        yield value


def _may_change_problem(may_change: Iterable[str], skeleton: Skeleton, state: State) -> str:
    tables = {entity.table for entity in skeleton.state} | set(state)
    for entry in may_change:
        name, _, key = map(unescaped, entry.partition("/"))
        if name not in tables:
            return f"may_change names {entry!r}, but the data has no {name!r}."
        table = state.get(name)
        if key and key != "+" and isinstance(table, dict) and key not in table:
            return f"may_change names {entry!r}, but {name} holds no {key!r}; new records are '{name}/+'."
    return ""


# Checks


def check_problems(checks: Sequence[Check], state: State, may_change: Sequence[str]) -> dict[str, str]:
    """By question: checks that break on some state, change what they are given, or say at reset what they must not."""
    states: list[State] = [state, {}, wiped(state), garbage(state), _rubble(state)]
    graded = grade_all(checks, state, states, may_change)
    problems = changing_checks(checks, state, lambda: states)
    for number, check in enumerate(checks):
        if problem := _check_problem(check, [outcomes[number] for outcomes in graded]):
            problems[check.item] = problem
    return problems


def strange_checks(checks: Sequence[Check], skeleton: Skeleton, state: State, task: str) -> dict[str, str]:
    """By question: checks whose code reads what nobody knows, or can only say one thing. It may still be meant so."""
    found = find_faults(checks, state, [], source=skeleton.source, task=task)
    return {
        finding.where: f"{finding.message} Is that meant? If so, give it as it was."
        for finding in reversed(found)
        if finding.kind in _STRANGE
    }


_STRANGE = ("blind", "only-false", "missing-table", "missing-field", "absent-record")


def changing_checks(
    checks: Sequence[Check], state: State, finals: Callable[[], Sequence[State]]
) -> dict[str, str]:
    """By question: checks that change a final state they are given, or the initial one.

    Args:
        checks: those whose code could change something are tried.
        state: the data at reset.
        finals: gives the final states to try; it is not asked where there is nothing to try.
    """
    doubtful = [check for check in checks if _CHANGE.search(check.source)]
    if not doubtful:
        return {}
    graded = grade_all([_onlooker(check) for check in doubtful], state, finals())
    found = ((check.item, _change_problem([said[n] for said in graded])) for n, check in enumerate(doubtful))
    return {item: problem for item, problem in found if problem}


_CHANGE = re.compile(
    r"\.(?:append|add|clear|discard|extend|insert|pop|popitem|remove|reverse|setdefault|sort|update|__\w+__)\b"
    r"|\bdel\b|\bsetattr\b|[\])]\s*(?:[-+*/|&^%]|//|\*\*)?=(?!=)"
)
"""What code that changes something it was given looks like; checks without any of it are not tried."""
_LOOKING_ON = """

def _looking_on(asked):
    def check_func(final_state) -> bool:
        before = repr([final_state, initial_state])
        asked(final_state)
        return repr([final_state, initial_state]) == before

    return check_func


check_func = _looking_on(check_func)
"""


def _onlooker(check: Check) -> Check:
    """A check of the check: whether both states are afterwards what they were."""
    return check.model_copy(update={"source": check.source + _LOOKING_ON})


def _change_problem(outcomes: Sequence[Outcome]) -> str:
    if any(outcome.passed is False for outcome in outcomes):
        return (
            "It changes the state it is given; a check may only look: copy what has to be sorted or changed."
        )
    return ""


def _rubble(state: State) -> State:
    """The same tables with records that are none."""
    return {name: {"?": None, "!": [0]} if isinstance(value, dict) else None for name, value in state.items()}


def _check_problem(check: Check, outcomes: Sequence[Outcome]) -> str:
    """Outcomes are of the state at reset, then of damaged ones, where a check need only answer.

    A goal may well be true where all is gone ("Has the loan been deleted?"): the guard for bystanders sees to that.
    """
    for outcome in outcomes:
        if outcome.passed is None:
            return f"It must return True or False on any state, also an empty or damaged one. {outcome.note}"
    if check.kind == "guard" and not outcomes[0].passed:
        return "It is a guard, which must hold before anything is done, but it says False then."
    if check.kind == "goal" and outcomes[0].passed:
        return "It is a goal, which is not reached before anything is done, but it says True then."
    return ""


# The witness


def witness_problem(calls: Sequence[Call], played: Played) -> str:
    """What is wrong with calls that were played: refused, or without effect."""
    if played.refused is not None:
        return refusal(calls, played)
    return "" if any(played.diffs) else "The calls change nothing, so they solve nothing."


def refusal(calls: Sequence[Call], played: Played) -> str:
    """The refused call, as it was written and as it was made, and the reply."""
    number = played.refused
    assert number is not None
    written, made = calls[number], played.calls[number]
    as_made = f" (with {canonical(made.arguments)})" if made.arguments != written.arguments else ""
    said = f"Call {number}, {shown(written)}{as_made}, was refused: {canonical(played.replies[number])}"
    return "\n".join([said, *_empty(played, number)])


def _empty(played: Played, until: int) -> Iterator[str]:
    """Look-ups before a call that found nothing: what was looked for may not be there."""
    for call, reply in zip(played.calls[:until], played.replies[:until], strict=False):
        data = reply.get("data", reply) if isinstance(reply, Mapping) else reply
        if data in ([], {}, None):
            yield f"Before it, {shown(call)} found nothing."


def shown(call: Call) -> str:
    """A call as code would write it."""
    return f"{call.tool}({canonical(call.arguments)})"
