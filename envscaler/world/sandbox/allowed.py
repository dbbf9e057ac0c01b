"""What generated code may import and which builtins it does not get: one list for the lint and for the worker.

Standard library only, since the worker reads it. It is a rule for honest code; the seal is what holds the
rest.
"""

ALLOWED = frozenset(
    {
        "__future__",
        "abc",
        "base64",
        "bisect",
        "calendar",
        "collections",
        "collections.abc",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "math",
        "numbers",
        "operator",
        "random",
        "re",
        "secrets",
        "statistics",
        "string",
        "textwrap",
        "time",
        "types",
        "typing",
        "unicodedata",
        "uuid",
        "warnings",
        "zoneinfo",
    }
)
"""Modules that generated code may import."""

HIDDEN = frozenset({"breakpoint", "compile", "eval", "exec", "exit", "help", "input", "open", "quit"})
"""Builtins that generated code does not get."""
