"""Which sources may run where no seal holds without being asked for by name: those of the built-in library only.

The library vouches by writing its sources again (`vouchers`); what counts is their *shape*: the syntax tree of
every method, helper and record type, with constants, docstrings and the class's name left out, so that a
world under another title or a check for another row is the same piece. A source is known when each of its
pieces is. Nothing is said here about whether code is right, and nothing is executed.
"""

import ast
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator

from envscaler.error import SourceError
from envscaler.world.tree import parse_tree

Voucher = Callable[[], Iterable[str]]

vouchers: list[Voucher] = []
"""Who can write trusted sources again, asked in this order and only as far as need be.

The one list of the library that others add to: the built-in model knows what it writes and this wing may not
import it, so that the package, which knows both, has to bring them together (`envscaler.__init__`)."""


class _Known:
    """The shapes seen so far, and the sources still to be seen."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.shapes: set[str] = set()
        self.answers: dict[str, bool] = {}
        self.coming: Iterator[str] | None = None


_known = _Known()


def is_known(source: str) -> bool:
    """Whether a source is made of pieces of the built-in library and of nothing else."""
    key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    with _known.lock:
        if key not in _known.answers:
            _known.answers[key] = _covered(source)
        return _known.answers[key]


def _covered(source: str) -> bool:
    try:
        wanted = set(shapes(source))
    except SourceError:
        return False
    if _known.coming is None:
        _known.coming = (source for voucher in vouchers for source in voucher())
    while not wanted <= _known.shapes:
        try:
            written = next(_known.coming, None)
        except BaseException:
            _known.coming = None  # one that broke off would pass for one that had no more to say
            raise
        if written is None:
            return False
        _known.shapes.update(shapes(written))
    return True


def forget() -> None:
    """Ask the vouchers anew."""
    global _known
    _known = _Known()


def shapes(source: str) -> Iterator[str]:
    """The digest of each piece of a source.

    Raises:
        SourceError: it does not parse.
    """
    for node in parse_tree(source).body:
        if isinstance(node, ast.ClassDef):
            around = [*node.bases, *node.keywords, *node.decorator_list]
            yield _digest(f"class {[_shape(part) for part in around]}")
            yield from (_digest(_shape(part)) for part in node.body if not _is_text(part))
        elif not _is_text(node):
            yield _digest(_shape(node))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _shape(node: ast.AST) -> str:
    if _is_literal(node):
        return "value"
    fields = []
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            parts = [part for part in value if not (isinstance(part, ast.AST) and _is_text(part))]
            fields.append(
                f"{name}=[{','.join(_shape(p) if isinstance(p, ast.AST) else repr(p) for p in parts)}]"
            )
        elif name != "type_comment":
            fields.append(f"{name}={_shape(value) if isinstance(value, ast.AST) else value!r}")
    return f"{type(node).__name__}({','.join(fields)})"


def _is_literal(node: ast.AST) -> bool:
    """A constant, or a display of nothing but constants: data, whatever it says."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_literal(node.operand)
    if isinstance(node, ast.Dict):
        return all(key is not None and _is_literal(key) for key in node.keys) and all(
            map(_is_literal, node.values)
        )
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_literal, node.elts))
    return isinstance(node, ast.Constant)
