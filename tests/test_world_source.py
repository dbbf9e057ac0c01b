"""Reading and joining sources: schemas that every provider takes, one class out of parts, effects and lint."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import LOANS

from envscaler.error import SourceError
from envscaler.world.docstring import parameter_descriptions
from envscaler.world.joining import assemble, merged_imports, replace_method
from envscaler.world.lint import lint
from envscaler.world.source import parse_class, read_tools


def schema_of(annotation, default="", top=""):
    source = f"{top}\nclass World:\n    def run(self, x: {annotation}{default}):\n        '''Run.'''\n"
    return read_tools(source, "World")[0].parameters


def test_a_class_is_taken_apart():
    parts = parse_class(LOANS)
    assert parts.class_name == "Library" and parts.doc == "Lends books."
    assert list(parts.methods) == ["__init__", "get_book", "get_member", "lend", "take_back", "_helper"]
    assert parts.methods["lend"].public and not parts.methods["_helper"].public
    assert (
        parts.methods["get_book"].source.startswith("def get_book(self")
        and "Look up" in parts.methods["get_book"].doc
    )
    assert parts.head.rstrip().endswith("self.counter = 0") and "class Book" in parts.head
    assert parts.key_types == {"members": ["int"]}
    assert LOANS.splitlines()[parts.methods["lend"].line - 1].strip().startswith("def lend")


def test_the_class_is_found_behind_helpers_and_bases():
    source = "class Base: pass\nclass Row(dict): pass\nclass World(Base):\n    def run(self): pass\nclass After: pass"
    assert parse_class(source).class_name == "World"
    assert parse_class(source, "Base").class_name == "Base"
    with pytest.raises(SourceError, match="expected a class Nope, got Base, Row, World, After"):
        parse_class(source, "Nope")


@pytest.mark.parametrize(
    "text", ["class A:\n  def f(self:", "x = 1", "", "class A:\n    x = '\x00'", "(" * 5000]
)
def test_what_is_no_class_is_a_source_error_with_a_line(text):
    with pytest.raises(SourceError, match="line"):
        parse_class(text)


def test_a_giant_source_is_refused_before_it_is_parsed():
    with pytest.raises(SourceError, match="at most"):
        parse_class("x = 1\n" * 100_000)


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("list[int]", {"type": "array", "items": {"type": "integer"}}),
        (
            "typing.List[List[str]]",
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        ),
        ("tuple[int, ...]", {"type": "array", "items": {"type": "integer"}}),
        ("dict", {"type": "object", "additionalProperties": True}),
        ("Dict[str, float]", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("Literal['a', 'b']", {"type": "string", "enum": ["a", "b"]}),
        ("Literal[1, 2, 3]", {"type": "integer", "minimum": 1, "maximum": 3}),
        ("str | None", {"type": "string", "nullable": True}),
        ("Optional[List[str]]", {"type": "array", "items": {"type": "string"}, "nullable": True}),
        ("Union[int, None]", {"type": "integer", "nullable": True}),
        ("int | float", {"type": "number"}),
        ("int | str", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("'str'", {"type": "string"}),
        ("Annotated[int, 'kg']", {"type": "integer"}),
        ("Unknown", {"type": "object", "additionalProperties": True}),
    ],
)
def test_types(annotation, wanted):
    found = schema_of(annotation)["properties"]["x"]
    assert found.pop("description") and found == wanted


def test_record_types_enums_and_aliases_are_unfolded():
    top = (
        "class Row(TypedDict):\n    id: str\n    tags: list[str]\n    note: NotRequired[str]\n    kids: 'list[Row]'\n"
        "class Kind(Enum):\n    A = 'a'\n    B = 'b'\nId = Literal['x', 'y']\n"
    )
    row = schema_of("Row", top=top)["properties"]["x"]
    assert row["required"] == ["id", "tags", "kids"] and row["properties"]["tags"]["items"] == {
        "type": "string"
    }
    assert schema_of("Kind", top=top)["properties"]["x"]["enum"] == ["a", "b"]
    assert schema_of("Id", top=top)["properties"]["x"]["enum"] == ["x", "y"]


@pytest.mark.parametrize(("default", "required"), [("", ["x"]), (" = None", []), (" = 5", [])])
def test_what_has_a_default_is_not_required_and_the_rest_is(default, required):
    assert schema_of("int | None", default)["required"] == required


def acceptable(schema):
    """What OpenAI and Gemini refuse: no type, a list of types, a bare array, enums of numbers."""
    if "anyOf" in schema:
        return all(map(acceptable, schema["anyOf"]))
    if not isinstance(schema.get("type"), str):
        return False
    if schema["type"] == "array" and not acceptable(schema.get("items", {})):
        return False
    if not all(isinstance(value, str) for value in schema.get("enum", [])):
        return False
    inner = list(schema.get("properties", {}).values())
    if isinstance(schema.get("additionalProperties"), dict):
        inner.append(schema["additionalProperties"])
    return all(map(acceptable, inner))


names = st.sampled_from(
    [
        "str",
        "int",
        "float",
        "bool",
        "list",
        "List",
        "dict",
        "Dict",
        "Any",
        "object",
        "None",
        "Row",
        "set",
        "tuple",
        "Optional",
        "Literal[1]",
        "Literal['a',None]",
        "Literal[True]",
        "bytes",
        "datetime",
        "Decimal",
        "Foo",
    ]
)
annotations = st.recursive(
    names,
    lambda inner: st.one_of(
        st.builds(
            "{}[{}]".format, st.sampled_from(["list", "List", "set", "Optional", "Sequence", "Union"]), inner
        ),
        st.builds("{}[{}, {}]".format, st.sampled_from(["dict", "Dict", "tuple", "Union"]), inner, inner),
        st.builds("{} | {}".format, inner, inner),
    ),
    max_leaves=5,
)


@given(annotations)
def test_no_annotation_makes_a_schema_that_a_provider_refuses(annotation):
    schema = schema_of(annotation, top="class Row(TypedDict):\n    a: list\n    b: 'Row'\n")
    assert acceptable(schema), json.dumps(schema)


def test_only_plain_public_methods_are_tools():
    source = (
        "class World:\n    @property\n    def size(self): return 1\n"
        "    def _hidden(self): pass\n    def __len__(self): return 1\n"
        "    @staticmethod\n    def fixed(a: int): pass\n    async def later(self, a: int): pass\n"
        "    def odd(self, a, /, b=1, *, c, d=2): pass\n    def odd2(self): pass\n"
    )
    tools = {tool.name: tool.parameters for tool in read_tools(source, "World")}
    assert list(tools) == ["fixed", "later", "odd", "odd2"]
    assert list(tools["fixed"]["properties"]) == ["a"] and tools["odd"]["required"] == ["a", "c"]


def test_descriptions_come_from_the_docstring():
    lend = next(tool for tool in read_tools(LOANS, "Library") if tool.name == "lend")
    assert lend.description == "Lend a copy of a book.\n\nReturns:\n    The new loan."
    assert lend.parameters["properties"]["member"]["description"] == "Number of the member."
    doc = "Do.\n\nArgs:\n    a (str, optional): One\n        more.\n    *b: Two: three.\n\n"
    doc += "    c: Four.\n\nReturns:\n    d: no."
    assert parameter_descriptions(doc) == {"a": "One more.", "b": "Two: three.", "c": "Four."}
    long = read_tools(f"class W:\n    def f(self):\n        '''{'x' * 2000}'''", "W")[0]
    assert len(long.description) <= 1024


@pytest.mark.parametrize(
    ("body", "writes"),
    [
        ("self.n = 1", True),
        ("self.n += 1", True),
        ("del self.rooms['a']", True),
        ("self.rooms['a']['x'] = 1", True),
        ("room = self.rooms['a']\nroom['x'] = 1", True),
        ("room = self.rooms.get('a')\nif room:\n    room.update(x=1)", True),
        ("for room in self.rooms.values():\n    room['x'] = 1", True),
        ("for k, room in self.rooms.items():\n    room['x'] = 1", True),
        ("found = [r for r in self.rooms.values()]\nfound[0]['x'] = 1", True),
        ("room = next((r for r in self.rooms.values()), None)\nroom['x'] = 1", True),
        ("for r in sorted(self.rooms.values(), key=str):\n    r['tags'].append(1)", True),
        ("tags = self.rooms['a']['tags']\ntags += [1]", True),
        ("self._set()", True),
        ("room = self._find()\nroom['x'] = 1", True),
        ("self._touch(self.rooms['a'])", True),
        ("setattr(self, 'n', 1)", True),
        ("(room := self.rooms['a'])['x'] = 1", True),
        ("try:\n    pass\nexcept KeyError:\n    self.log.append(1)", True),
        ("room = dict(self.rooms['a'])\nroom['x'] = 1", False),
        ("room = {**self.rooms['a']}\nroom['x'] = 1", False),
        ("room = copy.deepcopy(self.rooms['a'])\nroom['x'] = 1", False),
        ("found = []\nfor r in self.rooms.values():\n    found.append(r)", False),
        ("found = list(self.rooms.values())\nfound.sort(key=str)\nfound.pop()", False),
        ("n = self.n\nn += 1", False),
        ("out = {k: [] for k in self.rooms}\nout['a'].append(1)", False),
        ("return {'data': self.rooms}", False),
        ("self._touch({'x': 1})", False),
        ("room = self.rooms['a']\nroom = {}\nroom['x'] = 1", False),
        ("'a'.join(self.rooms).replace('a', 'b')", False),
    ],
)
def test_which_methods_write(body, writes):
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    source = (
        f"class W:\n    def run(self):\n{indented}\n    def _set(self):\n        self._deeper()\n"
        "    def _deeper(self):\n        self.n = 2\n    def _find(self):\n        return self.rooms['a']\n"
        "    def _touch(self, room):\n        room['x'] = 1\n"
    )
    assert read_tools(source, "W")[0].mutates is writes
    assert read_tools(source, "W", {"run": not writes})[0].mutates is not writes


HEAD = '''"""A world."""
import json
from typing import Dict

# The rows.
class Row(dict):
    pass


# The world.
class World:
    """It."""

    def __init__(self, initial_state=None):
        self.rows: Dict[str, Row] = {}  # keep me
'''


def test_parts_become_one_class():
    made = assemble(
        HEAD,
        [
            "from typing import List\nimport re\n\n"
            "def one(self) -> List[str]:\n    '''One.'''\n    return re.findall('a', 'a')",
            "    def two(self):\n        return 2\n",
            "import json\n    @staticmethod\n    def three():\n        return 3",
            "def four(self):\n    return '''a\nb'''\n",
            "class World:\n    def five(self):\n        return 5",
        ],
    )
    parts = parse_class(made)
    assert list(parts.methods) == ["__init__", "one", "two", "three", "four", "five"]
    assert (
        made.count("import json") == 1
        and "from typing import Dict, List" in made
        and made.startswith('"""A world."""')
    )
    assert "# keep me" in made and "# The rows.\nclass Row" in made and "# The world.\nclass World" in made
    space: dict = {}
    exec(made, space)
    assert space["World"]().four() == "a\nb" and space["World"]().three() == 3
    assert "\n\n\n    def" not in made and made.count("\n\n    def") == 5
    assert assemble(made, []) == made


def test_a_method_replaces_the_one_of_its_name():
    made = replace_method(
        LOANS, "Library", "def get_book(self, book_id: str) -> dict:\n    return {'new': math.pi}"
    )
    assert list(parse_class(made).methods) == list(parse_class(LOANS).methods)
    assert "'new'" in made and "Look up a book" not in made
    assert (
        replace_method(made, "Library", parse_class(LOANS).methods["get_book"].source).strip()
        == assemble(LOANS, []).strip()
    )


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("def f(self):\n    return (", "method 1, line"),
        ("x = 1", "expected the source of a method"),
        ("", "expected the source of a method"),
        ("Sorry, I cannot.", "method 1, line 1"),
    ],
)
def test_what_is_no_method_is_a_source_error(method, said):
    with pytest.raises(SourceError, match=said):
        assemble(HEAD, [method])


def test_imports_are_merged():
    merged = merged_imports(
        [
            "import re",
            "from a import b",
            "from __future__ import annotations",
            "from a import c, b as d",
            "import re",
        ]
    )
    assert merged == ["from __future__ import annotations", "import re", "from a import b, b as d, c"]


def test_an_import_in_a_docstring_is_not_hoisted():
    made = assemble(
        HEAD, ["def f(self):\n    '''Do.\n\n    import nothing from here.\n    '''\n    return 1"]
    )
    assert "import nothing" not in made.partition("class")[0]
    ast.parse(made)


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("import os\nclass W:\n    def f(self): pass", "import", 1),
        ("class W:\n    def f(self):\n        return open('x')", "builtin", 3),
        ("class W:\n    def f(self):\n        return ().__class__.__subclasses__()", "dunder", 3),
        ("class W:\n    def f(self): pass\nprint(1)", "top-level", 3),
        ("class W:\n    x = {}\n    def f(self): pass", "class-state", 2),
        ("class W:\n    def f(self):\n        self._x = 1", "private-state", 3),
        ("class W:\n    def f(self): pass\n    def f(self): pass", "twice", 2),
        ("class W:\n    def _f(self): pass", "no-tools", 1),
        ("class W:\n    def f(self): pass", "no-docstring", 2),
        ("class W:\n    def f(self, a): 'x'", "no-type", 2),
        ("class W:\n    def f(self, *a): 'x'", "star", 2),
        ("class W(", "no-source", 1),
    ],
)
def test_lint_names_the_line(source, kind, line):
    found = {finding.kind: finding for finding in reversed(lint(source))}
    assert kind in found and f"line {line}:" in found[kind].message


def test_a_clean_class_has_no_findings():
    assert [f for f in lint(LOANS) if f.severity != "note"] == []
