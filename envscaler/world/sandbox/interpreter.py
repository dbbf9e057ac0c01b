"""Starting a fresh Python interpreter for generated code: clean environment, fixed hash order, no site packages.

It is executed, never forked from the user's process, which may hold threads, a CUDA context or a notebook's event loop.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from envscaler.error import SandboxError

# The packages are named without running their __init__ files, which would load pandas into every worker.
_BOOT = """
import sys, types
root, what, argument = sys.argv[1:]
for name in ("envscaler", "envscaler.world", "envscaler.world.sandbox"):
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [root + "/" + name.replace(".", "/")]
from envscaler.world.sandbox import zygote
zygote.zygote(int(argument)) if what == "zygote" else zygote.alone()
"""
_ROOT = Path(__file__).resolve().parents[3]


def start_interpreter(what: str, argument: str, **options: Any) -> "subprocess.Popen[bytes]":
    """Start `zygote.zygote` or `zygote.alone` in an interpreter of its own.

    Raises:
        SandboxError: none can be started.
    """
    if not sys.executable:
        raise SandboxError(
            "Expected a Python interpreter to run generated code in, but sys.executable is empty."
        )
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    kept = {
        k: os.environ[k] for k in ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if k in os.environ
    }
    environment = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", **kept}
    command = [sys.executable, "-s", "-P", "-S", "-B", "-c", _BOOT, str(_ROOT), what, argument]
    try:
        # A session of its own: Ctrl-C in a terminal goes to the user's process alone.
        return subprocess.Popen(
            command, env=environment, cwd=_ROOT.anchor, start_new_session=True, **(streams | options)
        )
    except OSError as error:
        raise SandboxError(f"A separate Python process could not be started: {error}.") from None


def wait_for(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a process that was told to end; kill one that is slow about it."""
    try:
        process.wait(2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
