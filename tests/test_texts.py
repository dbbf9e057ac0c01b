"""Other texts in the place of those that a task fixes: a check that takes them is refused."""

import random

import pytest
from worlds import skeleton

from envscaler.schema import Call, Certificate, Check, Proof, Scenario, Skeleton
from envscaler.world.certificate import certify
from envscaler.world.mutants.texts import MOST, is_wording, quoted_in, text_mutants
from envscaler.world.mutants.values import alike_first, in_another_case, other_texts, shown_apart
from envscaler.world.proving.shape import Shape
from envscaler.world.witness import Played

PAD = """
class Pad:
    def __init__(self, initial_state=None):
        self.notes: dict[str, dict] = {}
        self.log: list = []

    def write(self, note_id: str, text: str, colour: str = "plain"):
        '''Write.

        Args:
            note_id: The note.
            text: What it says.
            colour: Its colour.
        '''
        if note_id not in self.notes:
            return {"success": False, "error": "No such note."}
        KEPT
        return {"success": True}
"""
TEXT = "Fragile, handle with care"
STATE = {
    "notes": {f"N-{n}": {"note_id": f"N-{n}", "text": f"Old words {n}", "by": "Ada"} for n in range(1, 4)},
    "log": [],
}


def pad(kept: str = 'self.notes[note_id]["text"] = text') -> Skeleton:
    return skeleton(PAD.replace("KEPT", kept), "Pad")


def check(condition: str) -> Check:
    """Whether the first note, `x`, is so."""
    body = (
        "    notes = final_state.get('notes') or {}\n"
        "    x = notes['N-1'].get('text') if isinstance(notes.get('N-1'), dict) else None\n"
        f"    return isinstance(x, str) and x != 'Old words 1' and bool({condition})\n"
    )
    return Check(item="Does the first note say so?", source=f"def check_func(final_state):\n{body}")


def proved(
    condition: str,
    world: Skeleton | None = None,
    text: str = TEXT,
    free: tuple[str, ...] = (),
    task: str = "Write on the first note that it is fragile.",
) -> tuple[Certificate, dict[str, Proof]]:
    world = world or pad()
    certificate = certify(
        world,
        Scenario(
            skeleton_id=world.id,
            initial_state=STATE,
            task=task,
            checks=[check(condition)],
            may_change=["notes/N-1", "log/+"],
            witness=[Call(tool="write", arguments={"note_id": "N-1", "text": text}, free=list(free))],
        ),
    )
    return certificate, {proof.name: proof for proof in certificate.proofs}


# Checks that look at a part of a text


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("len(x) == 25 and x.startswith('Fr')", "text with another letter"),
        ("len(x) == 25 and x.endswith('care')", "text with another letter"),
        (
            "x.startswith('Fragile, handle wi') and x.endswith(' care') and len(x) == 25",
            "text with another letter",
        ),
        ("x[:9] == 'Fragile, ' and x[-9:] == 'with care' and len(x) == 25", "text with another letter"),
        (f"x.lower() == {TEXT.lower()!r}", "text in another case"),
        (f"x.casefold() == {TEXT.casefold()!r}", "text in another case"),
        ("'fragile' in x.lower()", "text with a word more"),
        (f"{TEXT!r} in x", "text with a word more"),
        (f"x.startswith({TEXT!r})", "text with a word more"),
        (f"x.endswith({TEXT!r})", "text with a word more"),
        (f"sorted(x.split()) == sorted({TEXT!r}.split())", "text with words swapped"),
        (f"sorted(x) == sorted({TEXT!r})", "text with words swapped"),
        (f"x and {TEXT!r}.startswith(x)", "call with a near value"),
        (f"all(word in {TEXT!r} for word in x.split())", "text emptied"),
        ("True", "text with another letter"),
    ],
)
def test_a_check_that_looks_at_a_part_of_a_text_is_refused(condition: str, kind: str) -> None:
    certificate, found = proved(condition)
    line = found["mutants killed"]
    assert not certificate.valid and line.status == "failed", line
    assert kind in {kill.kind for kill in certificate.survivors}, certificate.survivors
    assert "call 0 (write).text" in line.detail


