"""Shapes of replies as models write them, each with what was asked for and what must come of it.

A shape is read to exactly `gives`, or refused with a reason in which `told` stands: the reason goes back to the
model, so it has to name the fault. The texts are made up; their shapes are what servers and models of all sizes
have been seen to send.
"""

# ruff: noqa: E501
import json
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from envscaler.model.reply import Code, JsonObject


class Verdict(BaseModel):
    """Asked for as `verdict`."""

    model_config = ConfigDict(extra="forbid")
    reason: str
    stateful: bool


class Listing(BaseModel):
    """Asked for as `listing`."""

    model_config = ConfigDict(extra="forbid")
    names: list[str]
    count: int
    note: str | None = None


class Shape(NamedTuple):
    """One reply."""

    name: str
    asked: str
    """`verdict`, `listing`, `object`, `code`, or `method` (code that has to be the tool `count_copies`)."""
    text: str
    gives: Any = None
    """What it is read to; None where it is refused."""
    told: str = ""
    """What stands in the reason it is refused with."""
    finish: str = "stop"
    reasoning: str = ""


CLASSES: dict[str, type] = {
    "verdict": Verdict,
    "listing": Listing,
    "object": JsonObject,
    "code": Code,
    "method": Code,
}
YES = {"reason": "it keeps loans", "stateful": True}
GOOD = json.dumps(YES)
TWO = {"names": ["Ann", "Bo"], "count": 2, "note": None}
ROOM = {"rooms": {"R-1": {"beds": 2, "price": 12.50, "note": 'the "blue" one'}}}
METHOD = '''\
def count_copies(self, book_id: str) -> dict:
    """Count the copies of a book.

    Args:
        book_id: Id of the book, e.g. B-3.

    Returns:
        The number, or an error.
    """
    if book_id not in self.books:
        return {"success": False, "error": f"There is no book {book_id!r}."}
    return {"success": True, "data": self.books[book_id]["copies"]}
'''
INDENTED = "".join(f"    {line}".rstrip() + "\n" for line in METHOD.splitlines())
WHOLE_CLASS = f"class Library:\n    def __init__(self):\n        self.books: dict = {{}}\n\n{INDENTED}"
TYPED = "from typing import Any\n\n" + METHOD


def fenced(text: str, word: str = "python", mark: str = "```") -> str:
    return f"{mark}{word}\n{text.rstrip()}\n{mark}"


FENCES = [
    Shape("bare JSON", "verdict", GOOD, YES),
    Shape("json fence", "verdict", fenced(GOOD, "json"), YES),
    Shape("fence without a word", "verdict", fenced(GOOD, ""), YES),
    Shape("fence with a word in capitals", "verdict", fenced(GOOD, "JSON"), YES),
    Shape("fence of tildes", "verdict", fenced(GOOD, "json", "~~~"), YES),
    Shape("fence of four", "verdict", fenced(GOOD, "json", "````"), YES),
    Shape("fence that never closes", "verdict", f"```json\n{GOOD}\n", YES),
    Shape("fence that closes on the last line", "verdict", f"```json\n{GOOD}```", YES),
    Shape("fence on one line", "verdict", f"```json {GOOD} ```", YES),
    Shape("end of a fence alone", "verdict", f"{GOOD}\n```", YES),
    Shape("word of a fence alone", "verdict", f"json\n{GOOD}", YES),
    Shape("single backticks", "verdict", f"`{GOOD}`", YES),
    Shape("indented fence in a list", "verdict", f"- The answer:\n\n  ```json\n  {GOOD}\n  ```", YES),
    Shape("two fences, the second corrects", "verdict",
          f"{fenced(GOOD.replace('true', 'false'), 'json')}\nNo, wait.\n{fenced(GOOD, 'json')}", YES),
    Shape("two fences, one of another language", "verdict", f"{fenced('x = {}')}\n{fenced(GOOD, 'json')}", YES),
    Shape("two objects in one fence, the second corrects", "verdict",
          fenced(GOOD.replace("true", "false") + "\n" + GOOD, "json"), YES),
    Shape("fence in quote marks of Python", "verdict", f"'''json\n{GOOD}\n'''", YES),
]  # fmt: skip

