"""Hostile code, and what it would do outside if it could: shared by the tests and by `bench/attacks.py`.

An attack is a few statements. It is tried in three places: while an environment's source loads, in a tool, and in a
check. What it finds out it puts into `FOUND`, so that a secret that gets as far as a reply is seen. `Outside` holds
what it must not reach: a secret file, a folder, a port, another process, the variables of our own process.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from worlds import message, scenario, skeleton

from envscaler.error import EnvironmentLost, SourceError
from envscaler.schema import Check, Scenario
from envscaler.world.environment import Environment

try:
    import resource
except ImportError:  # Windows, where the attacks are not tried
    resource = None  # type: ignore[assignment]

ESCAPE = (
    "os = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__\nmodules = os['sys'].modules"
)
"""The way past the import list that any determined code knows: from here on it has the real `os`."""

# Name → statements. {secret} {folder} {port} {pid} are filled in.
REACHING_OUT = {
    "read a file": "FOUND = os['read'](os['open']('{secret}', 0), 99)",
    "read a file with io": "FOUND = modules['io'].open('{secret}').read()",
    "list a folder": "FOUND = os['listdir']('{folder}')",
    "walk the file system": "FOUND = list(os['scandir']('/'))",
    "stat a file": "FOUND = os['stat']('{secret}').st_size and 'hunter2'",
    "write a file": "os['close'](os['open']('{folder}/written', 65))",
    "make a folder": "os['mkdir']('{folder}/made')",
    "remove a file": "os['unlink']('{secret}')",
    "truncate a file": "os['truncate']('{secret}', 0)",
    "rename a file": "os['rename']('{secret}', '{folder}/renamed')",
    "link a file": "os['symlink']('{secret}', '{folder}/linked')",
    "change rights": "os['chmod']('{secret}', 0)",
    "read our variables": "FOUND = dict(os['environ'])",
    "read our variables in /proc": "FOUND = modules['io'].open('/proc/%d/environ' % {host}, 'rb').read()",
    "read the parent's variables": "FOUND = modules['io'].open('/proc/%d/environ' % os['getppid'](), 'rb').read()",
    "open a connection": "modules['socket'].create_connection(('127.0.0.1', {port}), 1)",
    "send a datagram": "modules['socket'].socket(2, 2).sendto(b'x', ('127.0.0.1', {port}))",
    "make a socket by _socket": "modules['_socket'].socket(2, 1).connect(('127.0.0.1', {port}))",
    "fork": "os['fork']() or [None for _ in iter(int, 1)]",
    "fork without end": "while True:\n    os['fork']()",
    "run a program": "os['execv']('/bin/touch', ['touch', '{folder}/ran'])",
    "run a shell": "os['system']('touch {folder}/ran')",
    "run a subprocess": "os['posix_spawn']('/bin/touch', ['touch', '{folder}/ran'], {{}})",
    "open a pipe to a program": "os['popen']('touch {folder}/ran').read()",
    "start a thread": "modules['_thread'].start_new_thread(lambda: [None for _ in iter(int, 1)], ())",
    "signal a process": "os['kill']({pid}, 9)",
    "signal our process": "os['kill']({host}, 9)",
    "signal the parent": "os['kill'](os['getppid'](), 9)",
    "signal everybody": "os['kill'](-1, 9)",
    "raise a limit": "modules['resource'].setrlimit(4, (-1, -1))",
    "limit another process": "modules['resource'].prlimit({host}, 7, (3, 3))",
    "trace another process": "modules['ctypes'].CDLL(None).ptrace(16, {pid}, 0, 0)",
    "write to the terminal": "[os['write'](fd, b'hunter2') for fd in (0, 1, 2)]",
    "become another user": "os['setuid'](12345)",
}

ENDLESS = {
    "loop": "while True: pass",
    "loop that catches all": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "regex": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "power": "str(9 ** 9 ** 9)",
    "sort": "sorted(range(10**9))",
    "sleep of the real clock": "modules['time'].sleep(3600)",
    "memory at once": "FOUND = 'x' * 10**11",
    "memory bit by bit": "FOUND = []\nwhile True:\n    FOUND.append(bytes(10**7))",
    "memory of many": "FOUND = [[n] for n in range(10**9)]",
    "recursion": "def f(): return f()\nf()",
    "recursion without a limit": "os['sys'].setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)",
    "recursion in C": "x = []\nfor _ in range(10**6):\n    x = [x]\nFOUND = repr(x)",
    "read a null pointer": "modules['ctypes'].string_at(0)",
    "huge output": "FOUND = 'x' * (9 * 2**20)",
    "deep output": "FOUND = []\nfor _ in range(10**5):\n    FOUND = [FOUND]",
    "output in a circle": "FOUND = []\nFOUND.append(FOUND)",
    "huge number": "FOUND = 10 ** 5000",
    "strange texts": "FOUND = ['\\ud800', '\\x00', '\\u202e' * 100]",
    "no numbers": "FOUND = [float('nan'), float('inf')]",
    "exit": "raise SystemExit(0)",
    "exit at once": "os['_exit'](0)",
    "abort": "os['abort']()",
    "interrupt": "raise KeyboardInterrupt",
    "an error that hangs": "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()",
    "an error of a strange type": "raise type('E' * 10**6, (BaseException,), {{'__str__': lambda self: 5}})()",
    "a cleaner that hangs": "class D:\n    def __del__(self):\n        while True: pass\nD()",
}

TAMPERING = {
    "builtins emptied": "modules['builtins'].__dict__.clear()",
    "builtins replaced": "modules['builtins'].any = modules['builtins'].all = lambda *a: True",
    "truth redefined": "modules['builtins'].isinstance = lambda *a: True",
    "encoder replaced": "modules['json'].dumps = modules['json'].loads = lambda *a, **k: '{{}}'",
    "modules emptied": "modules.clear()",
    "worker's functions replaced": "w = modules['envscaler.world.sandbox.worker']\nw.send = w.encode = lambda *a: None",
    "worker's judge replaced": "w = modules['envscaler.world.sandbox.worker']\n"
    "w.Worker._judge = lambda *a: {{'passed': True, 'note': ''}}",
    "worker's tracker replaced": "modules['envscaler.world.sandbox.track'].Tracker.patch = lambda s: b'[1]'",
    "walk up the frames": "f = os['sys']._getframe()\nwhile f:\n    f.f_globals.clear()\n    f = f.f_back",
    "trace every line": "os['sys'].settrace(lambda *a: [][1])",
    "leak by a format": "FOUND = '{{0.__class__.__init__.__globals__}}'.format(type('A', (), {{}})())",
    "frame of another answer": 'body = b\'{{"id":%d,"ok":true,"reply":1,"patch":{{}},"slept":0}}\'\n'
    "for n in range(9):\n    [os['write'](fd, len(body % n).to_bytes(4, 'big') + body % n) for fd in (3, 4, 5) if fd]",
    "frame that pays": 'body = b\'{{"id":3,"ok":true,"answers":[[{{"passed":true}}]]}}\'\n'
    "[os['write'](fd, len(body).to_bytes(4, 'big') + body) for fd in range(3, 9) if fd != 99]",
    "frame that never comes": "[os['write'](fd, (2**32 - 1).to_bytes(4, 'big')) for fd in range(3, 9)]",
    "frame of no JSON": "[os['write'](fd, (2).to_bytes(4, 'big') + b'xx') for fd in range(3, 9)]",
    "channel closed": "[os['close'](fd) for fd in range(3, 16)]",
    "pickle in the place of JSON": "b = modules['pickle'].dumps(print)\n"
    "[os['write'](fd, len(b).to_bytes(4, 'big') + b) for fd in range(3, 9)]",
}

ATTACKS = {**REACHING_OUT, **ENDLESS, **TAMPERING}
PLACES = ("source", "tool", "check")


class Outside:
    """What hostile code must not reach, and whether it did."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.secret = self.folder / "secret"
        self.secret.write_text("hunter2")
        os.environ["HUNTED"] = "hunter2"
        self._port = socket.create_server(("127.0.0.1", 0))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(self._port.getsockname())
        for listening in (self._port, self._datagrams):
            listening.setblocking(False)
        self._process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self._before = self._facts()

    def names(self) -> dict[str, Any]:
        """What the statements of an attack are filled in with."""
        port = self._port.getsockname()[1]
        return {
            "secret": self.secret,
            "folder": self.folder,
            "port": port,
            "pid": self._process.pid,
            "host": os.getpid(),
        }

    def _facts(self) -> dict[str, Any]:
        return {
            "files": sorted(p.name for p in self.folder.iterdir()),
            "secret": (self.secret.read_text(), self.secret.stat().st_mode) if self.secret.exists() else None,
            "limits": resource.getrlimit(resource.RLIMIT_NOFILE),
            "handler": signal.getsignal(signal.SIGINT),
            "process": self._process.poll(),
            "called": _called(self._port.accept) or _called(lambda: self._datagrams.recv(9)),
        }

    def effects(self, said: Any) -> list[str]:
        """What an attack did; `said` is all that came back from it."""
        now = self._facts()
        found = [f"{name}: {now[name]}" for name in now if now[name] != self._before[name]]
        return found + (["a secret came out"] if "hunter2" in repr(said) else [])

    def close(self) -> None:
        """Take it down."""
        os.environ.pop("HUNTED", None)
        self._port.close()
        self._datagrams.close()
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._folder.cleanup()


