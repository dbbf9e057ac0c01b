"""Records as HTML: complete, marked, escaped, and never in the way of a strange record."""

import html
import itertools
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.schema import (
    Attribute,
    Call,
    Certificate,
    Check,
    Entity,
    Outcome,
    Probe,
    Proof,
    Rollout,
    Rule,
    Scenario,
    Skeleton,
    Step,
    Tool,
)
from envscaler.show import view
from envscaler.show.markup import chip, code_block, json_block

SCRIPT = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>"
SOURCE = '''class Library:
    """Books and loans."""

    def __init__(self, initial_state=None):
        self.loans = {}

    @staticmethod
    def renew(loan_id: str) -> dict:
        """Renew a loan.

        It moves the date.
        """
        return {"success": True}

    def list_loans(self):
        return {"success": True, "data": list(self.loans)}
'''


class Reader(HTMLParser):
    """Collects tags, attributes and text; balanced tags are asserted on the way."""

    VOID = frozenset({"br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.names: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        self.names += [name for name, _ in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def harmless(page: str) -> Reader:
    reader = read(page)
    assert not set(reader.tags) & {"script", "img", "iframe"}
    assert not [name for name in reader.names if name.startswith("on")]
    return reader


def skeleton_of(text: str = "plain", source: str = SOURCE) -> Skeleton:
    parameters = {
        "type": "object",
        "properties": {"loan_id": {"type": ["string", "null"], "description": text}, "odd": True},
        "required": ["loan_id"],
    }
    return Skeleton(
        theme_id="",
        title=text,
        summary=text,
        class_name="Library",
        source=source,
        state=[Entity(name=text, attributes=[Attribute(name=text)])],
        rules=[Rule(text=text, invariant="x"), Rule(text=text)],
        tools=[Tool(name="renew", description=text, parameters=parameters, mutates=True)],
    )


def probe_of(text: str = "plain", **changes: object) -> Probe:
    fields: dict = {
        "tool": "renew",
        "arguments": {"loan_id": text},
        "intent": "negative",
        "reply": {"error": text},
    }
    fields |= {
        "verdict": "warning",
        "reason": text,
        "diff": {f"loans/{text}": {"changed": {text: [text, None]}}},
    }
    return Probe(**(fields | changes))


def scenario_of(text: str = "plain") -> Scenario:
    return Scenario(
        skeleton_id="s",
        initial_state={"loans": {text: 1}},
        task=text,
        checks=[Check(item=text, source=f"# {text}"), Check(item="kept", source="x", kind="guard")],
        may_change=[text],
        witness=[Call(tool="renew", arguments={"loan_id": {"$from": [0, "data", text]}})],
        certificate=Certificate(proofs=[Proof(name=text, status="failed", detail=text)]),
    )


def rollout_of(text: str = "plain") -> Rollout:
    call = {"id": "1", "type": "function", "function": {"name": "renew", "arguments": text}}
    action = {"role": "assistant", "content": text, "tool_calls": [call], "reasoning_content": text}
    return Rollout(
        scenario_id="c",
        agent=text,
        conversation=True,
        messages=[
            {"role": "system", "content": text},
            action,
            {"role": "tool", "content": text},
            {"role": text},
        ],
        trajectory=[
            Step(action=action, observation=[{"role": "tool", "content": text}], diff={text: {"added": text}})
        ],
        final_state={},
        outcomes=[
            Outcome(item=text, kind="goal", passed=None, note=text),
            Outcome(item="g", kind="guard", passed=False),
        ],
        ending="truncated",
        cause="check",
    )


def pages(text: str) -> list[str]:
    return [
        view.page(view.probe_html(probe_of(text)), view.method_html(f"{SOURCE}# {text}\n", "renew")),
        view.scenario_card(scenario_of(text), skeleton_of(text)),
        view.rollout_card(rollout_of(text)),
        view.page(view.step_html(rollout_of(text).trajectory[0])),
        view.page(view.checks_html(scenario_of(text).checks), view.outcomes_html(rollout_of(text).outcomes)),
    ]


def test_a_script_in_any_field_stays_text() -> None:
    for page in pages(SCRIPT):
        reader = harmless(page)
        assert "<script>" in reader.text or html.unescape(reader.text).count("script")


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=40))
def test_any_text_gives_balanced_harmless_pages(text: str) -> None:
    for page in pages(text):
        harmless(page)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4))
