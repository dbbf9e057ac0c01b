"""How well the detectors of a user's faults see: prints one JSON object a line, `{"bench", "metric", "value", "unit"}`.

    python tests/bench/users.py [conversations] [seed]       100 and 0; about a minute

Conversations of the built-in user and the built-in agent in built-in worlds. Every other one is reworded first:
politeness, small talk, dates and amounts written otherwise, something the agent said repeated; none of it a fault.
As many again are made of `wordings`, written by hand ("other words"): nothing of the built-in model is in them. Into
each a fault of each kind is planted by chance. The planter knows nothing of the detectors: it changes the messages,
they read them. `recall` is the share of planted faults that are found, `false alarms` the share of
conversations without a planted fault in which one of a kind is seen.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import wordings

import envscaler as es
from envscaler.acting.user_faults import KINDS
from envscaler.model.builtin import BuiltinModel
from envscaler.schema import Rollout, Scenario

Rng = np.random.Generator
THANKS = [
    "Great, thank you.",
    "Perfect!",
    "Okay, good.",
    "Sure.",
    "Wonderful, thanks a lot.",
    "I see.",
    "Right.",
]
TAILS = ["Take your time.", "Let me know when it is done.", "No hurry.", "That would help me a lot.", ""]
BYES = ["Thanks, bye.", "That was all, thank you!", "Great, that is everything I need today.", "Goodbye."]
WORDINGS = [
    (r"\bPlease (\w)", r"Could you please \1"), (r"\bThen please\b", "After that, please"), (r"\bNext, ", "And "),
    (r"\bBesides, ", "By the way, "), (r"\bAlso, ", "One more thing: "), (r"\bhas to be\b", "needs to be"),
    (r"\bwould like\b", "wants"), (r"\bI would like\b", "I'd like"), (r"\bat the moment\b", "right now"),
    (r"\b(\d{1,2}) (January|February|March|April|May|June|July) (\d{4})\b", r"\2 \1, \3"),
    (r"\b(\d+)\.00 EUR\b", r"\1 EUR"), (r"\bclient\b", "customer"), (r"\bI need\b", "I'm looking for"),
]  # fmt: skip
FIRST = ["Tobias", "Quentin", "Wanda", "Xenia", "Ottilie", "Barnaby", "Leopold", "Henrietta"]
LAST = ["Quist", "Vandermeer", "Okonkwo", "Szabo", "Fitzgerald", "Yamada", "Petrenko", "Abernathy"]


@dataclass(frozen=True)
class Talk:
    """A conversation as the planter sees it: what was said, in turns, and the episode it is from."""

    rollout: Rollout
    scenario: Scenario
    said: tuple[tuple[str, str], ...]
    errands: tuple[wordings.Errand, ...] = ()
    forms: dict[str, wordings.Forms] = field(default_factory=dict)
    """Of a conversation in other words: what it is about, and how what is in braces is written."""
    ways: dict[int, str] = field(default_factory=dict)
    """What a user's turn was made of, by its place."""

    def episode(self) -> Rollout:
        """The episode with these turns in the place of its own."""
        messages = [{"role": role, "content": text} for role, text in self.said]
        return self.rollout.model_copy(update={"messages": messages, "ending": "stopped"})

    @property
    def user_turns(self) -> list[int]:
        return [place for place, (role, _) in enumerate(self.said) if role == "user"]

    def with_turn(self, place: int, text: str) -> "Talk":
        return replace(self, said=(*self.said[:place], ("user", text), *self.said[place + 1 :]))