def _called(look: Any) -> bool:
    with contextlib.suppress(BlockingIOError):
        look()
        return True
    return False


def attack(place: str, statements: str, outside: Outside, timeout: float = 0.4) -> dict[str, Any]:
    """Try an attack; return what came back: errors, replies, state, outcomes, reward."""
    filled = f"{ESCAPE}\nFOUND = None\n{statements.format(**outside.names())}"
    said: dict[str, Any] = {}
    try:
        with Environment(*_worlds(place, filled), timeout=timeout) as world:
            said["reset"] = world.reset()
            said["step"] = world.step(message(("run", {}), ("count", {})))
            said["last"] = world.step({"role": "assistant", "content": "Done."})
            said["reward"], said["state"] = said["last"][1], world.state
    except (SourceError, EnvironmentLost) as error:
        said["error"] = f"{type(error).__name__}: {error}"
    return said


def _worlds(place: str, statements: str) -> tuple[Any, Scenario]:
    run = _indented(f"{statements}\nreturn {{'success': True, 'data': repr(FOUND)}}", 8)
    source = (
        f"{statements if place == 'source' else 'FOUND = None'}\n\n"
        "class World:\n    def __init__(self, initial_state=None):\n"
        "        self.things: dict = {}\n        self.n = 0\n\n"
        f"    def run(self):\n        '''Run.'''\n"
        f"{run if place == 'tool' else '        return repr(FOUND)'}\n\n"
        "    def count(self):\n        '''Count.'''\n        self.n += 1\n"
        "        return {'success': True, 'data': self.n}\n"
    )
    body = f"{statements}\nraise ValueError(FOUND)" if place == "check" else "return final_state['n'] == 7"
    checks = [
        Check(item="hostile", source=f"def check_func(final_state):\n{_indented(body, 4)}"),
        # The check that must not be paid for, whatever the one before it did.
        Check(item="false", source="def check_func(final_state):\n    return any([final_state['n'] == 7])"),
    ]
    state: dict[str, Any] = {"things": {"a": 1}}
    return skeleton(source, "World"), scenario(
        initial_state=state, checks=checks, may_change=["n"], witness=[]
    )


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def next_episode() -> float | None:
    """The reward of a sound episode; 1.0 when all is well."""
    with Environment(skeleton(), scenario(), timeout=5.0) as world:
        world.reset()
        world.step(message(("lend", json.dumps({"book_id": "B-1", "member": 7}))))
        return world.step({"role": "assistant", "content": "Done."})[1]