def test_a_diff_of_any_form_is_shown(diff: dict) -> None:
    harmless(view.page(view.diff_html(diff)))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "reasoning_content"]), JSON))
def test_a_message_of_any_form_is_shown(message: dict) -> None:
    harmless(view.page(view.message_html(message)))


def test_a_diff_says_where_what_and_in_which_colour() -> None:
    diff = {
        "loans/L-1": {"changed": {"due": ["2026-01-04", "2026-01-11"]}},
        "counter": {"changed": [1, 2]},
        "log/5": {"added": {"what": "renewed"}},
        "holds/H-2": {"removed": {"book": "B-7"}},
    }
    shown = view.diff_html(diff)
    assert "loans/L-1 · due" in shown
    assert re.search(
        r"es-del'><code>−\s&quot;2026-01-04&quot;.*es-add'><code>\+\s&quot;2026-01-11&quot;", shown
    )
    assert re.search(r"counter.*es-del'><code>−\s1<.*es-add'><code>\+\s2<", shown)
    assert shown.count("es-add") == 3 and shown.count("es-del") == 3
    assert "Nothing changed" in view.diff_html({})


def test_the_called_method_is_marked_with_its_decorator_and_nothing_else() -> None:
    marked = re.findall(
        r"<span class='hll'><span class='linenos'> *(\d+)</span>", view.source_html(SOURCE, "renew")
    )
    assert [int(number) for number in marked] == list(range(7, 14))
    assert "hll'" not in view.source_html(SOURCE)
    assert "hll'" not in view.source_html(SOURCE, "absent")


def test_a_method_keeps_the_line_numbers_of_its_source() -> None:
    shown = view.method_html(SOURCE, "list_loans")
    assert "linenos'>15" in shown and "linenos'>14" not in shown
    assert "no method" in view.method_html(SOURCE, "absent")
    assert "no method" in view.method_html("def broken(:", "broken")


def test_code_keeps_every_line_and_letter() -> None:
    source = '\n\nx = \'é\'  # 日本\n\ty = """a\n b"""\n'
    text = read(view.page(code_block(source))).text
    assert re.sub(r"^ *\d+", "", text, flags=re.M) == source


def test_long_values_are_cut_and_say_so() -> None:
    shown = json_block({"data": "x" * 100_000})
    assert len(shown) < 25_000 and "100,01" in shown


def test_a_long_value_in_a_line_opens_on_a_click() -> None:
    shown = view.diff_html({"log/1": {"added": {"text": "y" * 5000}}})
    reader = read(view.page(shown))
    assert (
        "details" in reader.tags and reader.text.count("y" * 5000) == 1 and "5,012 characters" in reader.text
    )
    assert "details" not in read(view.page(view.diff_html({"log/1": {"added": "short"}}))).tags


def test_what_no_page_can_hold_is_replaced() -> None:
    page = view.page(view.probe_html(probe_of("a\0b\ud800c")), view.diff_html({"t": {"added": "\ud800\0"}}))
    page.encode("utf-8")
    assert "\0" not in page and "a␀b?c" in read(page).text


def test_a_state_shows_values_and_folds_tables() -> None:
    shown = view.state_html({"books": {"B-1": {"t": SCRIPT}}, "counter": 3, "log": [], SCRIPT: "x"})
    reader = harmless(view.page(shown))
    assert (
        "books: 1 record" in reader.text and "counter: 3" in reader.text and reader.tags.count("details") == 1
    )
    assert "empty" in view.state_html({})


def outcomes_of(*passed: bool | None) -> list[Outcome]:
    kinds = ("goal", "guard", "goal")
    return [
        Outcome(item=f"q{i}", kind=k, passed=p, note="why")
        for i, (k, p) in enumerate(zip(kinds, passed, strict=True))
    ]


