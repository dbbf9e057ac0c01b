"""Depth: what counts as one body and one kind, what is left out, and that the published numbers are the sample's."""

import itertools
import json
import sys
from hashlib import sha256
from math import isnan
from pathlib import Path

import library
import pytest

from envscaler import project
from envscaler.release import read_environments
from envscaler.schema import Call, Rule, Skeleton, Tool
from envscaler.show import depth

OURS_READ = {
    "amount": [
        "An approved report is approved with no more than was claimed less the own contribution of its budget.",
        "The battery of a device lies between 0 and 100 percent.",
        "A device has at most one planned battery change, and none once it is removed.",
        "A craftsman has at most 2 assigned repairs at a time.",
        "No batch holds less than 0 packs, and nothing is given from one that has expired.",
        "A single transfer moves at most 5000 EUR.",
        "A keeper has at most 3 animals.",
    ],
    "link": [
        "A parcel that is out for delivery is with a courier of the depot it is addressed to, and any other parcel is "
        "with nobody."
    ],
    "derived": [
        "Each time a prescription is dispensed, its refills left go down by one, never below 0; at 0 it is used up.",
        "A late return costs 0.25 EUR for each day, at most 8.00; who owes 10.00 or more is lent nothing.",
        "Cancelling an order puts what it held back into the stock.",
    ],
    "presence": [
        "A done vet check has the date it was done, and no other vet check has one.",
        "A resolved defect has a note on how it was resolved, and no other defect has one.",
        "A done inspection has the date it was done, and no other inspection has one.",
    ],
    "unique": [
        "No two patients have the same email address.",
        "No two gardeners have the same email address.",
    ],
    "time": [
        "Nobody has two commitments on one day.",
        "A doctor never has two appointments at the same time; cancelled and missed ones do not count.",
    ],
    "life cycle": [
        "A health goal that was reached or dropped stays so, and it is only reached when the latest reading meets it."
    ],
    "log": ["Everything that happens to a consignment leaves a waybill entry in its trace."],
}
"""Rules of the built-in worlds as a reader sorted them, drawn at random."""
THEIRS_READ = {
    "time": "d058eede",
    "values": "da7a5ed3 afee0018 a937af21",
    "link": "5a0f0c1c 0d847801 4acbfe8c 61f030cf 043591c1",
    "unique": "37dc50cb d647cf97",
    "derived": "3366b2e3 7725a365 4821a219 d8fb10ab",
    "showing": "309b621e",
    "permission": "d05aae4a b422e057",
    "amount": "7cc3f0cf",
    "condition": "d022fa5e",
}
"""Rules of the published sample, by the hash of their text."""


def skeleton(body: str, *others: str, tools: tuple[str, ...] = ("look",), **more: object) -> Skeleton:
    """A class whose tool `look` has this body, beside other methods."""
    methods = [f"def look(self, key, value=None):\n{indented(body)}", *others]
    source = "from datetime import date\nclass World:\n" + "\n".join(map(indented, methods))
    named = [Tool(name=name, parameters={}, mutates=False) for name in tools]
    given = {"class_name": "World", "source": source, "rules": [], "tools": named, **more}
    return Skeleton(theme_id="", title=body[:20], summary="", state=[], **given)


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


ONE = """'''Look it up.'''
found = self.books.get(key)
if found is None or found["status"] not in ("lent", "lost"):
    return {"success": False, "error": f"There is no {key}."}
return {"success": True, "data": sorted(found["days"], key=lambda day: day["until"])[:3]}"""
HELPED = "return self._top(self.books, key)"
TOP = "def _top(self, table, key):\n    return max(table[key].values(), default=0)"


def bodies(*worlds: Skeleton) -> int:
    return depth.depth_frame(worlds)["body"].nunique()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("found", "row"), ("books", "found"), ("(key)", "(value)"), ("status", "state"), ("There is no", "Unknown:"),
        ("'''Look it up.'''\n", ""), ('("lent", "lost")', '("open", "held", "shut")'), ("[:3]", "[:50]"),
        ("found =", "found: dict | None ="), ("lambda day: day", "lambda d: d"),
    ],
)  # fmt: skip
def test_names_texts_and_numbers_do_not_make_another_body(old: str, new: str) -> None:
    other = ONE.replace(old, new)
    assert other != ONE and bodies(skeleton(ONE), skeleton(other)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sorted", "reversed"), ("is None", "is not None"), (" or ", " and "), ("[:3]", ""), ("not in", "in"),
        (".get(key)", ".pop(key)"), ('day["until"]', 'day["status"]'), ("False", "True"),
        ("    return {", "    self.count += 1\n    return {"), ("books.get(key)", "books.get(found)"),
    ],
)  # fmt: skip
def test_what_the_code_does_makes_another_body(old: str, new: str) -> None:
    other = ONE.replace(old, new, 1)
    assert other != ONE and bodies(skeleton(ONE), skeleton(other)) == 2


