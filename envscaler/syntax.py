"""Parsing Python source from several threads.

CPython 3.11 keeps the depth of the tree it is building in one place for all threads, and a garbage collection in the
middle may switch threads: then one of two parses fails with "AST constructor recursion depth mismatch". So the whole
library parses through here, one at a time. Nothing is executed, and limits are the caller's business.
"""

import ast
import re
import threading
import warnings
from types import CodeType
from typing import Literal, overload

FILE = "<environment>"
"""The file name that generated code has."""
_one_at_a_time = threading.RLock()
# What is doubtful in generated code is the referee's to say. (Filters set for a while would not be safe with threads.)
warnings.filterwarnings("ignore", category=SyntaxWarning, module=re.escape(FILE))


@overload
def parse(source: str, mode: Literal["exec"] = "exec") -> ast.Module: ...


@overload
def parse(source: str, mode: Literal["eval"]) -> ast.Expression: ...


def parse(source: str, mode: str = "exec") -> ast.AST:
    """The syntax tree of a source; raises what `ast.parse` raises."""
    with _one_at_a_time:
        return ast.parse(source, FILE, mode)


def compiled(tree: ast.Module) -> CodeType:
    """The code of a syntax tree; raises what `compile` raises."""
    with _one_at_a_time:
        return compile(tree, FILE, "exec", dont_inherit=True)