def test_lights_have_a_row_a_check_and_a_column_a_step() -> None:
    steps = [outcomes_of(False, True, None), outcomes_of(True, True, None), outcomes_of(False, True, True)]
    reader = harmless(view.page(view.lights_html(steps, 1)))
    assert (
        reader.tags.count("tr") == 5 and reader.tags.count("td") == 4 * 4
    )  # the last row is the reward by then
    # A goal that is not reached yet is no fault; one that is not reached at the end is.
    assert re.sub(r"[^✓✗–?]", "", reader.text.partition("reward")[0]) == "–✓✗" + "✓✓✓" + "??✓"
    assert reader.text.partition("reward, if it ended here")[2] == "––0.5"
    assert view.lights_html(steps, 1).count("es-here") == 5
    assert view.lights_html([], 0) == "" and view.lights_html([[]], 0) == ""


@pytest.mark.parametrize("here", [0, 1, 9, 20, 38, 40])
def test_of_a_long_episode_the_lights_around_the_step_are_shown(here: int) -> None:
    reader = read(view.page(view.lights_html([outcomes_of(False, True, None)] * 41, here)))
    columns = reader.text.partition("after step")[2].partition("goal")[0]
    assert columns.startswith("start") and columns.endswith("40") and (str(here or "start") in columns)
    assert 17 <= reader.tags.count("th") - 1 <= 20 and "…" in columns


@given(st.integers(1, 80), st.data())
def test_the_columns_that_are_shown_hold_the_step_and_both_ends(count: int, data: st.DataObject) -> None:
    here = data.draw(st.integers(0, count - 1))
    shown = view._columns_around(here, count)
    places = [place for place in shown if place is not None]
    assert (
        {0, here, count - 1} <= set(places)
        and places == sorted(set(places))
        and len(shown) <= view.MOST_COLUMNS
    )
    for one, other in itertools.pairwise(shown):
        assert None in (one, other) or other == one + 1
    assert len(places) == count or len(shown) >= view.MOST_COLUMNS - 3


def test_a_user_who_answers_is_shown_as_one() -> None:
    step = Step(action={"role": "assistant", "content": "Which?"}, observation="The red one.")
    text = read(view.page(view.step_html(step))).text
    assert "user" in text and "The red one." in text and "Reply" not in text


def test_unicode_is_shown_as_it_is() -> None:
    assert "für Zoë 日本 🙂" in read(view.page(view.probe_html(probe_of("für Zoë 日本 🙂")))).text


@pytest.mark.parametrize(("verdict", "sign"), [("pass", "✓"), ("warning", "!"), ("fail", "✗")])
def test_a_verdict_is_told_by_sign_and_word_too(verdict: str, sign: str) -> None:
    assert f"{sign} {verdict}" in view.probe_html(probe_of(verdict=verdict))


def test_an_unknown_look_is_plain() -> None:
    assert chip("x", "nonsense") == chip("x", "plain")


def test_a_scenario_shows_what_grades_it() -> None:
    text = read(view.scenario_card(scenario_of("Has it been renewed?"))).text
    for part in ("goal", "guard", "$from", "not proved", "May change"):
        assert part in text


def test_outcomes_stand_in_their_order() -> None:
    outcomes = [Outcome(item="same", kind="goal", passed=p) for p in (True, False)]
    text = read(view.page(view.outcomes_html(outcomes))).text
    assert text.index("✓ true") < text.index("✗ false")


def test_a_failed_rollout_has_no_reward_and_not_zero() -> None:
    text = read(view.rollout_card(rollout_of())).text
    assert "no reward" in text and "reward 0" not in text and "truncated (check)" in text


def test_a_long_transcript_is_cut_and_says_so() -> None:
    rollout = rollout_of().replace(messages=[{"role": "user", "content": str(i)} for i in range(70)])
    assert "and 10 more messages" in view.rollout_card(rollout)


def test_a_step_shows_replies_and_not_their_envelope() -> None:
    step = Step(action={"role": "assistant"}, observation=[{"role": "tool", "content": '{"success": true}'}])
    text = read(view.page(view.step_html(step))).text
    assert '"success": true' in text and "role" not in text


def test_a_card_is_html_for_notebooks_and_light_and_dark_theme() -> None:
    card = view.scenario_card(scenario_of(), skeleton_of())
    assert card._repr_html_() == card
    assert "--jp-" in card and "background:#fff" not in card
