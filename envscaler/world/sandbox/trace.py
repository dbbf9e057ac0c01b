"""Where one call of generated code went: the lines it ran, and the errors it caught itself.

For the referee, which looks for arguments that reach what was not reached yet, and for errors that a tool
keeps to itself. Standard library only, inside the worker. Whether catching an error was right is not known here.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_USUAL = (StopIteration, StopAsyncIteration, GeneratorExit)
"""How loops and generators end."""
_MOST = 20
"""Errors that are told."""


class Trace:
    """What happened while something ran."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._raised: dict[int, tuple[BaseException, int]] = {}
        self.lines: set[int] = set()

    def run(self, work: Callable[[], Any]) -> Any:
        """Run it and take note; what it raises is raised."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return work()
        finally:
            sys.settrace(before)

    @property
    def errors(self) -> list[list[Any]]:
        """Type and line of every error that was raised in the code, where it was raised first."""
        told = [[type(error).__name__[:100], line] for error, line in self._raised.values()]
        return told[:_MOST]

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._note if frame.f_code.co_filename == self._file else None

    def _note(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        elif event == "exception" and not issubclass(argument[0], _USUAL):
            error = argument[1] if isinstance(argument[1], BaseException) else Exception()
            self._raised.setdefault(id(error), (error, frame.f_lineno))
        return self._note
