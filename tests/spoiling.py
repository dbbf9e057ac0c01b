"""A good answer made bad, as models and servers do it: the shapes of `replies_table`, for any answer.

    answer → SHAPES[kind] → an OpenAI completion that is hard or impossible to read

Kinds of an answer: `json`, `code`, `call` (native tool calls), `words` (what an agent says, calls written as text too).
"""

import json
import re
from collections.abc import Callable
from typing import Any

from loopback import completion

from envscaler.model.request import Reply

Shape = Callable[[str], dict[str, Any]]


def fenced(text: str, word: str = "json") -> str:
    return f"```{word}\n{text}\n```"


def bare(text: str) -> str:
    """The text without the fence it may stand in."""
    return re.sub(r"\A```\w*\n|\n```\s*\Z", "", text)


def first_of(text: str, share: float) -> str:
    return text[: max(1, int(len(text) * share))]


def _remade(change: Callable[[dict[str, Any]], Any]) -> Shape:
    return lambda text: completion(json.dumps(change(json.loads(text)), ensure_ascii=False))


def _python(text: str) -> str:
    return repr(json.loads(text))


def _curly(text: str) -> str:
    quotes = iter("“”" * len(text))
    return re.sub('"', lambda _: next(quotes), text)


def _nan(text: str) -> str:
    return re.sub(r"(?<=: )-?\d+(?=[,}])", "NaN", text, count=1)


ANY: dict[str, Shape] = {
    "empty": lambda text: completion(""),
    "white space": lambda text: completion(" \n\n\t"),
    "null": lambda text: completion(None, usage=None),
    "refusal": lambda text: completion("I'm sorry, but I can't help with that."),
    "refusal in a field of its own": lambda text: completion(None, refusal="I can't help with that."),
    "refusal in Chinese": lambda text: completion("抱歉，我无法回答。"),
    "thinking before": lambda text: completion(f"<think>maybe {{no}}, maybe yes</think>\n{text}"),
    "thinking apart": lambda text: completion(text, reasoning_content="It may be {so}."),
    "thinking that the template opened": lambda text: completion(f"it may be\n</think>\n{text}"),
    "thinking that never closes": lambda text: completion(f"<think>I would say {text}"),
    "cut off by length": lambda text: completion(first_of(text, 0.5), finish="length"),
    "cut off, and nobody says so": lambda text: completion(first_of(text, 0.8), finish=None),
    "mark of a chat template behind": lambda text: completion(f"{text}<|im_end|>"),
    "content in parts": lambda text: _in_parts(text),
    "byte order mark": lambda text: completion(f"\ufeff{text}"),
}
JSON: dict[str, Shape] = {
    "fence": lambda text: completion(fenced(text)),
    "fence that never closes": lambda text: completion(f"```json\n{text}\n"),
    "prose around": lambda text: completion(
        f"Sure! Here it is:\n{text}\nLet me know if {{anything}} is unclear."
    ),
    "in a list of one": lambda text: completion(f"[{text}]"),
    "under a name of its own": lambda text: completion(f'{{"answer": {text}}}'),
    "comma at the end": lambda text: completion(f"{text.rstrip()[:-1]},}}"),
    "literals of Python": lambda text: completion(_python(text)),
    "curly quotes": lambda text: completion(_curly(text)),
    "comment": lambda text: completion(f"{{ // the answer\n{text.lstrip()[1:]}"),
    "as a JSON string": lambda text: completion(json.dumps(text)),
    "NaN": lambda text: completion(_nan(text)),
    "a field missing": _remade(lambda answer: dict(list(answer.items())[1:])),
    "a field too many": _remade(lambda answer: {**answer, "sure": 1}),
    "the format echoed": _remade(lambda answer: dict.fromkeys(answer, "...")),
    "the format echoed in marks": lambda text: completion(
        "{" + ", ".join(f'"{name}": <{name}>' for name in json.loads(text)) + "}"
    ),
    "YAML": lambda text: completion(
        fenced("\n".join(f"{k}: {v}" for k, v in json.loads(text).items()), "yaml")
    ),
}
CODE: dict[str, Shape] = {
    "no fence": lambda text: completion(bare(text)),
    "fence that never closes": lambda text: completion(f"```py\n{bare(text)}\n"),
    "prose around": lambda text: completion(f"Here you are:\n\n{text}\n\nIt does what was {{asked}}."),
    "tabs": lambda text: completion(text.replace("    ", "\t")),
    "CRLF": lambda text: completion(text.replace("\n", "\r\n")),
    "curly quotes": lambda text: completion(_curly(text)),
    "in a class": lambda text: completion(
        fenced("class Answer:\n" + re.sub("^(?=.)", "    ", bare(text), flags=re.M), "python")
    ),
    "self missing": lambda text: completion(text.replace("(self, ", "(").replace("(self)", "()")),
    "async": lambda text: completion(re.sub("^( *)def ", r"\1async def ", text, flags=re.M)),
    "decorator": lambda text: completion(re.sub("^( *)def ", r"\1@staticmethod\n\1def ", text, flags=re.M)),
    "in JSON": lambda text: completion(json.dumps({"code": bare(text)})),
    "an example of its use": lambda text: completion(f"{text}\nUse it:\n{fenced('x.do(1)', 'python')}"),
    "a stub": lambda text: completion(fenced("# rest of the class\n...", "python")),
}
WORDS: dict[str, Shape] = {
    "fence": lambda text: completion(fenced(text, "")),
    "prose around": lambda text: completion(f"Let me see.\n{text}\nI hope that helps."),
    "end mark missing": lambda text: completion(text.replace("</tool_call>", "")),
    "literals of Python": lambda text: completion(
        text.replace('"', "'").replace("true", "True").replace("null", "None")
    ),
    "the format echoed": lambda text: completion(
        '<tool_call>\n{"name": "some_tool", "arguments": {"some_parameter": "a value"}}\n</tool_call>'
    ),
    "said twice": lambda text: completion(f"{text}\n{text}"),
}


