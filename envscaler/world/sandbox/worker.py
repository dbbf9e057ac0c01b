"""The worker: one environment or one list of checks, in a process that is thrown away.

Talks frames of a four-byte length and JSON, one reply to each request, in order; whatever happens here reaches
the user's process as JSON text only. Who starts and seals it is `zygote`. Standard library only. Nothing here
decides what a failure means; `world.environment` and `world.check` do.
"""

import base64
import builtins
import functools
import importlib
import inspect
import json
import marshal
import os
import struct
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any

import envscaler.world.sandbox.seal as seal
from envscaler.syntax import FILE
from envscaler.world.clock import Position, stand_in
from envscaler.world.sandbox.allowed import ALLOWED, HIDDEN
from envscaler.world.sandbox.observe import observe
from envscaler.world.sandbox.trace import Trace
from envscaler.world.sandbox.track import (
    LOSES,
    Kept,
    NotJson,
    Tracker,
    as_before,
    encode,
    pack,
    quick,
    unpack,
    with_keys,
)

LIMIT = 8 * 2**20
"""Bytes that one frame may have."""
_loads = json.loads
_NAMES = {name: value for name, value in vars(builtins).items() if name not in HIDDEN}
"""The builtins that generated code sees."""


# Frames


def receive(fd: int) -> Any:
    """The next frame, or None at the end."""
    head = _read(fd, 4)
    if head is None:
        return None
    (length,) = struct.unpack("!I", head)
    body = _read(fd, length) if length <= LIMIT else None
    return None if body is None else _loads(body)


def _read(fd: int, length: int) -> bytes | None:
    parts: list[bytes] = []
    while length:
        part = os.read(fd, min(length, 1 << 20))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def send(fd: int, body: bytes) -> None:
    """Write one frame."""
    frame = memoryview(struct.pack("!I", len(body)) + body)
    while frame:
        frame = frame[os.write(fd, frame) :]


# Generated code


class Space:
    """The names one piece of generated code sees: builtins, imports, and nothing shared with another piece."""

    def __init__(self, position: Position) -> None:
        self._position = position
        self._modules: dict[str, ModuleType] = {}
        names = dict(_NAMES, __import__=self._import, print=lambda *args, **kwargs: None)
        self.globals: dict[str, Any] = {"__builtins__": names, "__name__": "environment"}

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if name == "_strptime":  # what `datetime.strptime` itself asks for
            return sys.modules[name]
        if level or name not in ALLOWED:
            raise ImportError(f"{name!r} cannot be imported here; allowed are {', '.join(sorted(ALLOWED))}")
        module = self._module(name)
        if "." in name and not fromlist:
            return self._module(name.partition(".")[0])
        return module

    def _module(self, name: str) -> ModuleType:
        # A copy, so that what one piece writes into a module is not seen by the next.
        if name not in self._modules:
            self._modules[name] = stand_in(name, self._position) or _copied(importlib.import_module(name))
        return self._modules[name]

    def run(self, source: str, code: str = "") -> None:
        """Execute a source in this space; compiled already where `code` has it, as base64 of marshalled bytes."""
        exec(marshal.loads(base64.b64decode(code)) if code else _compiled(source), self.globals)


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> CodeType:
    # A check is run on state after state, and compiling it takes longer than running it.
    return compile(source, FILE, "exec", dont_inherit=True)


def _copied(real: ModuleType) -> ModuleType:
    copy = ModuleType(real.__name__, real.__doc__)
    vars(copy).update({k: v for k, v in vars(real).items() if k not in ("__loader__", "__spec__")})
    return copy


def described(error: BaseException) -> dict[str, Any]:
    """Type, message and line of an error of generated code, whatever its `__str__` does."""
    try:
        message = str(error)[:500]
    except BaseException:  # noqa: BLE001 - the error's class is generated code too
        message = ""
    line, trace = None, error.__traceback__
    while trace is not None:
        frame: FrameType = trace.tb_frame
        if frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno
    return {"type": type(error).__name__[:100], "message": message, "line": line}


def finished(value: Any) -> Any:
    """What a tool returned; an `async` tool is run to its end, there being nothing to wait for."""
    if not inspect.iscoroutine(value):
        return value
    try:
        value.send(None)
    except StopIteration as stop:
        return stop.value
    value.close()
    raise RuntimeError("an async tool waited for something that never comes")


# What a worker does