AROUND = [
    Shape("prose before and after", "verdict", f"Sure! Here it is:\n{GOOD}\nLet me know if {{anything}} is unclear.", YES),
    Shape("analysis before", "verdict", f"# Analysis\nLoans {{are}} kept.\n\n# Answer\n{GOOD}", YES),
    Shape("XML around", "verdict", f"<answer>\n{GOOD}\n</answer>", YES),
    Shape("mark of a chat template behind", "verdict", f"{GOOD}<|im_end|>", YES),
    Shape("role of a chat template before", "verdict", f"<|im_start|>assistant\n{GOOD}", YES),
    Shape("channels of a chat template", "verdict",
          f"<|channel|>analysis<|message|>{GOOD.replace('true', 'false')}<|end|><|channel|>final<|message|>{GOOD}", YES),
    Shape("byte order mark", "verdict", f"\ufeff{GOOD}", YES),
    Shape("bold", "verdict", f"**{GOOD}**", YES),
    Shape("in a list of one", "verdict", f"[{GOOD}]", YES),
    Shape("under a name of its own", "verdict", f'{{"answer": {GOOD}}}', YES),
    Shape("filled into the schema", "verdict", f'{{"properties": {GOOD}}}', YES),
    Shape("as the call of a function", "verdict", f'{{"name": "answer", "arguments": {GOOD}}}', YES),
    Shape("as a JSON string", "verdict", json.dumps(GOOD), YES),
    Shape("escaped without its quotes", "verdict", json.dumps(GOOD)[1:-1], YES),
    Shape("doubled braces", "verdict", f"{{{GOOD}}}", YES),
    Shape("a list of two", "verdict", f"[{GOOD}, {GOOD}]", told="valid dictionary"),
    Shape("the schema instead", "verdict", json.dumps(Verdict.model_json_schema()), told="reason: Field required"),
]  # fmt: skip

THINKING = [
    Shape("thinking before", "verdict", f"<think>maybe {{no}}</think>\n{GOOD}", YES),
    Shape("thinking by another name", "verdict", f"<thinking>{GOOD.replace('true', 'false')}</thinking>{GOOD}", YES),
    Shape("thinking that the template opened", "verdict", f"it may be {{}}\n</think>\n{GOOD}", YES),
    Shape("thinking that never closes", "verdict", f"<think>I would say {GOOD}", told="all of it is thinking"),
    Shape("thinking and nothing else", "verdict", "<think>It is.</think>", told="all of it is thinking"),
    Shape("thinking told apart and nothing else", "verdict", "", told="all of it is thinking", reasoning="It is."),
    Shape("thinking that was cut off", "verdict", "<think>It is", told="cut off at its length limit", finish="length"),
]  # fmt: skip