@pytest.mark.parametrize("condition", [f"x == {TEXT!r}", f"x.strip() == {TEXT!r}"])
def test_a_check_that_looks_at_all_of_it_is_not(condition: str) -> None:
    certificate, _ = proved(condition)
    assert certificate.valid, certificate.reasons
    assert sum(kill.kind.startswith("text ") for kill in certificate.kills) >= 9


@pytest.mark.parametrize(
    "text", ["Renewed garden", "A", "07", "Ёж в тумане", "木の椅子", "a" * 300, "ada@example.org"]
)
def test_texts_of_every_kind_are_told_apart(text: str) -> None:
    assert proved(f"x == {text!r}", text=text)[0].valid
    assert not proved(f"len(x) == {len(text)}", text=text)[0].valid


def test_the_case_of_an_address_says_nothing() -> None:
    assert proved("x.lower() == 'ada@example.org'", text="ada@example.org")[0].valid


# What a tool makes of a text


def test_a_text_that_no_tool_takes_is_not_held_against_a_check() -> None:
    picky = pad('if text not in ("Fragile, handle with care", "Old", "New"):\n            return {"success": False}\n'
                '        self.notes[note_id]["text"] = text')  # fmt: skip
    certificate, _ = proved(f"x.lower() == {TEXT.lower()!r}", picky)
    assert certificate.valid, certificate.reasons
    assert not any("case" in kill.kind for kill in certificate.kills)


def test_texts_that_a_tool_takes_for_the_same_are_the_same() -> None:
    small = pad('self.notes[note_id]["text"] = text.lower()')
    certificate, _ = proved(f"x == {TEXT.lower()!r}", small)
    assert certificate.valid, certificate.reasons


def test_a_text_that_is_kept_in_another_form_is_tried_by_the_call() -> None:
    quoted = pad('self.notes[note_id]["text"] = "Note: " + text')
    assert proved(f"x == {'Note: ' + TEXT!r}", quoted)[0].valid
    for condition in ("x.startswith('Note: Fra') and len(x) == 31", f"{TEXT.lower()!r} in x.lower()"):
        assert not proved(condition, quoted)[0].valid, condition


def test_a_text_that_stands_in_two_places_is_another_one_in_both() -> None:
    twice = pad('self.notes[note_id]["text"] = text\n        self.log.append(text)')
    certificate, _ = proved(f"x == {TEXT!r}", twice)
    assert not any(kill.kind.startswith("text with a word") for kill in certificate.survivors)
    assert not proved("'ragile' in x", twice)[0].valid


def test_the_same_text_given_twice_is_looked_at_in_each_place() -> None:
    world = pad()
    calls = [Call(tool="write", arguments={"note_id": note, "text": TEXT}) for note in ("N-1", "N-2")]
    strict, lax = check(f"x == {TEXT!r}"), check("'Fragile' in x")
    lax = Check(item="And the second?", source=lax.source.replace("N-1", "N-2").replace("words 1", "words 2"))
    made = Scenario(
        skeleton_id=world.id,
        initial_state=STATE,
        task="Write on the first two notes.",
        checks=[strict, lax],
        may_change=["notes/N-1", "notes/N-2"],
        witness=calls,
    )
    line = next(p for p in certify(world, made).proofs if p.name == "mutants killed")
    assert line.status == "failed" and "call 1 (write).text" in line.detail and "call 0" not in line.detail


# What the task leaves open


def test_words_that_a_task_asks_for_are_enough_where_the_wording_is_free() -> None:
    certificate, found = proved("'fragile' in x.lower()", free=("text",))
    assert certificate.valid, certificate.reasons
    assert found["solved otherwise: free arguments"].figure == 1.0
    assert not any(kill.kind.startswith("text ") for kill in certificate.kills)


@pytest.mark.parametrize("condition", ["'handle' in x", f"x == {TEXT!r}", "x.startswith('Fragile')"])
def test_words_that_it_does_not_ask_for_are_too_much(condition: str) -> None:
    _, found = proved(condition, free=("text",))
    assert found["solved otherwise: free arguments"].status == "failed"