class Worker:
    """Answers requests about one environment, or about one list of checks."""

    def __init__(self) -> None:
        self._position = Position()
        self._instance: Any = None
        self._tracker: Tracker | None = None
        self._tools: frozenset[str] = frozenset()
        self._key_types: dict[str, list[str]] = {}
        self._held: dict[str, Any] = {}
        self._marks: dict[int, dict[str, Kept]] = {}

    def answer(self, request: dict[str, Any]) -> bytes:
        """The reply to one request, as JSON."""
        doing = getattr(self, f"_do_{request['do']}")
        try:
            if "rewind" in request:
                self._rewind(request["rewind"])
            body = b'{"id":%d,"ok":true,%s' % (request["id"], doing(request))
            if len(body) > LIMIT:
                raise NotJson(f"the answer has {len(body):,} bytes; at most {LIMIT:,} are allowed")
        except BaseException as error:  # noqa: BLE001 - sys.exit in a tool is the tool's fault like any other
            if self._tracker is not None:
                self._tracker.roll_back()
            recycle = isinstance(error, MemoryError)
            return encode_safely(
                {"id": request["id"], "ok": False, "error": described(error), "recycle": recycle}
            )
        if request["do"] == "call" and self._tracker is not None:
            self._tracker.commit()
        return body

    def _do_load(self, request: dict[str, Any]) -> bytes:
        state, key_types = request["state"], request["key_types"]
        self._position.move(request["seed"], -1, 0.0, request["start"])
        space = Space(self._position)
        space.run(request["source"], request["code"])
        kind = space.globals.get(request["class_name"])
        if not isinstance(kind, type):
            raise TypeError(f"the source has no class {request['class_name']}")
        given = {name: quick(value) for name, value in state.items()}
        values = {k: with_keys(v, key_types.get(k, [])) for k, v in state.items()}
        self._instance = instance = construct(kind, values)
        for name in LOSES & set(getattr(instance, "__dict__", {})) - set(values):
            delattr(instance, name)
        for name, value in values.items():
            if name.startswith("__"):
                raise ValueError(f"the state names {name!r}, which is no attribute of a state")
            setattr(instance, name, as_before(getattr(instance, name, None), value))
        self._tools, self._key_types = frozenset(request["tools"]), key_types
        self._tracker = Tracker(instance, frozenset(values))
        self._marks.clear()
        return b'"state":%s}' % self._tracker.json(besides=given)

    def _do_call(self, request: dict[str, Any]) -> bytes:
        name = request["tool"]
        assert self._tracker is not None and name in self._tools
        self._position.move(request["seed"], request["call"], request["slept"], request["start"])
        kind = type(self._instance)
        # From the class: a table of the state may carry the name of a tool.
        method = inspect.getattr_static(kind, name).__get__(self._instance, kind)
        # The reply becomes text first: a live record in it would look to the tracker like a change.
        reply = encode(finished(method(**request["arguments"])))
        rest = encode({"slept": self._position.slept})[1:]
        return b'"reply":%s,"patch":%s,%s' % (reply, self._tracker.patch(), rest)

    def _do_calls(self, request: dict[str, Any]) -> bytes:
        """Calls one after another, as far as none raises: what each told. The one that raises is undone, and told."""
        assert self._tracker is not None
        told, calls, raised = [], request.pop("calls")[::-1], {}
        while calls:
            request |= calls.pop()
            try:
                told.append(b"{%s" % self._do_call(request))
            except BaseException as error:  # noqa: BLE001 - sys.exit in a tool is the tool's fault like any other
                self._tracker.roll_back()
                raised = {"raised": described(error), "recycle": isinstance(error, MemoryError)}
                break
            self._tracker.commit()
            request |= {"call": request["call"] + 1, "slept": self._position.slept, "arguments": None}
            self._tracker.settle()
        return b'"done":[%s],"after":%s}' % (b",".join(told), encode_safely(raised))

    def _do_attempt(self, request: dict[str, Any]) -> bytes:
        """A call as `call` makes it; the state is put back."""
        told = self._do_call(request)
        assert self._tracker is not None
        self._tracker.roll_back()
        return told

    def _do_watch(self, request: dict[str, Any]) -> bytes:
        """An attempt that tells which lines it ran and which errors were raised on the way."""
        trace = Trace(FILE)
        told = trace.run(lambda: self._do_attempt(request))
        return b'"lines":%s,"errors":%s,%s' % (encode(sorted(trace.lines)), encode(trace.errors), told)

    def _do_observe(self, request: dict[str, Any]) -> bytes:
        """One call for the referee: what it did besides replying; the state is put back."""
        assert self._tracker is not None and request["tool"] in self._tools
        self._position.move(request["seed"], request["call"], request["slept"], request["start"])
        facts = observe(self._instance, request["tool"], request["arguments"], self._key_types)
        if error := facts.pop("raised", None):
            facts["error"] = described(error)
        told = encode(facts)
        self._tracker.roll_back()
        return b'"facts":%s}' % told

    def _do_mark(self, request: dict[str, Any]) -> bytes:
        """Take note of this moment under a number."""
        assert self._tracker is not None
        self._marks[request["mark"]] = self._tracker.mark()
        return b'"marked":true}'

    def _rewind(self, mark: int) -> None:
        """Go back to a moment; far cheaper than to load the state again."""
        assert self._tracker is not None
        self._tracker.rewind(self._marks[mark])

    def settle(self) -> None:
        """What can be done after a reply, while the parent is busy with it."""
        if self._tracker is not None:
            self._tracker.settle()

    def _do_hold(self, request: dict[str, Any]) -> bytes:
        self._held |= request["values"]
        for name, change in request.get("changes", {}).items():
            # A state that is mostly like another one comes as its differences; they share the rest.
            base = self._held[change["like"]]
            state = {k: v for k, v in base.items() if k not in change["gone"]} | change["set"]
            for table, rows in change["rows"].items():
                gone = set(rows["gone"])
                state[table] = {k: v for k, v in base[table].items() if k not in gone} | rows["set"]
            self._held[name] = state
        return b'"held":true}'

    def _do_judge(self, request: dict[str, Any]) -> bytes:
        sources, runs = request["sources"], request["runs"]
        used = {*request["globals"].values(), *(name for names in runs for name in names)} & self._held.keys()
        kept = {name: quick(self._held[name]) for name in used}
        first = used.intersection(
            [*request["globals"].values(), *(name for names in runs[:1] for name in names)]
        )
        rows = [[self._judge(request, source, names) for source in sources] for names in runs[:1]]
        if not self._written(kept, first):  # a source that writes mostly does so at once
            rows += [[self._judge(request, source, names) for source in sources] for names in runs[1:]]
        if len(rows) < len(runs) or self._written(kept, used):
            # A source wrote into what it was given: each is asked again, on copies of its own.
            rows = [[self._apart(request, source, names, kept) for source in sources] for names in runs]
            self._held |= {name: unpack(known) for name, known in kept.items()}
        return b'"answers":%s}' % encode([list(column) for column in zip(*rows, strict=True)])

    def _written(self, kept: dict[str, bytes], names: set[str]) -> bool:
        return any(quick(self._held[name]) != kept[name] for name in names)

    def _apart(
        self, request: dict[str, Any], source: str, names: list[str], kept: dict[str, bytes]
    ) -> dict[str, Any]:
        """What a source says in one run, whatever ran before."""
        given = {*request["globals"].values(), *names} & kept.keys()
        self._held |= {name: unpack(kept[name]) for name in given}
        return self._judge(request, source, names)

    def _judge(self, request: dict[str, Any], source: str, names: list[str]) -> dict[str, Any]:
        self._position.move(0, 0, 0.0)
        space = Space(self._position)
        try:
            for name, held in request["globals"].items():
                if name in source:
                    space.globals[name] = self._held[held]
            space.run(source)
            passed = entry(space.globals, request["entry"])(*(self._held[name] for name in names))
        except BaseException as error:  # noqa: BLE001 - whatever a check raises is a fact about that check
            told = described(error)
            return {"passed": None, "note": f"raised {told['type']}: {told['message']}"}
        finally:
            space.globals.clear()
        if not isinstance(passed, bool):
            return {"passed": None, "note": f"returned {type(passed).__name__}, not a bool"}
        return {"passed": passed, "note": ""}

    def _do_test(self, request: dict[str, Any]) -> bytes:
        return b'"leaks":%s}' % encode(seal.leaks())


def encode_safely(message: dict[str, Any]) -> bytes:
    """JSON of a message whose texts may hold what UTF-8 cannot."""
    return json.dumps(message).encode()


def entry(names: dict[str, Any], wanted: str) -> Any:
    """The function to call: the one of the wanted name, else the last one that was defined."""
    if callable(names.get(wanted)):
        return names[wanted]
    functions = [value for value in names.values() if inspect.isfunction(value)]
    if not functions:
        raise NameError(f"no function {wanted} is defined")
    return functions[-1]


def construct(kind: type, state: dict[str, Any]) -> Any:
    """An instance: without arguments where `__init__` needs none, else with a copy of the state."""
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except ValueError:
        parameters = []
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p for p in parameters if p.default is p.empty and p.kind not in free]
    return kind(unpack(pack(state))) if needed else kind()


def serve(inlet: int, outlet: int) -> None:
    """Answer requests until the other side hangs up."""
    worker = Worker()
    while (request := receive(inlet)) is not None:
        send(outlet, worker.answer(request))
        del request
        worker.settle()