ALMOST_JSON = [
    Shape("comma at the end", "listing", '{"names": ["Ann", "Bo",], "count": 2,}', TWO),
    Shape("single quotes and True", "verdict", "{'reason': 'it keeps loans', 'stateful': True}", YES),
    Shape("None, and an apostrophe", "listing", "{'names': ['Ann's', \"Bo\"], 'count': 2, 'note': None}",
          {"names": ["Ann's", "Bo"], "count": 2, "note": None}),
    Shape("escapes of Python", "listing", r"{'names': ['it\'s', '\x41\u00e9'], 'count': 2}",
          {"names": ["it's", "Aé"], "count": 2, "note": None}),
    Shape("strings in three quotes", "verdict", '{"reason": """it\nkeeps "loans".""", "stateful": True}',
          {"reason": 'it\nkeeps "loans".', "stateful": True}),
    Shape("strings joined by a plus", "verdict", '{"reason": "it keeps " +\n "loans", "stateful": true}', YES),
    Shape("curly quotes", "verdict", "{“reason”: “it keeps loans”, “stateful”: true}", YES),
    Shape("curly quotes inside", "listing", '{"names": ["the “blue” one’s"], "count": 1,}',
          {"names": ["the “blue” one’s"], "count": 1, "note": None}),
    Shape("full-width colons and commas", "verdict", '{"reason"："it keeps loans"，"stateful"：true}', YES),
    Shape("keys without quotes", "verdict", '{reason: "it keeps loans", stateful: true}', YES),
    Shape("words without quotes", "listing", '{"names": [Ann, Bo], "count": 2}', TWO),
    Shape("no comma at a line's end", "verdict", '{"reason": "it keeps loans"\n "stateful": true}', YES),
    Shape("no comma before a key", "verdict", '{"reason": "it keeps loans" "stateful": true}', YES),
    Shape("comments of three kinds", "listing",
          '{"names": ["Ann", /* and */ "Bo"], // both\n"count": 2 # that is all\n}', TWO),
    Shape("a URL is no comment", "listing", '{"names": ["http://a.b/c"], "count": 1,}',
          {"names": ["http://a.b/c"], "count": 1, "note": None}),
    Shape("quotes inside that nobody escaped", "verdict", '{"reason": "it keeps "loans" for me", "stateful": true}',
          {"reason": 'it keeps "loans" for me', "stateful": True}),
    Shape("a line break inside a string", "verdict", '{"reason": "it\nkeeps loans\n", "stateful": true}',
          {"reason": "it\nkeeps loans\n", "stateful": True}),
    Shape("a path with backslashes", "verdict", r'{"reason": "C:\Users\loans", "stateful": true}',
          {"reason": r"C:\Users\loans", "stateful": True}),
    Shape("an escape that there is not", "verdict", r'{"reason": "\d+ loans", "stateful": true}',
          {"reason": r"\d+ loans", "stateful": True}),
    Shape("non-breaking spaces", "verdict", GOOD.replace(" ", "\u00a0").replace("it\u00a0keeps\u00a0", "it keeps "), YES),
    Shape("yes for true", "verdict", '{"reason": "it keeps loans", "stateful": yes}', YES),
    Shape("a number as text", "listing", '{"names": ["Ann", "Bo"], "count": "2"}', TWO),
    Shape("a free object keeps its numbers", "object", json.dumps(ROOM)[:-1] + ",}", ROOM),
    Shape("of several free objects the largest", "object", f'For instance {{"a": 1}}:\n{json.dumps(ROOM)}', ROOM),
    Shape("code in JSON, fences in it", "object", json.dumps({"source": fenced(METHOD)}), {"source": fenced(METHOD)}),
    Shape("code in three quotes", "object", f'{{"source": """{METHOD.replace(chr(34) * 3, "~~~")}"""}}',
          {"source": METHOD.replace('"""', "~~~")}),
]  # fmt: skip

NO_JSON = [
    Shape("empty", "verdict", "", told="no text at all"),
    Shape("white space", "verdict", " \n\n\t", told="no text at all"),
    Shape("a word", "verdict", "YES", told="'YES'"),
    Shape("refusal", "verdict", "I'm sorry, but I can't help with that.", told="I'm sorry"),
    Shape("refusal in Chinese", "verdict", "抱歉，我无法回答。", told="抱歉"),
    Shape("YAML", "verdict", fenced("reason: it keeps loans\nstateful: true", "yaml"), told="text without one"),
    Shape("a table", "verdict", "| reason | stateful |\n|---|---|\n| loans | true |", told="text without one"),
    Shape("null", "verdict", "null", told="text without one"),
    Shape("a list of numbers", "object", "[1, 2]", told="JSON value that is none"),
    Shape("an empty object", "verdict", "{}", told="reason: Field required"),
    Shape("a field missing", "verdict", '{"stateful": true}', told="reason: Field required"),
    Shape("a field too many", "verdict", GOOD[:-1] + ', "sure": 1}', told="sure: Extra inputs"),
    Shape("keys in capitals", "verdict", '{"Reason": "r", "Stateful": true}', told="Stateful: Extra inputs"),
    Shape("text for a list", "listing", '{"names": "Ann, Bo", "count": 2}', told="names: Input should be a valid list"),
    Shape("a sentence for a truth value", "verdict", '{"reason": "r", "stateful": "it depends"}', told="it depends"),
    Shape("NaN", "listing", '{"names": [], "count": NaN}', told="finite numbers"),
    Shape("NaN beside a fault", "listing", "{'names': [], 'count': NaN}", told="finite numbers"),
    Shape("infinity", "object", '{"a": -Infinity}', told="finite numbers"),
    Shape("a number beyond all", "object", '{"a": 1e999}', told="finite numbers"),
    Shape("undefined", "listing", '{"names": [], "count": 2, "note": undefined}', told="undefined"),
    Shape("a key twice", "listing", '{"names": [], "count": 2, "count": 3}', told="'count' twice"),
    Shape("a key twice beside a fault", "listing", "{'names': [], 'count': 2, 'count': 3}", told="'count' twice"),
    Shape("half a character", "object", '{"a": "\\ud83d"}', told="surrogate"),
    Shape("deeper than anything", "object", '{"a":' * 300 + "1" + "}" * 300, told="in each other"),
    Shape("cut off by length", "verdict", '{"reason": "it keeps lo', told="cut off at its length", finish="length"),
    Shape("cut off, and nobody says so", "verdict", '{"reason": "it keeps loans", "stateful": tr', told="does not"),
    Shape("cut off after a first answer", "verdict", f'{GOOD} No, rather: {{"reason": "none", "st',
          told="cut off at its length", finish="length"),
    Shape("whole, and cut off after it", "verdict", f"{GOOD}\nI hope that", YES, finish="length"),
    Shape("the format echoed", "verdict", '{"reason": "...", "stateful": true or false}', told="'or false}'"),
    Shape("the format echoed in marks", "verdict", '{"reason": "<why>", "stateful": <true|false>}', told="<true"),
    Shape("the format echoed as types", "verdict", '{"reason": string, "stateful": boolean}', told="got 'boolean'"),
    Shape("the format echoed as a choice", "verdict", '{"reason": "yes" or "no", "stateful": true}', told="comma"),
    Shape("an ellipsis in a list", "listing", '{"names": ["Ann", ...], "count": 2}', told="'...]"),
    Shape("an ellipsis in an object", "listing", '{"names": [], "count": 2, ...}', told="'...}"),
    Shape("a number with a unit", "listing", '{"names": [], "count": 2 apples}', told="'apples}'"),
    Shape("a price", "listing", '{"names": [], "count": $5}', told="'$5}'"),
    Shape("a sum", "listing", '{"names": [], "count": 1 + 1}', told="'+ 1}'"),
    Shape("code for a value", "listing", '{"names": list("ab"), "count": 2}', told="(\"ab\")"),
    Shape("a list times two", "listing", '{"names": ["Ann"] * 2, "count": 2}', told="'* 2,"),
    Shape("a list that never closes", "listing", '{"names": ["Ann", "Bo", "count": 2}', told="comma"),
    Shape("equals for colon", "verdict", '{"reason"="r", "stateful"=true}', told="line 1"),
    Shape("HTML", "verdict", "{&quot;reason&quot;: &quot;r&quot;}", told="&quot;"),
]  # fmt: skip

