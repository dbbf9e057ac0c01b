"""The seal of a worker process: limits, namespaces, Landlock and a seccomp allow-list, by ctypes alone.

`close_in()` is called in a freshly forked worker before any generated code is loaded. What is covered
afterwards: no file can be opened, no process or thread started, no program run, no socket made, no signal
sent, no limit raised; memory is limited. What is not covered: CPU time and wall time (the parent's deadline
and SIGKILL do that), tampering inside the worker itself (nothing in it is trusted), and bugs of the kernel
behind the forty-odd calls that stay open.

Linux on x86-64, and on aarch64 with a table that is untested: the self-test (`leaks`) decides there, as
everywhere, whether it is used. Elsewhere `available()` is false. Nothing here is imported by the user's
process except for the list of what a seal must stop.
"""

import ctypes
import functools
import os
import platform
import signal
import socket
import struct
import sys

try:
    import resource
except ImportError:  # Windows has no such limits.
    resource = None  # type: ignore[assignment]

MEMORY = 512 * 2**20
"""Address space of a worker, in bytes, on top of what the interpreter holds already."""

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 22, 38, 2
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446
NEW_USER, NEW_IPC = 0x10000000, 0x08000000
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001  # the last one: errno 1, EPERM

# Everything CPython needs to compute, allocate, and talk over descriptors it already has.
CALLS = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10,
        "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "readv": 19,
        "writev": 20, "select": 23, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39,
        "exit": 60, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "times": 100, "getuid": 102,
        "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "sigaltstack": 131, "gettid": 186,
        "time": 201, "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
        "clock_nanosleep": 230, "exit_group": 231, "pselect6": 270, "ppoll": 271, "set_robust_list": 273,
        "getrandom": 318, "rseq": 334,
    },
    # Untested: no such machine was at hand.
    "aarch64": {
        "read": 63, "write": 64, "close": 57, "fstat": 80, "lseek": 62, "mmap": 222, "mprotect": 226, "munmap": 215,
        "brk": 214, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "readv": 65, "writev": 66,
        "sched_yield": 124, "mremap": 216, "madvise": 233, "nanosleep": 101, "getpid": 172, "exit": 93,
        "gettimeofday": 169, "getrlimit": 163, "getrusage": 165, "times": 153, "getuid": 174, "getgid": 176,
        "geteuid": 175, "getegid": 177, "getppid": 173, "sigaltstack": 132, "gettid": 178, "futex": 98,
        "restart_syscall": 128, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115,
        "exit_group": 94, "pselect6": 72, "ppoll": 73, "set_robust_list": 99, "getrandom": 278, "rseq": 293,
    },
}  # fmt: skip
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's names of them (AUDIT_ARCH_*)."""


def available() -> bool:
    """Whether this platform is one a filter was written for; the self-test decides whether it holds."""
    return sys.platform == "linux" and platform.machine() in CALLS and struct.calcsize("P") == 8


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def prepare() -> None:
    """Make once, before the first fork, what every seal needs."""
    _held()
    if available():
        _filter(platform.machine())


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; exit at once if that has happened already."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit() -> None:
    """Limits that hold with or without a seal: memory, file size, open files, core dumps."""
    if resource is None:
        return
    limits = {"RLIMIT_AS": _held() + MEMORY, "RLIMIT_FSIZE": 0, "RLIMIT_NOFILE": 16, "RLIMIT_CORE": 0}
    for name, most in limits.items():
        if hasattr(resource, name):
            _lower(getattr(resource, name), most)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    # Some systems refuse a limit below what is already used; the others still count.
    try:
        resource.setrlimit(kind, (most, most))
    except (ValueError, OSError):
        return


@functools.cache
def _held() -> int:
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 - pathlib is not loaded in a worker
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 256 * 2**20


def close_in() -> None:
    """Seal this process for good.

    Raises:
        OSError: the kernel refuses; nothing may be run here then.
    """
    libc = _libc()
    # Walls behind the wall: kernels without namespaces or Landlock are no obstacle, for seccomp refuses it all. A
    # network of its own would take three milliseconds and hide nothing from a process that can make no socket.
    libc.unshare(NEW_USER | NEW_IPC)
    _must(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")  # new namespaces may clear it
    _must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _landlock(libc)
    program = _filter(platform.machine())
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _must(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(head), 0, 0), "seccomp")


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _landlock(libc: ctypes.CDLL) -> None:
    rights = struct.pack("Q", 0x1FFF)
    ruleset = libc.syscall(LANDLOCK_CREATE, ctypes.c_char_p(rights), len(rights), 0)
    if ruleset >= 0:
        libc.syscall(LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)


@functools.cache
def _filter(machine: str) -> bytes:
    """The BPF program: other architectures and x32 calls kill, listed calls pass, all else is EPERM."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06

    def line(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    program = [line(load, 0, 0, 4), line(equal, 1, 0, ARCHITECTURES[machine]), line(give, 0, 0, KILL)]
    program += [line(load, 0, 0, 0), line(at_least, 0, 1, 0x40000000), line(give, 0, 0, KILL)]
    for number in sorted(CALLS[machine].values()):
        program += [line(equal, 0, 1, number), line(give, 0, 0, ALLOW)]
    return b"".join([*program, line(give, 0, 0, REFUSE)])


def leaks() -> list[str]:
    """What a seal must stop and this process can still do; run inside a throw-away worker. Empty when it holds."""
    return [name for name, attempt in _ATTEMPTS.items() if _succeeds(attempt)]


def _succeeds(attempt: object) -> bool:
    try:
        attempt()  # type: ignore[operator]
    except OSError:
        return False
    return True


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


_ATTEMPTS = {
    "read a file": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "list a folder": lambda: os.listdir("/"),  # noqa: PTH208
    "write a file": lambda: os.open("/tmp", os.O_RDWR | getattr(os, "O_TMPFILE", 0o20200000)),
    "start a process": _fork,
    "run a program": lambda: os.execv("/bin/true", ["true"]),
    "make a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "make a pair of sockets": socket.socketpair,
    "send a signal": lambda: os.kill(os.getppid(), 0),
    "raise a limit": lambda: resource.setrlimit(
        resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)
    ),
}
