"""Virtual time, ids and chance: what makes the same seed give the same bytes.

Generated code asks for `datetime`, `time`, `uuid`, `random` or `secrets` and is handed the stand-ins made
here. They answer from a position (seed, call number) and never from the machine, so an episode that is
replayed, restored from a snapshot or forked goes on with the same times, ids and draws. The worker process
installs them through its own `__import__`; this module therefore imports the standard library only.

It does not guard anything: code that reaches the real modules some other way is stopped by the seal, not
here.
"""

import base64
import datetime as real_datetime
import random as real_random
import secrets as real_secrets
import time as real_time
import uuid as real_uuid
from collections.abc import Callable
from types import ModuleType
from typing import Any

START = 1_748_854_800.0
"""Second (UTC) at which every episode begins unless told otherwise: Monday, 2 June 2025, 09:00."""
PER_CALL = 1.0
"""Seconds that pass from one tool call to the next."""
PER_READING = 1e-6
"""Seconds that pass from one look at the clock to the next, so that two looks never agree."""


class Position:
    """Where an episode stands: seed, call number, seconds slept. All chance and time is a function of it."""

    def __init__(self) -> None:
        self.seed = 0
        self.call = -1
        self.start = START
        self.slept = 0.0
        self._readings = 0
        self._stream = real_random.Random(0)
        self._stale = True

    def move(self, seed: int, call: int, slept: float, start: float = START) -> None:
        """Go to a call of an episode; the stream of chance begins anew there."""
        self.seed, self.call, self.slept, self.start = seed, call, slept, start
        self._readings, self._stale = 0, True

    def now(self) -> float:
        """Seconds since 1970, never the same twice within a call."""
        self._readings += 1
        return self.start + (self.call + 1) * PER_CALL + self.slept + self._readings * PER_READING

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass; nobody waits."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.slept += float(seconds)

    @property
    def stream(self) -> real_random.Random:
        """The random numbers of this call, seeded on first use because seeding costs more than a whole call."""
        if self._stale:
            self._stream.seed(f"{self.seed}:{self.call}")
            self._stale = False
        return self._stream


def stand_in(name: str, position: Position) -> ModuleType | None:
    """A module that answers from `position`, under the name of a real one; None where there is none."""
    makers: dict[str, Callable[[Position], ModuleType]] = {
        "datetime": _datetime,
        "time": _time,
        "uuid": _uuid,
        "random": _random,
        "secrets": _secrets,
    }
    return makers[name](position) if name in makers else None


def _module(real: ModuleType, changes: dict[str, Any]) -> ModuleType:
    # Only public names go over: `uuid.os` and the like would hand out the machine.
    made = ModuleType(real.__name__, real.__doc__)
    kept = {n: v for n, v in vars(real).items() if not n.startswith("_") and not isinstance(v, ModuleType)}
    vars(made).update(kept, **changes)
    return made


def _datetime(position: Position) -> ModuleType:
    class _Looks(type):
        # Arithmetic and `.date()` give objects of the real classes; they must pass isinstance.
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.__mro__[1])

    class Date(real_datetime.date, metaclass=_Looks):
        @classmethod
        def today(cls) -> "Date":
            return cls.fromtimestamp(position.now())

    class DateTime(real_datetime.datetime, metaclass=_Looks):
        @classmethod
        def now(cls, tz: real_datetime.tzinfo | None = None) -> "DateTime":
            return cls.fromtimestamp(position.now(), tz or real_datetime.UTC).replace(tzinfo=tz)

        @classmethod
        def utcnow(cls) -> "DateTime":
            return cls.now()

        @classmethod
        def today(cls) -> "DateTime":
            return cls.now()

    for stand_in, name in ((Date, "date"), (DateTime, "datetime")):
        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.__module__ = "datetime"
    return _module(real_datetime, {"date": Date, "datetime": DateTime})


def _time(position: Position) -> ModuleType:
    def broken_down(seconds: float | None = None) -> real_time.struct_time:
        return real_time.gmtime(position.now() if seconds is None else seconds)

    def strftime(form: str, when: Any = None) -> str:
        return real_time.strftime(form, broken_down() if when is None else when)

    def asctime(when: Any = None) -> str:
        return real_time.asctime(broken_down() if when is None else when)

    def ctime(seconds: float | None = None) -> str:
        return real_time.asctime(broken_down(seconds))

    changes: dict[str, Any] = {
        "sleep": position.sleep,
        "gmtime": broken_down,
        "localtime": broken_down,
        "strftime": strftime,
        "asctime": asctime,
        "ctime": ctime,
    }
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        changes[name] = position.now
        changes[f"{name}_ns"] = lambda: int(position.now() * 1_000_000_000)
    return _module(real_time, changes)


def _uuid(position: Position) -> ModuleType:
    def uuid4() -> real_uuid.UUID:
        return real_uuid.UUID(int=position.stream.getrandbits(128), version=4)

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> real_uuid.UUID:
        return real_uuid.UUID(int=position.stream.getrandbits(128), version=1)

    return _module(
        real_uuid, {"uuid1": uuid1, "uuid4": uuid4, "getnode": lambda: position.stream.getrandbits(48)}
    )


def _random(position: Position) -> ModuleType:
    class Random(real_random.Random):
        def __init__(self, seed: Any = None) -> None:
            super().__init__(position.stream.getrandbits(64) if seed is None else seed)

    def drawn(name: str) -> Callable[..., Any]:
        def draw(*args: Any, **kwargs: Any) -> Any:
            return getattr(position.stream, name)(*args, **kwargs)

        draw.__name__ = name
        return draw

    methods = [
        n for n in dir(real_random) if n[0].islower() and callable(getattr(real_random.Random, n, None))
    ]
    return _module(real_random, {"Random": Random, "SystemRandom": Random, **{n: drawn(n) for n in methods}})


def _secrets(position: Position) -> ModuleType:
    def token_bytes(nbytes: int | None = None) -> bytes:
        return position.stream.randbytes(32 if nbytes is None else nbytes)

    def token_hex(nbytes: int | None = None) -> str:
        return token_bytes(nbytes).hex()

    def token_urlsafe(nbytes: int | None = None) -> str:
        return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode()

    return _module(
        real_secrets,
        {
            "token_bytes": token_bytes,
            "token_hex": token_hex,
            "token_urlsafe": token_urlsafe,
            "choice": lambda sequence: position.stream.choice(sequence),
            "randbelow": lambda bound: position.stream.randrange(bound),
            "randbits": lambda k: position.stream.getrandbits(k),
            "SystemRandom": lambda: position.stream,
        },
    )
