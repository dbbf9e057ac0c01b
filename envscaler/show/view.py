"""Records as HTML: pure functions from a record to a string, for notebooks, widgets and reports.

A `…_html` is a piece of a page; a `…_card` is a whole page with its style sheet, which a notebook shows as it
is on the last line of a cell. All of it is escaped, and readable in light and dark JupyterLab. What a record
does not hold is not made up here, and nothing is executed or judged.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from envscaler import syntax
from envscaler.error import ParameterError
from envscaler.given import many, one, told
from envscaler.schema import Check, Outcome, Probe, Rollout, Scenario, Skeleton, Step, read_loosely, reward_of
from envscaler.show.markup import (
    CHIPS,
    INLINE,
    Html,
    as_json,
    chip,
    code_block,
    escape,
    folded,
    grid,
    inline_json,
    json_block,
    name_html,
    page,
    prose_block,
    shorten,
    soft,
    table,
    text_block,
    titled,
)

LOOKS = {"goal": "read", "guard": "doubtful", "positive": "plain", "boundary": "plain", "negative": "plain"}
MOST_COLUMNS = 20
"""Steps of an episode whose lights are shown beside each other."""
MOST_MESSAGES = 60
"""Messages of a transcript that are shown."""


# Source


def method_span(source: str, method: str) -> tuple[int, int] | None:
    """First and last line of a method in a source, decorators included; None when it is not there."""
    return _spans(source).get(method)


@lru_cache(maxsize=512)
def _spans(source: str) -> dict[str, tuple[int, int]]:
    """Lines of every function of a source; none when it does not parse."""
    try:
        tree = syntax.parse(source)
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault(node.name, (first, node.end_lineno or node.lineno))
    return found


def source_html(source: str, method: str | None = None) -> str:
    """A whole source with line numbers, one method of it marked."""
    return code_block(source, 1, method_span(source, method) if method else None)


def method_text(source: str, method: str) -> str:
    """The text of one method, decorators included; "" when it is not there."""
    span = method_span(source, method)
    return "\n".join(source.split("\n")[span[0] - 1 : span[1]]) if span else ""


def method_html(source: str, method: str) -> str:
    """One method of a source, with the line numbers it has there."""
    span = method_span(source, method)
    if span is None:
        return f"<p>{soft(f'The source has no method {shorten(method, 200)!r}.')}</p>"
    return code_block(method_text(source, method), span[0])


# Values and diffs


def listing(rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> Html:
    """Rows of a notebook's table with their texts whole and flush left, which pandas cuts and sets flush right."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(many(rows, dict))
    numbers = [place for place, name in enumerate(frame) if pd.api.types.is_numeric_dtype(frame[name])]
    cells = [[escape(_plain(value)) for value in row] for row in frame.itertuples(index=False)]
    return page(
        table([str(name) for name in frame], cells, numbers)
        if len(frame.columns)
        else soft("Nothing to list.")
    )


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    raise ParameterError(f"Expected {what} as names with values, got {told(given)}.")


def _plain(value: Any) -> Any:
    return as_json(value, indent=None) if isinstance(value, dict | list) else value


def diff_html(diff: Mapping[str, Any]) -> str:
    """What changed, one line a record or field: where, − before in orange, + after in green."""
    diff = _mapping(diff, "what changed")
    if not diff:
        return f"<p>{soft('Nothing changed.')}</p>"
    rows = [row for path, change in diff.items() for row in _diff_rows(path, change)]
    return table(("where", "before", "after"), rows)


def _diff_rows(path: str, change: Any) -> list[tuple[str, str, str]]:
    where = f"<code>{escape(shorten(path, INLINE))}</code>"
    if not isinstance(change, Mapping) or not set(change) <= {"added", "removed", "changed"}:
        return [(where, "", inline_json(change))]
    rows = []
    if "removed" in change:
        rows.append((where, _coloured(change["removed"], "del"), soft("removed")))
    if "added" in change:
        rows.append((where, soft("not there"), _coloured(change["added"], "add")))
    if "changed" in change:
        rows += _changed_rows(path, change["changed"])
    return rows


def _changed_rows(path: str, changed: Any) -> list[tuple[str, str, str]]:
    # A record's change names its fields; a scalar's change is the pair itself.
    pairs = (
        {f"{path} · {k}": v for k, v in changed.items()} if isinstance(changed, Mapping) else {path: changed}
    )
    rows = []
    for where, pair in pairs.items():
        both = isinstance(pair, list | tuple) and len(pair) == 2
        old, new = (_coloured(pair[0], "del"), _coloured(pair[1], "add")) if both else ("", inline_json(pair))
        rows.append((f"<code>{escape(shorten(where, INLINE))}</code>", old, new))
    return rows


def _coloured(value: Any, kind: str) -> str:
    # The sign says what the colour says, for those who cannot tell the two apart.
    return f"<div class='es-{kind}'>{inline_json(value, {'add': '+', 'del': '−'}[kind])}</div>"