def test_a_call_of_a_helper_stands_for_its_body() -> None:
    renamed = skeleton(HELPED.replace("_top", "_most"), TOP.replace("_top", "_most"))
    assert bodies(skeleton(HELPED, TOP), renamed) == 1
    assert bodies(skeleton(HELPED, TOP), skeleton(HELPED, TOP.replace("max", "min"))) == 2


def test_size_and_depth_are_of_a_tool_with_all_it_reaches() -> None:
    deep = skeleton(
        "if key and value:\n    return self._a()\nreturn [x for x in self.rows if x]",
        "def _a(self):\n    # not a line\n    '''Nor this.'''\n    return self._b() or self._b()",
        "def _b(self):\n    return self._a() if self.rows else date.today()",
    )
    (row,) = depth.depth_frame([deep]).to_dict("records")
    assert (row["lines"], row["branches"], row["depth"]) == (5, 6, 2)
    (flat,) = depth.depth_frame([skeleton("return self.look")]).to_dict("records")
    assert (flat["lines"], flat["branches"], flat["depth"]) == (1, 0, 0)


def test_methods_that_call_each_other_are_told_the_same_in_whatever_order() -> None:
    pair = ("def a(self):\n    return self.b(1) or self.rows", "def b(self, x=0):\n    return x and self.a()")
    frames = [depth.depth_frame([skeleton("return 1", *pair, tools=order)]) for order in ("ab", "ba")]
    first, second = (frame.set_index("tool")[["body", "lines", "depth"]].sort_index() for frame in frames)
    assert first.equals(second) and first["body"].nunique() == 2 and set(first["depth"]) == {1}


def chain(count: int) -> tuple[str, ...]:
    return tuple(f"def m{n}(self):\n    return self.m{n + 1}()" for n in range(count))


