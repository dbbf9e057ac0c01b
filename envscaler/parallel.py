"""Run one function over many things: in order, in threads, with a progress bar, and nothing lost.

A thing whose function raises an `EnvscalerError` becomes a `Failure` row and the others go on; a spent budget ends the
stage, once the answers that are paid for have come; any other exception is a bug of ours and flies. Ctrl-C and
Jupyter's "interrupt kernel" stop at once; what is already done is returned, with a warning that says how much is
missing. Threads, not an event loop, so that it can be called from a notebook cell; the work is done by models, by
sandboxed processes, and where it is much and ours to compute by more processes (`elsewhere`).
"""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from tqdm.auto import tqdm

from envscaler.elsewhere import stage_of
from envscaler.error import BudgetSpent, EnvscalerError, ParameterError
from envscaler.schema import Failure, Record
from envscaler.store import Records

log = logging.getLogger(__name__)
T = TypeVar("T")
R = TypeVar("R", bound=Record)


def run_all(
    function: Callable[[T], R | list[R]],
    things: Iterable[T],
    *,
    stage: str,
    name: Callable[[T], str] = lambda thing: getattr(thing, "id", str(thing)),
    workers: int = 8,
    progress: bool = True,
) -> Records[R]:
    """Apply `function` to each thing; return the results in the order of the things.

    Args:
        function: makes one record, or a list of them, of one thing.
        things: what to make them of.
        stage: name of the stage, for the bar and the failures.
        name: the id that a failure's `parent_id` gets.
        workers: threads at once.
        progress: whether to show the bar.

    Raises:
        BudgetSpent: a model's budget did not last for all of them.
    """
    todo = several(things)
    made: dict[int, R | list[R] | Failure] = {}
    stop = threading.Event()

    def one(thing: T) -> R | list[R] | Failure | None:
        if stop.is_set():
            return None
        try:
            with stage_of(len(todo)):
                return function(thing)
        except EnvscalerError as error:
            return Failure(stage=stage, parent_id=name(thing), error=type(error).__name__, message=str(error))

    pool = ThreadPoolExecutor(max_workers=max(1, min(workers, len(todo) or 1)), thread_name_prefix=stage)
    futures: dict[Future, int] = {}
    try:
        futures = {pool.submit(one, thing): place for place, thing in enumerate(todo)}
        with tqdm(total=len(todo), desc=stage, disable=not progress, leave=False) as bar:
            for future in as_completed(futures):
                if (result := future.result()) is not None:
                    made[futures[future]] = result
                bar.update()
    except BudgetSpent:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    except KeyboardInterrupt:
        log.warning("%s: interrupted with %d of %d done; run it again to go on.", stage, len(made), len(todo))
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return _in_order(made)


def several(things: Iterable[T]) -> list[T]:
    """The things as a list.

    Raises:
        ParameterError: it is one record, whose fields would be taken for things.
    """
    if isinstance(things, Record):
        raise ParameterError(
            f"Expected a list of records, got one {type(things).__name__}; put it in a list."
        )
    return list(things)


def _in_order(made: dict[int, R | list[R] | Failure]) -> Records[R]:
    records: Records[R] = Records()
    for place in sorted(made):
        result = made[place]
        if isinstance(result, Failure):
            records.failures.append(result)
        elif isinstance(result, list):
            records.extend(result)
            records.failures.extend(getattr(result, "failures", []))
        else:
            records.append(result)
    return records
