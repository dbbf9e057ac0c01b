"""`python -m envscaler.model.builtin [NAME …] [--source]`: what is wrong with the domains, or what one gives.

Without names all domains are looked at. Exit status 1 when anything is wrong. Executed proof: `pytest
tests/test_builtin_worlds.py -k NAME`.
"""

import sys
import textwrap

from envscaler.model.builtin.build import world_of
from envscaler.model.builtin.domain import domains
from envscaler.model.builtin.lint import facts, lint_domain


def main(arguments: list[str]) -> int:
    """Look at the named domains, or all; write what is wrong with each, or its facts."""
    names = [a for a in arguments if not a.startswith("--")] or list(domains())
    wrong = 0
    for name in names:
        found = lint_domain(name)
        wrong += bool(found)
        lines = [f"  {text}" for text in found] or [f"  {facts(world_of(name))}"]
        sys.stdout.write("\n".join([f"{name}: {'ok' if not found else 'wrong'}", *lines]) + "\n")
        if "--source" in arguments and not found:
            sys.stdout.write(source(name))
    return 1 if wrong else 0


def source(name: str) -> str:
    """The whole class of a domain, as it would be assembled."""
    world = world_of(name)
    head = world.head(name.replace("_", " ").capitalize(), world.domain.class_name, list(world.rules))
    methods = (textwrap.indent(tool.source, "    ") for tool in world.tools.values())
    return "\n".join([head, *methods])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
