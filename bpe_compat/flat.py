"""Whole vocabularies at once: natively, what would be a step of the interpreter for each token."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ._core import (
    Spelling,
    StringIds,
    Strings,
    Vocabulary,
    find_model,
    last_rows,
    pairs,
    rank_lines,
)

__all__ = [
    "Spelling",
    "StringIds",
    "Strings",
    "Vocabulary",
    "collector_paused",
    "find_model",
    "last_rows",
    "pairs",
    "rank_lines",
]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keeps the cyclic collector from going again and again through a growing vocabulary.

    That would take half of the time, and nothing in a vocabulary refers back to it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