HOSTILE = {
    "no Python": skeleton("return ("),
    "no such class": skeleton("return 1", class_name="Other"),
    "nested too deeply": skeleton(f"return {'-' * 3000}1"),
    "added up for long": skeleton(f"return {'+'.join('1' * 9000)}"),
    "too long a chain": skeleton("return self.m0()", *chain(2 * sys.getrecursionlimit())),
    "too long": skeleton("#" * 500_000),
    "a null byte": skeleton("return 1 # \x00"),
    "no tools": skeleton("return 1", tools=()),
    "a tool that is no method": skeleton("return 1", tools=("nothing", "__class__")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_class_that_cannot_be_read_is_left_out_and_counted(name: str) -> None:
    good = library.skeleton()
    facts = depth.depth_facts([HOSTILE[name], good])
    assert facts["tools"] == len(good.tools) and facts["unread"] == 1 and facts["environments"] == 2


def test_what_is_there_twice_counts_once_and_strays_do_not() -> None:
    one, bare = skeleton("return 1"), skeleton("return 2", tools=())
    posed = library.scenario(skeleton_id=one.id, witness=[Call(tool="look", arguments={})])
    strays = [posed.replace(skeleton_id="elsewhere")]
    facts = depth.depth_facts([one, one, bare], [posed, posed, *strays])
    assert (facts["environments"], facts["unread"], facts["tools"]) == (2, 1, 1)
    assert facts["solution_lengths"] == {"1": 1} and facts["solved_environments"] == 1


def test_texts_that_no_encoding_has_are_read() -> None:
    assert len(depth.depth_frame([skeleton("return '\\ud800', self.\u00e9t\u00e9")])) == 1


def test_rules_have_one_code_when_only_names_differ_and_broken_ones_have_none() -> None:
    code = "def invariant(before, after, call):\n    return all(r['n'] >= 0 for r in after['rows'].values())"
    codes = [code, code.replace("rows", "loans"), code.replace(">=", ">"), "def invariant(", "x = 1"]
    facts = depth.depth_facts(
        [library.skeleton().replace(rules=[Rule(text="x", invariant=c) for c in codes])]
    )
    assert facts["invariants"] == 2 and facts["rules_tested"] == 5


def test_the_table_sets_ours_beside_the_sample_and_says_where_ours_is_poorer() -> None:
    odd = library.scenario(witness=[Call(tool=name, arguments={}) for name in ("nothing", "get_member")])
    table = depth.depth_table([library.skeleton()], [library.scenario(), odd, library.scenario(witness=[])])
    ours, sample = table["ours"], table["published"]
    assert ours["tools"] == 6 and ours["distinct bodies"] == 6
    assert ours["tools called by any solution, share"] == 1 and not table["poorer"].iloc[-1]
    assert ours["calls a solution"] == 4
    assert ours["tools called by one solution, share"] == pytest.approx((5 / 6 + 1 / 6) / 2)
    assert ours["rules with code that tests them, share"] == 1
    assert sample["environments"] == 31 and sample["solutions (published: recorded episodes)"] == 9
    assert table.loc["lines a tool", "poorer"] and not table.loc["tools", "poorer"]
    said = depth.depth_finding(table)
    assert f"lines a tool ({ours['lines a tool']:.3g} to {sample['lines a tool']:.3g})" in said
    assert "nowhere poorer" in depth.depth_finding(table.assign(poorer=False))


def test_without_witnesses_or_anything_nothing_is_claimed_of_them() -> None:
    for table in (depth.depth_table([library.skeleton()]), depth.depth_table([])):
        assert isnan(table.loc["calls a solution", "ours"]) and not table.loc["calls a solution", "poorer"]
        assert "solution" not in depth.depth_finding(table) and "nan" not in depth.depth_finding(table)
    assert depth.depth_finding(table) == "Nothing of ours can be compared with the published sample."


def test_what_is_compared_does_not_go_with_the_size_of_a_corpus() -> None:
    first, small = library.skeleton(), skeleton("return self._top(self.rows, key)", TOP)
    twins = [one.replace(title=f"{one.title} again") for one in (first, small)]
    posed = [library.scenario(skeleton_id=home.id, task=f"{n}") for home in (first, twins[0]) for n in "ab"]
    once = depth.depth_table([first, small], posed[:1])
    twice = depth.depth_table([first, small, *twins], posed)
    compared = once.index.difference([*depth._NO_DEPTH, "distinct bodies among equally many tools"])
    assert len(compared) == 7 and once.loc[compared, "ours"].equals(twice.loc[compared, "ours"])


def test_distinct_bodies_among_equally_many_are_those_of_all_draws() -> None:
    for draws in range(1, 7):
        sets = [len(set(drawn)) for drawn in itertools.combinations("aaabbc", draws)]
        assert depth._distinct_among({"1": 1, "2": 1, "3": 1}, draws) == pytest.approx(sum(sets) / len(sets))


# Rules


def test_kinds_of_our_rules_are_mostly_those_a_reader_gives() -> None:
    right = sum(depth.rule_kind(rule) == kind for kind, rules in OURS_READ.items() for rule in rules)
    assert right == 18 and set(OURS_READ) | set(THEIRS_READ) <= set(depth.KINDS)
    assert depth.rule_kind("Lorem ipsum.") == ""


@pytest.mark.release
def test_kinds_of_published_rules_are_mostly_those_a_reader_gives(release: Path) -> None:
    read = {sign: kind for kind, signs in THEIRS_READ.items() for sign in signs.split()}
    texts = {rule.text for world in read_environments(release / "env_metadata.json") for rule in world.rules}
    found = {sha256(text.encode()).hexdigest()[:8]: depth.rule_kind(text) for text in texts}
    assert len(read) == 20 and sum(found[sign] == kind for sign, kind in read.items()) == 17


# The published numbers


@pytest.mark.release
def test_the_published_numbers_are_those_of_the_sample(release: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parent / "bench"))
    from published_sample import facts

    assert json.loads(project.sample_path().read_text()) == json.loads(json.dumps(facts(release)))


def test_the_published_numbers_hold_no_text_and_say_where_they_are_from() -> None:
    facts = json.loads(project.sample_path().read_text())
    assert set(facts.pop("about")) == {"source", "command"} and facts["depth"]["unread"] == 0
    values = [v for block in facts.values() for v in block.values()]
    flat = [w for v in values for w in (v.values() if isinstance(v, dict) else [v])]
    assert all(isinstance(value, int | float) for value in flat)
    assert set(facts["depth"]["rule_kinds"]) <= {"", *depth.KINDS}
    for block in (block for name, block in facts.items() if name != "depth"):
        assert sum(block["counts_by_value"].values()) == block["environments"] == 31