def state_html(state: Mapping[str, Any]) -> str:
    """A state: values on a line each, tables folded under their number of records."""
    lines = []
    for name, value in _mapping(state, "a state").items():
        if isinstance(value, dict | list) and value:
            count = f"{len(value):,} record{'s' * (len(value) != 1)}"
            lines.append(folded(f"{shorten(name, 120)}: {count}", json_block(value)))
        else:
            lines.append(f"<div><code>{escape(shorten(name, 120))}</code>: {inline_json(value)}</div>")
    return "".join(lines) or f"<p>{soft('The state is empty.')}</p>"


# Audits


def probe_html(probe: Probe, beside: str = "") -> str:
    """One probe: the call, the verdict and its reason, then arguments, reply and what changed, with a part beside."""
    tool = f"<b>{name_html(one(probe, Probe).tool)}</b>"
    chips = f"{chip(probe.intent)} {chip(probe.verdict, probe.verdict)}"
    body = titled("Arguments", json_block(probe.arguments)) + reply_html(probe.reply, probe.diff)
    head = f"<div class='es-head'>{tool} {chips} {_long_text(probe.reason)}</div>"
    return head + (grid(body, beside) if beside else body)


def _long_text(text: str, limit: int = 400) -> str:
    if len(text) <= limit:
        return f"<span>{escape(text)}</span>"
    return f"<div>{folded(f'{text[:limit]}…', text_block(text))}</div>"


def reply_html(reply: Any, diff: Mapping[str, Any]) -> str:
    """What came back, and what changed."""
    return titled("Reply", json_block(reply)) + titled("What changed", diff_html(diff))


# Scenarios


def checks_html(checks: Sequence[Check]) -> str:
    """The checks with their kind and their code, folded."""
    rows = [
        (chip(c.kind, LOOKS[c.kind]), f"{escape(c.item)}{folded('code', code_block(c.source))}")
        for c in many(checks, Check)
    ]
    return table(("kind", "check"), rows) if rows else ""


def outcomes_html(outcomes: Sequence[Outcome]) -> str:
    """How every check came out, the library's own guard included."""
    rows = [
        (chip(o.kind, LOOKS[o.kind]), f"{escape(o.item)} {soft(o.note) if o.note else ''}", _light(o.passed))
        for o in many(outcomes, Outcome)
    ]
    return table(("kind", "check", "outcome"), rows) if rows else f"<p>{soft('No outcome.')}</p>"


def _light(passed: bool | None) -> str:
    if passed is None:
        return chip("broke", "doubtful")
    return chip("✓ true", "good") if passed else chip("✗ false", "bad")


def witness_html(scenario: Scenario) -> str:
    """The calls that solve the task, in order; arguments taken from earlier replies are shown as such."""
    rows = [
        (str(place), name_html(call.tool), inline_json(call.arguments))
        for place, call in enumerate(one(scenario, Scenario).witness)
    ]
    return table(("", "tool", "arguments"), rows, (0,)) if rows else ""


def scenario_card(scenario: Scenario, skeleton: Skeleton | None = None) -> Html:
    """One scenario: task, checks, what may change, the witness, the certificate, the initial state folded."""
    one(scenario, Scenario)
    title = "" if skeleton is None else f"<b>{escape(one(skeleton, Skeleton).title)}</b>"
    may_change = ", ".join(f"<code>{escape(path)}</code>" for path in scenario.may_change)
    proof = scenario.certificate
    state = chip("proved", "good") if proof and proof.valid else chip("not proved", "bad") if proof else ""
    return page(
        f"<div>{title} {state}</div>",
        titled("Task", prose_block(scenario.task)),
        titled("Checks", checks_html(scenario.checks)),
        titled("May change", may_change or soft("nothing is named")),
        titled("Witness", witness_html(scenario)),
        folded("certificate", proof._repr_html_()) if proof else "",
        folded("initial state", json_block(scenario.initial_state)),
    )


# Rollouts


def message_html(message: Mapping[str, Any]) -> str:
    """One message of an exchange in OpenAI form, its tool calls as code."""
    message = _mapping(message, "a message")
    role = shorten(str(message.get("role", "?")), 60)
    thought = message.get("reasoning_content") or ""
    return (
        f"<div class='es-turn'>{chip(role, {'assistant': 'read', 'user': 'write'}.get(role, 'plain'))}"
        f"{folded('thought', text_block(str(thought))) if thought else ''}"
        f"{_content_html(message.get('content'), role)}{_calls_html(message.get('tool_calls'))}</div>"
    )


def _content_html(content: Any, role: str) -> str:
    if content in (None, "", []):
        return ""
    if not isinstance(content, str):
        return inline_json(content)
    if role == "system":
        return folded("system prompt", text_block(content))
    return prose_block(content) if role in ("user", "assistant") else text_block(content)


def _calls_html(calls: Any) -> str:
    shown = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        function = function if isinstance(function, Mapping) else {}
        arguments = function.get("arguments", "")
        text = arguments if isinstance(arguments, str) else repr(arguments)
        shown.append(
            f"<div><code>{escape(function.get('name', '?'))}({escape(shorten(text, 2000))})</code></div>"
        )
    return "".join(shown)