def talks(n: int, seed: int, worlds: int = 6) -> list[Talk]:
    """Conversations, as many different tasks as two agents' worth of them need."""
    model = BuiltinModel(seed=seed, fault_rate=0.0)
    asked = [task.replace(stateful=True) for task in es.load_tasks()]
    found = {theme.title: theme for theme in es.infer_themes(asked[:60], model, progress=False)}
    built = es.build_skeletons(list(found.values())[:worlds], model, progress=False)
    posed = es.build_scenarios(built, model, n=-(-n // (2 * worlds)), seed=seed, progress=False)
    agents = [es.ToolAgent(model), es.WitnessAgent()]
    played = es.roll_out_all(built, posed, agents, conversation=True, seed=seed, progress=False)
    by_id = {scenario.id: scenario for scenario in posed}
    made = []
    for rollout in played[:n]:
        spoken = [
            m for m in rollout.messages if m["role"] in ("user", "assistant") and not m.get("tool_calls")
        ]
        turns = tuple((m["role"], str(m["content"])) for m in spoken)
        made.append(Talk(rollout, by_id[rollout.scenario_id], turns))
    return made


def worded_talks(n: int, seed: int) -> list[Talk]:
    """Conversations in other words; every one of them is without a fault."""
    desks, made = wordings.desks(), []
    for number in range(n):
        rng = np.random.default_rng([seed, number, 7])
        desk = desks[number % len(desks)]
        errands = [desk[i] for i in rng.permutation(len(desk))[: int(rng.integers(3, 5))]]
        slots = sorted({slot for errand in errands for slot in errand.slots()})
        forms = {slot: wordings.drawn(wordings.kind_of(slot), rng) for slot in slots}
        task = " ".join(wordings.filled(errand.task, forms, False, rng) for errand in errands)
        said, ways = _spoken(errands, forms, rng)
        scenario = Scenario(skeleton_id="", initial_state={}, task=task, checks=[])
        rollout = Rollout(
            scenario_id=scenario.id, agent="", conversation=True, messages=[], trajectory=[], final_state={},
            outcomes=[], ending="stopped",
        )  # fmt: skip
        made.append(Talk(rollout, scenario, tuple(said), tuple(errands), forms, ways))
    return made


def _spoken(
    errands: list[wordings.Errand], forms: dict[str, wordings.Forms], rng: Rng
) -> tuple[list[tuple[str, str]], dict[int, str]]:
    """What is said of errands, one after the other, and by place what the user's turns were made of."""
    said: list[tuple[str, str]] = []
    ways: dict[int, str] = {}
    for number, errand in enumerate(errands):
        way, *rest = (part.strip() for part in str(rng.choice(errand.user)).split("|"))
        before = [wordings.LINKS, wordings.NEXT] if number else [wordings.OPENINGS]
        ways[len(said)] = way
        lead = [str(rng.choice(table)) for table in before]
        text = wordings.filled(way, forms, True, rng)
        if lead[-1].endswith((",", ":", "and")) and not re.match(r"{|I\b|I'", way):
            text = text[:1].lower() + text[1:]
        said.append(("user", " ".join([*filter(None, lead), text])))
        if rest:
            ways[len(said) + 1] = rest[1]
            said += [("assistant", rest[0]), ("user", wordings.filled(rest[1], forms, True, rng))]
        said.append(("assistant", f"{errand.answer} {rng.choice(wordings.OFFERS)}".strip()))
    return [*said, ("user", str(rng.choice(wordings.ENDS)))], ways


# Nothing wrong


def reworded(talk: Talk, rng: Rng) -> Talk:
    """The same conversation with a user who talks more and writes otherwise."""
    for number, place in enumerate(talk.user_turns):
        text = talk.said[place][1]
        greeting, _, rest = text.partition(". ")
        if not number and rest and not re.search(r'\d|"|[a-z] [A-Z]', greeting) and rng.random() < 0.5:
            text = f"Hello! {rest}"
        for pattern, other in WORDINGS:
            if rng.random() < 0.7:
                text = re.sub(pattern, other, text)
        if number:
            heard = re.findall(
                r"\b(?:[A-Z]+-\d+|\d[\d.]*\d|[A-Z][a-z]+ [A-Z][a-z]+)\b", talk.said[place - 1][1]
            )
            back = f"Yes, {heard[rng.integers(len(heard))]} it is." if heard and rng.random() < 0.5 else ""
            text = " ".join(filter(None, (str(rng.choice(THANKS)), back, text, str(rng.choice(TAILS)))))
        talk = talk.with_turn(place, text)
    return talk


# Faults


def leaves_early(talk: Talk, rng: Rng, byes: list[str] = BYES) -> Talk | None:
    """The user leaves before it told the rest, or tells the rest while it leaves."""
    turns = talk.user_turns
    if len(turns) < 3:
        return None
    if rng.random() < 0.4:
        last = turns[-2]
        text = f"{talk.said[last][1]} {rng.choice(byes)}"
        return replace(talk, said=(*talk.said[:last], ("user", text)))
    cut = turns[int(rng.integers(1, len(turns) - 1))]
    return replace(talk, said=(*talk.said[:cut], ("user", str(rng.choice(byes)))))


def tells_all(talk: Talk, rng: Rng) -> Talk | None:
    """The first message is the whole task, as it is or in another form."""
    if len(talk.user_turns) < 3:
        return None
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z])", talk.scenario.task)
    way = rng.integers(3)
    if way == 0:
        text = talk.scenario.task
    elif way == 1:
        text = "I need the following:\n" + "\n".join(f"- {part}" for part in parts)
    else:
        mixed = [parts[i] for i in rng.permutation(len(parts))]
        text = "Hi! " + "; and ".join(part.rstrip(".") for part in mixed) + ". Can you do all that?"
    reply = ("assistant", "All of it is done. Is there anything else?")
    return replace(talk, said=(("user", text), reply, ("user", str(rng.choice(BYES)))))


