"""The prompt files themselves: every one renders strictly, names the blocks it must, and is used."""

import ast
import re
from pathlib import Path

import pytest

from envscaler.error import PromptError
from envscaler.model import prompt
from envscaler.model.builtin import NEEDS
from envscaler.project import PACKAGE, STAGES

STEPS = prompt.steps()
STEP_NAME = re.compile(rf"^(?:{'|'.join(STAGES)})/[a-z_]*$")
VALUES = {"request": "a </request> b", "tools": [{"name": "f"}], "state": {"rooms": {}}, "feedback": ""}


def filled(step: str) -> dict:
    return {name: VALUES.get(name, f"the {name}") for name in prompt.load(step).variables}


def constants(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def steps_named_in(path: Path) -> set[str]:
    """Steps that a module names; where it puts the name together, with every word it has for the end."""
    words = constants(path)
    whole = {word for word in words if STEP_NAME.match(word) and not word.endswith("/")}
    begun = {word for word in words if STEP_NAME.match(word) and word.endswith("/")}
    return whole | {f"{start}{word}" for start in begun for word in words if f"{start}{word}" in NEEDS}


LIBRARY = [path for path in sorted(PACKAGE.rglob("*.py")) if "builtin" not in path.parts]
USED = set().union(*(steps_named_in(path) for path in LIBRARY))


@pytest.mark.parametrize("step", STEPS)
def test_a_prompt_names_exactly_the_blocks_it_must(step):
    assert step in NEEDS, f"{step} is not in the table of the built-in model; add it with its blocks"
    assert sorted(prompt.load(step).variables) == sorted(NEEDS[step].split())


@pytest.mark.parametrize("step", STEPS)
def test_a_prompt_renders_strictly_and_is_read_back(step):
    variables = filled(step)
    messages = prompt.render(step, variables)
    assert messages[0]["role"] == "system"
    # An example in the text may look like a block, too; what was put in comes out.
    read = prompt.blocks(messages)
    assert {name: read[name] for name in variables} == {k: prompt.show(v) for k, v in variables.items()}
    assert not any("{{" in message["content"] for message in messages)


@pytest.mark.parametrize(
    ("step", "name"), [(step, name) for step in STEPS for name in prompt.load(step).variables]
)
def test_a_prompt_without_one_of_its_blocks_or_variables_is_refused(step, name):
    text = (prompt.prompts_dir() / f"{step}.md").read_text()
    without_block = text.replace(f"<{name}>\n{{{{ {name} }}}}\n</{name}>", "")
    with pytest.raises(PromptError, match=name):
        prompt.fill(prompt.parse(step, without_block), filled(step))
    without_variable = text.replace(f"{{{{ {name} }}}}", "")
    with pytest.raises(PromptError, match=name):
        prompt.fill(prompt.parse(step, without_variable), filled(step))
    given = {key: value for key, value in filled(step).items() if key != name}
    with pytest.raises(PromptError, match=name):
        prompt.render(step, given)


@pytest.mark.parametrize("step", STEPS)
def test_a_prompt_is_written_for_a_model_and_by_us(step):
    parts = prompt.load(step).parts
    system = parts[0][1]
    assert len(system) > 300, "a model needs more than that"
    assert not re.search(r"\bTODO\b|\bXXX\b|lorem ipsum", system)
    # What changes from call to call comes last, so that servers can keep the beginning.
    data = {"summary", "rules", "tools"} if step.startswith("rollouts/act") else set()
    assert set(prompt.parse(step, f"# system\n{system}").variables) <= data


def test_every_step_that_the_library_names_has_a_file():
    assert set(STEPS) >= USED, f"no prompt file for {sorted(USED - set(STEPS))}"


def test_every_file_is_used_once_its_stage_is_there():
    there = {stage for stage in STAGES if (PACKAGE / f"{stage}.py").exists()}
    unused = {step for step in STEPS if step not in USED and step.split("/")[0] in there}
    assert not unused


def test_every_step_of_the_plan_has_a_file_once_its_stage_is_there():
    there = {step.split("/")[0] for step in STEPS}
    assert not {step for step in NEEDS if step.split("/")[0] in there} - set(STEPS)


def calls_with_plain_variables() -> list[tuple[str, str, set[str]]]:
    """(module, step, names) of each `ask(model, "step", {"name": …})` that is written out in one place."""
    found = []
    for path in LIBRARY:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or len(node.args) < 3:
                continue
            _, step, variables = node.args[:3]
            if isinstance(step, ast.Constant) and step.value in NEEDS and isinstance(variables, ast.Dict):
                names = {key.value for key in variables.keys if isinstance(key, ast.Constant)}
                if len(names) == len(variables.keys):
                    more = {"feedback"} if "ask_usable" in ast.unparse(node.func) else set()
                    found.append((path.name, step.value, names | more))
    return found


def test_what_is_handed_over_is_what_the_prompt_names():
    calls = calls_with_plain_variables()
    assert calls
    wrong = [(module, step, names) for module, step, names in calls if names != set(NEEDS[step].split())]
    assert not wrong
