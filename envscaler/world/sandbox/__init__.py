"""Where generated code runs, and nowhere else: processes that are handed JSON and give back JSON.

What is covered, when `sealed` (Linux on x86-64; on aarch64 if the self-test holds): no file, process, program,
socket, signal or other user's memory can be reached; memory is limited; the parent's deadline stops loops; the
parent never unpickles or executes anything that comes back. Elsewhere code runs as a `process`, time-limited
and not sealed: the deadline, a clean environment, the memory limit where the system has one, and that a crash
takes nothing along; files and network stay open to it. That happens by itself only for code of the built-in
library (`trust`); for any other code it has to be asked for by name.

What is not covered: bugs of the kernel, and code that tampers with its own worker, which is why rewards never
come from an environment's worker.
"""

from envscaler.world.sandbox.channel import Worker, WorkerLost
from envscaler.world.sandbox.pool import Isolation, isolation_in_use, start_worker

__all__ = ["Isolation", "Worker", "WorkerLost", "isolation_in_use", "start_worker"]