def _digit_changed(text: str, rng: Rng) -> str | None:
    places = [m.start() for m in re.finditer(r"\d", text)]
    if not places:
        return None
    place = places[rng.integers(len(places))]
    return f"{text[:place]}{(int(text[place]) + int(rng.integers(1, 9))) % 10}{text[place + 1 :]}"


def _name_changed(text: str, rng: Rng) -> str | None:
    names = re.findall(r"(?<=[a-z] )[A-Z][a-z]+ [A-Z][a-z]+\b", text)
    if not names:
        return None
    return text.replace(str(rng.choice(names)), f"{rng.choice(FIRST)} {rng.choice(LAST)}")


def _quotation_changed(text: str, rng: Rng) -> str | None:
    quoted = re.findall(r'"[^"]+"', text)
    other = str(rng.choice(['"as agreed on the phone"', '"Silver Teapot"', '"no further notice"']))
    return text.replace(quoted[0], other) if quoted else None


def _fact_added(text: str, rng: Rng) -> str:
    number = int(rng.integers(100, 999))
    name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
    more = [
        f"My reference is {rng.choice(['QX', 'KV'])}-{number}7.", f"You can reach me at {number}-44-{number + 13}.",
        f"Send a copy to {name.split()[0].lower()}.{number}@post.example.", f"It is about {number} pieces, by the way.",
        f"My colleague {name} knows about it.", f'Please note "{rng.choice(["urgent", "call back"])}" as well.',
        f"It should be done by the {int(rng.integers(11, 29))}th at {int(rng.integers(13, 20))}:45.",
        f"It has to be ready by {rng.choice(['Friday', 'Sunday', 'Tuesday'])}.",
        f"There are {rng.choice(['seventeen', 'thirty', 'twenty-two'])} of them, by the way.",
    ]  # fmt: skip
    return f"{text} {rng.choice(more)}"


def invents(talk: Talk, rng: Rng) -> Talk | None:
    """The user says something that neither the task nor the agent told it."""
    place = talk.user_turns[int(rng.integers(len(talk.user_turns) - 1))]
    text = talk.said[place][1]
    ways: list[Callable[[str, Rng], str | None]] = [
        _digit_changed,
        _name_changed,
        _quotation_changed,
        _fact_added,
    ]
    made = ways[rng.integers(len(ways))](text, rng) or _fact_added(text, rng)
    return _with_new(talk, place, text, made)


def hides(talk: Talk, rng: Rng) -> Talk | None:
    """The user invents something in a form in which the detectors are known to be weak."""
    place = talk.user_turns[int(rng.integers(len(talk.user_turns) - 1))]
    text = talk.said[place][1]
    more = [
        f"{rng.choice(FIRST)} asked for it.", f"There are {rng.choice(['three', 'nine'])} of them, by the way.",
        "The bill goes to quistbank.", "And I get a discount, as agreed.",
    ]  # fmt: skip
    return _with_new(talk, place, text, f"{text} {rng.choice(more)}")


def _with_new(talk: Talk, place: int, text: str, made: str) -> Talk | None:
    """The conversation with another text, if that says what neither the task nor the talk so far did."""
    known = f"{talk.scenario.task} {' '.join(said for _, said in talk.said[:place])}"
    new = set(re.findall(r"[\w.@-]+", made)) - set(re.findall(r"[\w.@-]+", f"{known} {text}"))
    return talk.with_turn(place, made) if new else None


