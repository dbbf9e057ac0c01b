"""The commands of `python -m envscaler`, a module each; `__main__` puts them together and reports how it ended.

A command's module has `add(commands)`, which describes its command line, and what that names as `do`: it takes the
parsed command line and returns a `Report`. The work is the library's; nothing here decides anything.
"""

import argparse
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""Where a command adds itself."""
Report = tuple[dict[str, Any], bool]
"""What the last line says, and whether all went well."""
