"""What was found of somebody's environments and scenarios, as records: rows of the file that `certify` writes.

`certifying.examine` makes them, `certifying.many` sums them up, `show.report` shows them.
"""

from typing import Literal

from envscaler.schema import Call, Certificate, Finding, Part, Record


class Paid(Part):
    """What an agent is paid for a state, under the three rules."""

    paper: float | None
    """The published rule: checks that hold over all checks."""
    default: float | None
    """Ours: the mean of the goals if every guard holds; None where a check broke."""
    strict: float | None
    """1 if all hold, else 0; None where a check broke."""


class EnvironmentReport(Record):
    """What was found of one environment."""

    kind: Literal["environment"] = "environment"
    """Which kind of row it is."""
    key: str = ""
    """What was looked at and how thoroughly; a row with this key is not made again."""
    skeleton_id: str
    """The environment."""
    name: str
    """Its name in the data it comes from."""
    title: str
    """The world's name."""
    class_name: str
    """Its class."""
    tools: int
    """How many tools it has."""
    parameters: int
    """How many parameters they have."""
    described: int
    """How many of those have a description."""
    refused: dict[str, int]
    """Tools with a schema that a provider refuses, for each provider and for `any`."""
    long_descriptions: int
    """Tools whose description is longer than OpenAI takes."""
    chances: list[str]
    """Calls in its source whose results differ from run to run where no runtime fixes them."""
    replies: int = 0
    """Replies of calls that succeeded in the survey."""
    aliased: int = 0
    """Those that hand out live parts of the state."""
    never_succeeded: dict[str, int] = {}
    """Tools no call of which succeeded in the survey, with the number of calls."""
    findings: list[Finding] = []
    """What the referee and the lint of schemas report."""


class Searched(Part):
    """What came of looking for a witness."""

    result: str
    """`solved` or `not found within budget`."""
    found_by: str
    """`recorded`, `searching.search`, or an agent."""
    calls: int
    """Tool calls tried."""
    states: int
    """Different states graded."""
    best: float
    """The largest share of checks that held at once."""


class ScenarioReport(Record):
    """What was found of one scenario."""

    kind: Literal["scenario"] = "scenario"
    """Which kind of row it is."""
    key: str = ""
    """What was looked at and how thoroughly; a row with this key is not made again."""
    scenario_id: str
    """The scenario."""
    skeleton_id: str
    """The environment it plays in."""
    name: str
    """Its name in the data it comes from."""
    environment: str
    """The environment's name there."""
    task: str
    """The beginning of the task."""
    checks: int
    """How many checks it has."""
    vacuous: list[str] = []
    """Goals that hold before anything is done."""
    paid: dict[str, Paid] = {}
    """What is paid for a state that nobody brought about; see `certifying.examine.IDLE`."""
    findings: list[Finding] = []
    """What is wrong with its checks and its initial state."""
    searched: Searched | None = None
    """The search for a witness, where one was made."""
    witness: list[Call] = []
    """The witness, where there is one."""
    certificate: Certificate
    """What could be proved."""
