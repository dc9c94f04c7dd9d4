"""Counting files on several threads: one reads the next batch while others count theirs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock

from .. import _core
from ..progress import Progress
from .sources import Batch, Blocks, Column, size_of

__all__ = ["in_turns"]


def in_turns(
    batches: Iterator[Batch],
    blocks: Blocks,
    counter: _core.PieceCounter,
    threads: int,
    bar: Progress,
) -> None:
    """Counts all batches, each on the thread that reads it: it is in that processor's cache.

    What one thread raises ends all of them and is raised here; Ctrl-C is seen by the calling
    thread, which is one of them.
    """
    lock, ended = Lock(), Event()

    def go_on(*_: int) -> None:
        if ended.is_set():
            raise _EndedError

    def work(worker: int) -> None:
        try:
            while not ended.is_set():
                with lock:
                    batch = next(batches, None)
                    if batch is None:
                        return
                    # Of texts that are str the characters are known, which have up to 4 bytes.
                    place = counter.reserve(4 * size_of(batch))
                if isinstance(batch, Column):
                    counter.add_column_at(batch.data, batch.offsets, place, worker, go_on)
                else:
                    counter.add_at(batch, place, worker, go_on)
                blocks.give_back(batch)
                with lock:
                    bar.finish(size_of(batch))
        except _EndedError:
            return
        except BaseException:
            ended.set()
            raise

    with ThreadPoolExecutor(threads - 1, "counting") as others:
        working = []
        try:
            with suppress(RuntimeError):  # the system gives no more threads: slower, not wrong
                for worker in range(1, threads):
                    working.append(others.submit(work, worker))
            work(0)
            for other in working:
                other.result()
        finally:
            ended.set()


class _EndedError(Exception):
    """Ends the work of a thread because another one has failed."""
