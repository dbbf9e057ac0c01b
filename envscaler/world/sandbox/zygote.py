"""The processes that generated code gets: a zygote that forks workers, or an interpreter that serves alone.

Runs in an interpreter of its own, started by `interpreter`, and runs no generated code itself: the zygote loads
the allowed modules once and forks; what it forks is limited, sealed, and then serves (`worker`). Standard
library only.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

import envscaler.world.sandbox.seal as seal
from envscaler.world.sandbox.allowed import ALLOWED
from envscaler.world.sandbox.worker import serve


def load_modules() -> None:
    """Import what generated code may ask for, while files can still be opened."""
    for name in sorted(ALLOWED):
        importlib.import_module(name)
    # Imported by others only when first used, which in a sealed worker would be too late.
    for name in ("_strptime", "encodings.idna", "encodings.latin_1", "encodings.ascii"):
        importlib.import_module(name)


def zygote(fd: int) -> None:
    """Fork a worker for each request that comes over `fd` with a descriptor; end the workers with the parent."""
    load_modules()
    seal.prepare()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control, parent, children = socket.socket(fileno=fd), os.getppid(), set[int]()
    control.send(json.dumps({"ready": os.getpid()}).encode())
    while os.getppid() == parent:
        reap(children)
        if not select.select([control], [], [], 1.0)[0]:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 4096, 1)
        if not data:
            break
        request = json.loads(data)
        if request["do"] == "spawn":
            answer = fork(control, descriptors[0], children, sealed=request["sealed"])
        else:
            answer = end(request["pid"], children)
        control.send(json.dumps(answer).encode())
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


def fork(control: socket.socket, channel: int, children: set[int], *, sealed: bool) -> dict[str, Any]:
    """Fork one worker that serves `channel`."""
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(channel)
        return {"error": f"fork: {error}"}
    if pid:
        os.close(channel)
        children.add(pid)
        return {"pid": pid}
    status = 1
    try:
        control.close()
        gc.set_threshold(50_000, 20, 20)
        seal.die_with_parent(parent)
        seal.limit()
        if sealed:
            seal.close_in()
        serve(channel, channel)
        status = 0
    finally:
        os._exit(status)


def reap(children: set[int]) -> None:
    """Take note of workers that have ended."""
    while children:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        children.discard(pid)


def end(pid: int, children: set[int]) -> dict[str, Any]:
    """Kill a worker of ours and wait for its end."""
    if pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        children.discard(pid)
    return {"ended": pid}


def alone() -> None:
    """Serve as a separate process over standard input and output, where there is no fork."""
    load_modules()
    inlet, outlet, nowhere = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    if sys.platform == "win32":
        import msvcrt

        for fd in (inlet, outlet):
            msvcrt.setmode(fd, os.O_BINARY)
    os.close(nowhere)
    seal.limit()
    serve(inlet, outlet)
    os._exit(0)