CODE = [
    Shape("bare code", "code", METHOD, METHOD),
    Shape("python fence", "code", fenced(METHOD), METHOD),
    Shape("py fence, never closed", "code", f"```py\n{METHOD}", METHOD),
    Shape("fence of code that closes on the last line", "code", f"```python\n{METHOD.rstrip()}```", METHOD),
    Shape("code between prose", "code", f"Here you are:\n\n{METHOD}\nIt counts. Don't forget `books`.", METHOD),
    Shape("code between prose in Chinese", "code", f"代码如下：\n{METHOD}\n这个方法返回数量。", METHOD),
    Shape("code and an example of its use", "code", f"{fenced(METHOD)}\nUse it:\n{fenced('x.count_copies(1)')}", METHOD),
    Shape("rest of a fence before", "code", f":\n{fenced(METHOD)}\n\nThis method counts.", METHOD),
    Shape("rest of a word before", "code", f"thon\n{METHOD}", METHOD),
    Shape("language in the fence's first line", "code", fenced(f"python\n{METHOD}", ""), METHOD),
    Shape("code between HTML tags", "code", f"<code>\n{METHOD}</code>", METHOD),
    Shape("indented code", "code", INDENTED, METHOD),
    Shape("code with tabs", "code", METHOD.replace("    ", "\t"), METHOD.replace("    ", "\t")),
    Shape("code with CRLF", "code", METHOD.replace("\n", "\r\n"), METHOD),
    Shape("code with curly quotes", "code", METHOD.replace('["copies"]', "[“copies”]"), METHOD),
    Shape("code with non-breaking spaces", "code", METHOD.replace("    ", "\u00a0" * 4), METHOD),
    Shape("code in JSON", "code", json.dumps({"code": METHOD}), METHOD),
    Shape("code in a JSON string", "code", fenced(json.dumps(METHOD), "json"), METHOD),
    Shape("code in thinking and after it", "code", f"<think>{fenced('def f(): pass')}</think>\n{fenced(METHOD)}", METHOD),
    Shape("code with imports", "code", fenced(TYPED), TYPED),
    Shape("code with a fence in its docstring", "code", fenced(METHOD.replace("e.g. B-3", "e.g. ```B-3```")),
          METHOD.replace("e.g. B-3", "e.g. ```B-3```")),
    Shape("tabs and spaces mixed", "code", METHOD.replace("    return", "\treturn"), told="inconsistent use of tabs"),
    Shape("JavaScript", "code", fenced("function f(x) {\n  return x;\n}", "javascript"), told="line 1: invalid syntax"),
    Shape("prose for code", "code", "I would count the copies in a loop.", told="Python"),
    Shape("an ellipsis for code", "code", fenced("# rest of the class\n..."), told="statements only"),
    Shape("a lambda", "code", "count_copies = lambda self: 1", told="statements only"),
    Shape("a slip in line 10", "code", METHOD.replace("if book_id not in", "if book_id not on"), told="line 10"),
    Shape("Python 2", "code", METHOD.replace("return {", "print 'x'; return {", 1), told="line 11"),
    Shape("a prompt of the interpreter", "code", ">>> " + METHOD.replace("\n", "\n... "), told="line 1"),
    Shape("a diff", "code", fenced("+" + METHOD.replace("\n", "\n+"), "diff"), told="line 1"),
    Shape("newlines spelt out", "code", METHOD.replace("\n", "\\n"), told="line continuation"),
    Shape("code that was cut off", "code", METHOD[: METHOD.rindex("    return")], told="cut off at its length", finish="length"),
    Shape("code in a fence that was cut off", "code", f"```python\n{METHOD}", told="cut off at its length", finish="length"),
    Shape("a whole fence, cut off after it", "code", f"{fenced(METHOD)}\nNote that", METHOD, finish="length"),
]  # fmt: skip