def _in_parts(text: str) -> dict[str, Any]:
    answer = completion("")
    answer["choices"][0]["message"]["content"] = [
        {"type": "text", "text": text[:5]}, {"type": "text", "text": text[5:]},
    ]  # fmt: skip
    return answer


# Native tool calls: the shape gets the one call as JSON.


def _called(change: Callable[[dict[str, Any]], Any], content: str | None = None) -> Shape:
    def shape(text: str) -> dict[str, Any]:
        made = change(json.loads(text))
        calls = made if isinstance(made, list) else [made]
        return completion(content, finish="tool_calls", tool_calls=calls)

    return shape


def _arguments(change: Callable[[str], Any], **more: Any) -> Shape:
    return _called(
        lambda call: {
            **call,
            "function": {**call["function"], "arguments": change(call["function"]["arguments"]), **more},
        }
    )


CALLS: dict[str, Shape] = {
    "arguments with a comma at the end": _arguments(lambda text: f"{text[:-1]},}}"),
    "arguments in Python": _arguments(_python),
    "arguments cut off": _arguments(lambda text: first_of(text, 0.7)),
    "arguments as an object": _arguments(json.loads),
    "arguments as a JSON string": _arguments(json.dumps),
    "arguments missing": _arguments(lambda text: None),
    "an unknown tool": _arguments(lambda text: text, name="do_everything"),
    "text and a call": _called(lambda call: call, "I will look that up now."),
    "thinking and a call": _called(lambda call: call, "<think>I need {this}.</think>"),
    "no id and no type": _called(lambda call: {"function": call["function"]}),
    "the same call twice": _called(lambda call: [call, call]),
    "a call that is none": _called(lambda call: "call"),
    "a call as text": lambda text: completion(
        f"<tool_call>\n{json.dumps(json.loads(text)['function'])}\n</tool_call>"
    ),
    "empty": ANY["empty"],
    "null": ANY["null"],
    "refusal": ANY["refusal"],
    "thinking that never closes": lambda text: completion("<think>I would call the tool"),
}
SHAPES = {"json": {**ANY, **JSON}, "code": {**ANY, **CODE}, "words": {**ANY, **WORDS}, "call": CALLS}


def kind_of(step: str, reply: Reply) -> str:
    """What kind of answer a reply is."""
    if reply.tool_calls:
        return "call"
    if step in ("rollouts/act", "rollouts/act_text"):
        return "words"
    return "json" if reply.text.lstrip().startswith("{") else "code"


def spoilt(kind: str, shape: str, reply: Reply) -> dict[str, Any]:
    """The completion that says the reply in that shape."""
    return SHAPES[kind][shape](json.dumps(reply.tool_calls[0]) if kind == "call" else reply.text)
