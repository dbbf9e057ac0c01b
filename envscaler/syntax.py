"""Parsing Python source from several threads.

CPython 3.11 keeps the depth of the tree it is building in one place for all threads, and a garbage collection in the
middle may switch threads: then one of two parses fails with "AST constructor recursion depth mismatch". So the whole
library parses through here, one at a time. Nothing is executed, and limits are the caller's business.
"""

import ast
import threading
from typing import Literal, overload

_one_at_a_time = threading.RLock()


@overload
def parse(source: str, mode: Literal["exec"] = "exec") -> ast.Module: ...


@overload
def parse(source: str, mode: Literal["eval"]) -> ast.Expression: ...


def parse(source: str, mode: str = "exec") -> ast.AST:
    """The syntax tree of a source; raises what `ast.parse` raises."""
    with _one_at_a_time:
        return ast.parse(source, mode=mode)
