"""What a simulated user did wrong: stopped early, told the whole task at once, or invented a fact.

An agent that fails because its user misled it has shown nothing, so conversations are looked through for what only
the user can have done. The detectors read words and ask nobody: `user_faults` is a function of the record. They go by
*facts*: numbers, codes, names, addresses and quoted words; in which forms the same fact may come is known to `forms`.
What hides from them: a wish without any of these, a small number in words, a number that was said of something else,
a name in small letters or as the first word of a sentence.
`tests/bench/users.py` measures how many planted faults they find, and how often they cry wolf.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from envscaler.acting.forms import LARGE, MONTH, PERCENT, Heard, clocked, stem
from envscaler.acting.messages import dialogue_of
from envscaler.schema import Finding, Rollout, Scenario

KINDS = {
    "user-stopped-early": "left before all of the task was told, or with a question open",
    "user-told-all": "told all of the task in the first message",
    "user-invented": "said a number, code, name or quotation that nobody had told it",
}

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,})[\"”“»]|(?<!\w)['‘]([^'‘’\n]{3,})['’](?!\w)")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+")
_CODE = re.compile(r"(?<![^\W_])(?:[^\W_]*\d[^\W_]*(?:[-_/:.,][^\W_]+)*|[^\W_]+(?:[-_/][^\W_]*\d[^\W_]*)+)")
_NAME = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE = re.compile(r"(?<=[.?!;:\n—–])\s+|\n+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof)\.")
_WISH = re.compile(r"(?<=[.?!;])\s+(?=[A-Z])|\n+")
_SMALL = set(
    re.findall(r"\w+", "mr mrs ms dr prof ok okay id ids pin asap fyi btw eta pdf ps eur usd gbp chf")
)
_MORE = re.compile(r"\b(?:else|more|further|other|another|help|assist)\b", re.IGNORECASE)
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """a about all also am an and any are as at be been but by can could do does else first for from had has have he
        her here hi his how i if in into is it its just later like me my need next no not now of off on one or our out
        please she should so some such that the their them then there these they this those to too up us want was we
        were what when which who will with would yes you your""",
    )
)


def user_faults(rollout: Rollout, scenario: Scenario) -> list[Finding]:
    """What the user of a conversation did wrong; nothing where there was no user.

    Args:
        rollout: the episode.
        scenario: what was played, whose task the user held.
    """
    dialogue = dialogue_of(rollout.messages)
    if not rollout.conversation or not dialogue:
        return []
    return [
        *_stopped_early(dialogue, scenario.task, rollout.ending == "stopped"),
        *_told_all(dialogue, scenario.task),
        *_invented(dialogue, scenario.task),
    ]


def user_fault_table(rollouts: Iterable[Rollout], scenarios: Iterable[Scenario]) -> pd.DataFrame:
    """Of each kind of fault, in how many conversations the user shows it, and an example."""
    posed = {scenario.id: scenario for scenario in scenarios}
    talks = [r for r in rollouts if r.conversation and r.scenario_id in posed and r.messages]
    found = [user_faults(talk, posed[talk.scenario_id]) for talk in talks]
    rows = []
    for kind, about in KINDS.items():
        hits = [next((f.message for f in faults if f.kind == kind), "") for faults in found]
        some = [hit for hit in hits if hit]
        rows.append((about, len(talks), len(some), (some or [""])[0]))
    return pd.DataFrame(rows, columns=["the user", "conversations", "shown in", "for example"])


def _finding(kind: str, message: str, **evidence: object) -> Finding:
    return Finding(kind=kind, severity="warning", where="user", message=message, evidence=evidence)


def _said(dialogue: Sequence[dict[str, str]], role: str = "user") -> list[str]:
    return [turn["content"] for turn in dialogue if turn["role"] == role]


# Early stop, and all at once


def _stopped_early(dialogue: Sequence[dict[str, str]], task: str, stopped: bool) -> Iterator[Finding]:
    if not stopped:
        return
    # What comes with the good-bye the agent does not read any more.
    heard = _said(dialogue[:-1] if dialogue[-1]["role"] == "user" else dialogue)
    untold = [wish for wish in wishes(task) if not _is_told(wish, task, "\n".join(heard))]
    if untold:
        yield _finding(
            "user-stopped-early",
            f"Expected the user to tell all of the task before it leaves, but it never told: {untold[0]!r}.",
            untold=untold,
        )
        return
    answers = _said(dialogue, "assistant")
    last = _SENTENCE.split(answers[-1].strip())[-1] if answers else ""
    if last.endswith("?") and not _MORE.search(last):
        yield _finding(
            "user-stopped-early", f"Expected an answer before the user leaves, to {last!r}.", open=last
        )


def _told_all(dialogue: Sequence[dict[str, str]], task: str) -> Iterator[Finding]:
    opening = next(iter(_said(dialogue)), "")
    several = wishes(task)
    if len(several) > 1 and all(_is_told(wish, task, opening) for wish in several):
        yield _finding(
            "user-told-all",
            f"Expected the task piece by piece, but the first message tells all of its {len(several)} wishes.",
            opening=opening,
        )


def wishes(task: str) -> list[str]:
    """The sentences of a task that have something to tell: those with facts, or all where none has."""
    sentences = [part.strip() for part in _WISH.split(task) if part.strip()]
    return [sentence for sentence in sentences if facts(sentence)] or sentences


def _is_told(wish: str, task: str, said: str) -> bool:
    """Whether a text tells a wish: the facts that only it has, of its names one, and where these are few, words."""
    others = set().union(*(facts(other) for other in wishes(task) if other != wish))
    own, heard = facts(wish) - others, Heard.of(said)
    # Who was named in full is Mr Hartmann to a user, and hardly anybody says the year.
    due = [fact for fact in own if not _is_name(fact) and (len(own) == 1 or not _YEAR.fullmatch(fact))]
    names = {fact for fact in (facts(wish) if due else own) if _is_name(fact)}
    named = not names or any(heard.knows(name) for name in names)
    if not named or not all(heard.knows(fact, loosely=True) for fact in due):
        return False
    words = _words(wish)
    return len(own) > 1 or len(words & _words(said)) >= len(words) / (3 if own else 2)


def _is_name(fact: str) -> bool:
    return fact.isalpha() and fact.casefold() not in MONTH and not LARGE.fullmatch(fact)


def _words(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold())} - _EMPTY


# Invented facts


def _invented(dialogue: Sequence[dict[str, str]], task: str) -> Iterator[Finding]:
    known = task
    for place, turn in enumerate(dialogue):
        if turn["role"] == "user":
            heard = Heard.of(known)
            new = sorted(fact for fact in facts(turn["content"]) if not _is_known(fact, heard))
            if new:
                told = ", ".join(map(repr, new[:3]))
                message = f"Expected facts of the task or the talk, but the user says {told} in message {place + 1}."
                yield _finding("user-invented", message, facts=new, said=turn["content"])
        known += "\n" + turn["content"]


def facts(text: str) -> set[str]:
    """What can be right or wrong in a text: quotations, addresses, numbers and codes, names; as written."""
    found = {quote[1] or quote[2] for quote in _QUOTED.finditer(text)}
    rest = clocked(_QUOTED.sub(" ; ", text))
    found |= {address.rstrip(".,") for address in _ADDRESS.findall(rest)}
    rest = _TITLE.sub(r"\1", _ADDRESS.sub(" ; ", rest))
    found |= set(PERCENT.findall(rest))
    rest = PERCENT.sub(" ; ", rest)
    found |= {code.rstrip(".,:-/") for code in _CODE.findall(rest)} | set(LARGE.findall(rest))
    for sentence in _SENTENCE.split(_CODE.sub(" 0 ", rest)):
        found |= set(_names(sentence))
    return found


def _names(sentence: str) -> Iterator[str]:
    """Words with a capital inside a sentence; the first word is one only as a possessive."""
    words = _NAME.findall(sentence)
    for place, word in enumerate(words):
        bare = re.sub(r"['’]s?$", "", word)
        # A single letter is an initial, or the writer.
        if not bare[:1].isupper() or len(bare) < 2 or re.match("I['’]", word) or bare.casefold() in _SMALL:
            continue
        if place or (bare != word and bare.casefold() not in _EMPTY | {"let", "where", "name"}):
            yield bare


def _is_known(fact: str, heard: Heard) -> bool:
    return heard.knows(fact) or all(word in _EMPTY for word in re.findall(r"\w+", fact.casefold()))