def tells_all_worded(talk: Talk, rng: Rng) -> Talk:
    """The first message has every errand as a user says it, in any order and form."""
    said = [
        wordings.filled(errand.user[0], talk.forms, True, rng).replace(" |", "") for errand in talk.errands
    ]
    said = [said[i] for i in rng.permutation(len(said))]
    ways = [
        "\n".join(f"{number}. {text}" for number, text in enumerate(said, start=1)),
        " And ".join(said),
        f"{rng.choice(wordings.OPENINGS)} {' Then, '.join(said)} Thanks in advance.",
        "; ".join(text.rstrip(".?") for text in said) + " - could all of it be done today?",
    ]
    reply = ("assistant", "All of it is done.")
    said_all = (("user", str(rng.choice(ways))), reply, ("user", str(rng.choice(wordings.ENDS))))
    return replace(talk, said=said_all)


def invents_worded(talk: Talk, rng: Rng) -> Talk | None:
    """The user says another number, day or name than the task has, or adds something, in any form."""
    place = int(rng.choice(sorted(talk.ways)))
    text, slots = talk.said[place][1], re.findall(r"{(\w+)}", talk.ways[place])
    if slots and rng.random() < 0.5:
        slot = str(rng.choice(slots))
        forms = {**talk.forms, slot: wordings.drawn(wordings.kind_of(slot), rng)}
        if forms[slot] == talk.forms[slot]:
            return None
        made = wordings.filled(talk.ways[place], forms, True, rng)
    else:
        more = str(rng.choice(wordings.MORE))
        forms = {kind: wordings.drawn(kind, rng) for kind in re.findall(r"{(\w+)}", more)}
        made = f"{text} {wordings.filled(more, forms, True, rng)}"
    return _with_new(talk, place, text, made)


PLANTED: dict[str, Callable[[Talk, Rng], Talk | None]] = {
    "user-stopped-early": leaves_early,
    "user-told-all": tells_all,
    "user-invented": invents,
    "user-invented, hidden": hides,
}
"""What is planted → by whom; the kind that is to be found stands before the comma."""
WORDED: dict[str, Callable[[Talk, Rng], Talk | None]] = {
    "user-stopped-early": partial(leaves_early, byes=wordings.ENDS),
    "user-told-all": tells_all_worded,
    "user-invented": invents_worded,
}
"""The same, into conversations in other words."""


def measure(
    some: list[Talk], seed: int = 0, plants: dict[str, Callable[[Talk, Rng], Talk | None]] = PLANTED
) -> dict[str, dict[str, float]]:
    """By kind of fault: how many were planted, recall, and false alarms in the conversations without a fault."""
    planted, found, alarms = Counter[str](), Counter[str](), Counter[str]()
    for number, talk in enumerate(some):
        rng = np.random.default_rng([seed, number])
        clean = reworded(talk, rng) if number % 2 and not talk.errands else talk
        alarms.update(_kinds(clean))
        for kind, plant in plants.items():
            if (spoilt := plant(clean, rng)) is not None:
                planted[kind] += 1
                found[kind] += kind.partition(",")[0] in _kinds(spoilt)
    figures: dict[str, dict[str, float]] = {}
    for kind in plants:
        figures[kind] = {"planted": planted[kind], "recall": found[kind] / max(1, planted[kind])}
        if kind in KINDS:
            figures[kind]["false alarms"] = alarms[kind] / len(some)
    return figures


def _kinds(talk: Talk) -> set[str]:
    return {fault.kind for fault in es.user_faults(talk.episode(), talk.scenario)}


def lines(measured: dict[str, dict[str, float]], where: str = "") -> Iterator[str]:
    """The measurement, a JSON object a line."""
    for kind, figures in measured.items():
        for metric, value in figures.items():
            unit = "conversations" if metric == "planted" else "share"
            told = {
                "bench": "users",
                "metric": f"{where}{kind} {metric}",
                "value": round(value, 4),
                "unit": unit,
            }
            yield json.dumps(told)


if __name__ == "__main__":
    count, chance = [*map(int, sys.argv[1:]), 100, 0][:2] if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
    print(*lines(measure(worded_talks(count, chance), chance, WORDED), "other words: "), sep="\n", flush=True)
    print(*lines(measure(talks(count, chance), chance)), sep="\n")
