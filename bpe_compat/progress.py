"""Progress bars: on stderr, only on a terminal or when asked for."""

import sys
from collections.abc import Callable
from types import TracebackType

from tqdm import tqdm

__all__ = ["Progress"]


class Progress:
    """A bar for one stage of long work, done in parts; shows nothing if it is not wanted.

    `wanted` None means on a terminal only. `report(done, total)` is for the native core: how far
    the part under way is. `finish(size)` ends a part.

    >>> with Progress(False, "counting", 10, "B") as progress:
    ...     progress.finish(10)
    """

    def __init__(self, wanted: bool | None, stage: str, total: int | None, unit: str) -> None:
        shown = sys.stderr.isatty() if wanted is None else wanted
        self._bar = tqdm(desc=stage, total=total, unit=unit, unit_scale=True) if shown else None
        self._finished = 0

    @property
    def report(self) -> Callable[[int, int], None] | None:
        """What the core may call, if anything."""
        return self._report if self._bar is not None else None

    def finish(self, size: int) -> None:
        """Ends a part of this size."""
        self._finished += size
        self._show(self._finished)

    def _report(self, done: int, total: int) -> None:
        self._show(self._finished + done)

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