# How they are made


def test_other_texts_are_other_texts_and_alike() -> None:
    made = [str(text) for _, text in other_texts("Renewed garden", ["Renewed"])]
    assert "Renewed garden" not in made and len(made) == len(set(made))
    same_length = [text for text in made if len(text) == 14]
    assert any(text.startswith("Renewed garde") for text in same_length)
    assert any(text.endswith("enewed garden") and text[0] != "R" for text in same_length)
    assert any(
        text.startswith("Renewed ") and text.endswith("en") and text[8:12] != "gard" for text in same_length
    )
    assert {
        "rENEWED GARDEN",
        "Renewed garden too",
        "not Renewed garden",
        "garden Renewed",
        "Renewed",
        "",
    } <= set(made)
    assert list(other_texts("?!")) and [t for _, t in other_texts("?")] == ["? too", "not ?", "", ""]
    assert not list(in_another_case("4100")) and not list(in_another_case("木"))


def test_what_is_no_wording_has_mutants_of_its_own() -> None:
    shape = Shape(STATE)
    schema = {"properties": {"colour": {"type": "string", "enum": ["plain", "red"]}}}
    assert is_wording("Fragile", ("text",), schema, shape)
    for text in ("N-1", "2025-06-01", "09:30", ""):
        assert not is_wording(text, ("text",), schema, shape), text
    assert not is_wording("plain", ("colour",), schema, shape)


def test_an_id_in_another_case_is_another_id() -> None:
    loose = pad('self.notes["N-1"]["by"] = note_id')
    loose_state = {**STATE, "notes": {**STATE["notes"]}}
    given = Call(tool="write", arguments={"note_id": "N-2", "text": "x"})
    final = {**loose_state, "notes": {**STATE["notes"], "N-1": {**STATE["notes"]["N-1"], "by": "N-2"}}}
    played = Played([{}], [given], [{"notes/N-1": {"changed": {"by": ["Ada", "N-2"]}}}], None)
    made = list(text_mutants(loose, [given], played, (loose_state, final), Shape(loose_state)))
    states = [one.state["notes"]["N-1"]["by"] for one in made if one.state]
    assert states == ["n-2"]


def test_there_are_never_too_many_and_each_text_has_its_turn() -> None:
    calls = [Call(tool="write", arguments={"note_id": "N-1", "text": f"Some words {n}"}) for n in range(30)]
    changed = {"notes/N-1": {"changed": {"text": ["a", "b"]}}}
    played = Played([{}] * 30, calls, [changed] * 30, None)
    made = list(text_mutants(pad(), calls, played, (STATE, STATE), Shape(STATE)))
    assert len(made) == MOST and {one.call.place for one in made} == set(range(30))


def test_texts_that_checks_quote() -> None:
    assert quoted_in("""x = 'one' + "two 'and' a half" + 'it\\'s' + ''""") == [
        "one",
        "two 'and' a half",
        "it\\'s",
    ]


def test_a_long_text_is_shown_where_it_differs() -> None:
    text = "word " * 40 + "end"
    shown = {shown_apart(text, str(other)) for kind, other in other_texts(text) if "letter" in kind}
    assert len(shown) == 3 and all(len(one) < 150 for one in shown)


def test_the_likest_comes_first() -> None:
    keys = ["A-1", "M-2", "M-10", "B-7"]
    random.Random(0).shuffle(keys)
    assert alike_first("M-1", keys)[0] in ("M-10", "M-2") and sorted(alike_first("M-1", keys)) == sorted(keys)
    assert alike_first("Ida Berg", ["Tom Aske", "Ida Vik", "Lou Vik"])[0] == "Ida Vik"
    assert alike_first(3, []) == []


def test_a_small_t_in_a_time_is_no_other_time() -> None:
    condition = "x.upper() in ('2025-04-15T10:00', '2025-04-15 10:00')"
    certificate, _ = proved(condition, text="2025-04-15T10:00", task="Write 2025-04-15T10:00 on it.")
    assert certificate.valid, certificate.reasons
