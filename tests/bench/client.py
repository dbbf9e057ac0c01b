"""How fast a server is asked: calls a second with so many in flight, against a server that takes 200 ms for each.

Run: python tests/bench/client.py [--latency 0.2] [--in-flight 1,8,32,64,128,256,512] [--seconds 10]

The server is another process on this machine and takes its share of the processors; its own greatest rate is measured
first, with a bare client that does nothing but read and write.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from envscaler.error import ModelError
from envscaler.model.cache import CachedModel
from envscaler.model.client import OpenAIModel
from envscaler.model.request import Request

BODY = json.dumps(
    {
        "id": "c", "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 1},
    }
).encode()  # fmt: skip
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


def serve(latency: float, port: Any) -> None:
    """Answer every request with the same words, so many seconds after it was read."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"content-length")
                    ),
                    0,
                )
                await reader.readexactly(length)
                await asyncio.sleep(latency)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=2048)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())


def report(metric: str, value: float, unit: str, **more: Any) -> None:
    """Print one line."""
    print(
        json.dumps({"bench": "client", "metric": metric, "value": round(value, 3), "unit": unit, **more}),
        flush=True,
    )


def measure(model: Any, in_flight: int, calls: int) -> dict[str, Any]:
    """Ask so many times from so many threads; calls a second, errors, and wrong answers."""
    texts = [f"{'This is a request of usual length. ' * 40}{n}" for n in range(calls)]

    def ask(text: str) -> str:
        try:
            return model.answer(Request("tasks/judge", ({"role": "user", "content": text},))).text
        except ModelError as error:
            return f"error: {error}"

    with ThreadPoolExecutor(in_flight) as pool:
        list(pool.map(ask, texts[:in_flight]))  # connections are made before the clock runs
        begun, spent = time.perf_counter(), time.process_time()
        said = list(pool.map(ask, [f"{text} again" for text in texts]))
        passed, spent = time.perf_counter() - begun, time.process_time() - spent
    return {
        "rate": calls / passed, "cpu_ms": 1000 * spent / calls,
        "errors": sum(text.startswith("error") for text in said), "lost": sum(text != "yes" for text in said),
    }  # fmt: skip


def main() -> None:
    """Start the server, ask, tell."""
    line = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    line.add_argument("--latency", type=float, default=0.2)
    line.add_argument("--in-flight", default="1,8,32,64,128,256,512")
    line.add_argument(
        "--seconds", type=float, default=8.0, help="how long each measurement should take at least"
    )
    line.add_argument("--cached", action="store_true", help="through the cache on disk, as a stage asks")
    options = line.parse_args()
    port = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(options.latency, port), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    bare: Any = OpenAIModel("m", base_url=f"http://127.0.0.1:{port.value}/v1", workers=512)
    with tempfile.TemporaryDirectory() as folder:
        model = CachedModel(bare, path=Path(folder) / "cache.sqlite") if options.cached else bare
        for in_flight in map(int, options.in_flight.split(",")):
            ideal = in_flight / options.latency
            told = measure(model, in_flight, max(in_flight * 2, int(min(ideal, 400) * options.seconds)))
            rate = told.pop("rate")
            report(
                f"{in_flight} in flight", rate, "calls/s", ideal=ideal, share=round(rate / ideal, 3), **told
            )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    report(
        "peak memory",
        memory,
        "MB",
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        python=sys.version.split()[0],
    )
    server.terminate()


if __name__ == "__main__":
    main()