def step_html(step: Step) -> str:
    """One step: the action, what came back, what changed."""
    if isinstance(one(step, Step).observation, str):
        came = message_html({"role": "user", "content": step.observation})
    else:
        came = "".join(titled("Reply", json_block(reply)) for reply in _observed(step.observation))
    return f"{message_html(step.action)}{came}{titled('What changed', diff_html(step.diff))}"


def _observed(observation: Any) -> list[Any]:
    # Replies travel as JSON text inside tool messages; people read the replies.
    if not isinstance(observation, list):
        return [observation]
    return [
        read_loosely(part["content"]) if isinstance(part, Mapping) and "content" in part else part
        for part in observation
    ]


LIGHTS = {
    True: ("✓", "good", "holds"),
    False: ("✗", "bad", "does not hold"),
    None: ("?", "doubtful", "broke"),
}


def lights_html(steps: Sequence[Sequence[Outcome]], here: int) -> str:
    """Every check at every step: a row a check, a column a step, the step `here` framed.

    A goal that is not reached yet is no fault, so it stays grey until the last column. Of a long episode the
    columns around `here` are shown, and both ends.
    """
    if not steps or not steps[0]:
        return ""
    last, shown = len(steps) - 1, _columns_around(here, len(steps))

    def row(title: str, cells: Iterable[str], tag: str = "td") -> str:
        marked = zip(cells, shown, strict=True)
        return f"<tr>{title}{''.join(_column(cell, place == here, tag) for cell, place in marked)}</tr>"

    def gapped(cell: Callable[[int], str]) -> Iterable[str]:
        return (soft("…") if place is None else cell(place) for place in shown)

    rows = [row("<th>after step</th>", gapped(lambda place: str(place or "start")), "th")]
    for number, first in enumerate(steps[0]):
        name = f"{chip(first.kind, LOOKS[first.kind])} {escape(shorten(first.item, INLINE))}"
        title = f"<td title='{escape(shorten(first.item, 2000))}'><div class='es-two'>{name}</div></td>"
        rows.append(row(title, gapped(lambda place, n=number: _light_of(steps[place][n], place == last))))  # type: ignore[misc]
    paid = gapped(lambda place: _paid(reward_of(list(steps[place]))))
    rows.append(row(f"<td>{soft('reward, if it ended here')}</td>", paid))
    return f"<div class='es-scroll'><table class='es-lights'>{''.join(rows)}</table></div>"


def _columns_around(here: int, count: int) -> list[int | None]:
    """Places of the columns that are shown, None for a gap."""
    if count <= MOST_COLUMNS:
        return list(range(count))
    half = (MOST_COLUMNS - 5) // 2
    first = min(max(here - half, 0), count - 2 * half - 1)
    near = [place for place in range(first, first + 2 * half + 1) if 0 < place < count - 1]
    before: list[int | None] = [0, None] if near[0] > 1 else [0]
    after: list[int | None] = [None, count - 1] if near[-1] < count - 2 else [count - 1]
    return [*before, *near, *after]


def _paid(reward: float | None) -> str:
    return soft("–" if reward is None else f"{reward:.2f}".removesuffix("0"))


def _column(content: str, here: bool, tag: str = "th") -> str:
    return f"<{tag}{' class=es-here' if here else ''}>{content}</{tag}>"


def _light_of(outcome: Outcome, last: bool) -> str:
    sign, look, word = LIGHTS[outcome.passed]
    if outcome.kind == "goal" and outcome.passed is False and not last:
        sign, look, word = "–", "plain", "not reached yet"
    _, back, front = CHIPS[look]
    note = f": {shorten(outcome.note, INLINE)}" if outcome.note else ""
    style = f"background:{back};color:{front}"
    return f"<span class='es-light' style='{style}' title='{escape(word + note)}'>{sign}</span>"


def rollout_head(rollout: Rollout) -> str:
    """Who played, how it ended, and what it was worth."""
    reward = "no reward" if one(rollout, Rollout).reward is None else f"reward {rollout.reward:.2f}"
    look = "doubtful" if rollout.reward is None else "good" if rollout.solved else "bad"
    mode = "conversation" if rollout.conversation else "no conversation"
    cause = f" ({escape(rollout.cause)})" if rollout.cause else ""
    # An episode of somebody else has a number only, no outcomes that it would follow from.
    told = rollout.extra.get("total_reward") if rollout.reward is None else None
    recorded = soft(f"recorded: {told:g}") if isinstance(told, int | float) else ""
    return (
        f"<div><b>{escape(rollout.agent)}</b> · {mode} · {rollout.steps} steps · "
        f"{escape(rollout.ending)}{cause} {chip(reward, look)} {recorded}</div>"
    )


def rollout_card(rollout: Rollout) -> Html:
    """One rollout: how it came out, then its first messages as a transcript."""
    messages = one(rollout, Rollout).messages
    shown = "".join(message_html(message) for message in messages[:MOST_MESSAGES])
    left = len(messages) - MOST_MESSAGES
    return page(
        rollout_head(rollout),
        titled("Outcomes", outcomes_html(rollout.outcomes)),
        titled("Transcript", shown),
        soft(f"… and {left} more messages") if left > 0 else "",
    )