METHODS = [
    Shape("the method", "method", fenced(METHOD), METHOD),
    Shape("in its class", "method", fenced(WHOLE_CLASS), METHOD),
    Shape("with imports, in its class", "method", fenced("import re\n" + WHOLE_CLASS), "import re\n" + METHOD),
    Shape("with lines that try it", "method", fenced(f"{METHOD}\n\nx = Library()\nprint(x.count_copies('B-1'))"), METHOD),
    Shape("with a main part", "method", fenced(f"{METHOD}\n\nif __name__ == '__main__':\n    pass"), METHOD),
    Shape("with another method", "method", fenced(f"{METHOD}\n\ndef other(self) -> dict:\n    return {{}}"), METHOD),
    Shape("twice", "method", fenced(f"{METHOD.replace('copies', 'x').replace('x(', 'copies(')}\n\n{METHOD}"), METHOD),
    Shape("with a helper that it needs", "method",
          fenced("def _copies(book):\n    return 1\n\n" + METHOD.replace('self.books[book_id]["copies"]', "_copies(book_id)")),
          told="nothing else"),
    Shape("in a class, with a helper that it needs", "method",
          fenced(WHOLE_CLASS.replace('self.books[book_id]["copies"]', "self._n()") + "\n    def _n(self):\n        return 1\n"),
          told="nothing else"),
    Shape("with a constant that it needs", "method", fenced("MOST = 3\n" + METHOD.replace('["copies"]', "[MOST]")),
          told="nothing else"),
    Shape("self missing", "method", fenced(METHOD.replace("self, ", "")), told="must be self"),
    Shape("a decorator", "method", fenced("@staticmethod\n" + METHOD), told="no decorators"),
    Shape("async", "method", fenced("async " + METHOD), told="AsyncFunctionDef"),
    Shape("a nested class", "method", fenced(f"class A:\n    class B:\n{''.join(f'    {x}' for x in INDENTED.splitlines(True))}"),
          told="nothing else"),
    Shape("another name", "method", fenced(METHOD.replace("count_copies", "copies_of")), told="must be called"),
    Shape("no annotation", "method", fenced(METHOD.replace(": str", "")), told="type annotation"),
    Shape("no docstring", "method", fenced(METHOD[:46] + METHOD[METHOD.index("    if"):]), told="needs a docstring"),
    Shape("a stub", "method", fenced("def count_copies(self) -> dict:\n    \"\"\"Count.\"\"\"\n    ..."), told="returns nothing"),
    Shape("keywords at will", "method", fenced(METHOD.replace("book_id: str", "**given")), told="must name its parameters"),
]  # fmt: skip

TABLE = [*FENCES, *AROUND, *THINKING, *ALMOST_JSON, *NO_JSON, *CODE, *METHODS]
