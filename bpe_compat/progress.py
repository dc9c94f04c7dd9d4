"""Progress bars: on stderr, only on a terminal or when asked for."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

__all__ = ["Progress", "ProgressCallback"]

ProgressCallback = Callable[[str, int, int | None], None]
"""Told the stage, how much of it is done, and how much there is, if that is known."""


class Progress:
    """A bar for one stage of long work, done in parts; shows nothing if it is not wanted.

    `wanted` None means on a terminal only; a function is called instead of a bar being drawn.
    `report(done, total)` is for the native core: how far the part under way is. `finish(size)` ends
    a part.

    >>> with Progress(False, "counting", 10, "B") as progress:
    ...     progress.finish(10)
    """

    def __init__(
        self, wanted: bool | ProgressCallback | None, stage: str, total: int | None, unit: str
    ) -> None:
        self._callback = wanted if callable(wanted) else None
        shown = sys.stderr.isatty() if wanted is None else bool(wanted) and not self._callback
        self._bar = _bar(stage, total, unit) if shown else None
        self._stage, self._total = stage, total
        self._finished = 0

    @property
    def report(self) -> Callable[[int, int], None] | None:
        """What the core may call, if anything."""
        return self._report if self._bar is not None or self._callback else None

    def finish(self, size: int) -> None:
        """Ends a part of this size."""
        self._finished += size
        self._show(self._finished)

    def _report(self, done: int, total: int) -> None:
        self._show(self._finished + done)

    def _show(self, done: int) -> None:
        if self._callback:
            self._callback(self._stage, done, self._total)
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


def _bar(stage: str, total: int | None, unit: str) -> "tqdm[NoReturn]":
    from tqdm import tqdm  # slow to import, and seldom shown

    return tqdm(desc=stage, total=total, unit=unit, unit_scale=True)
