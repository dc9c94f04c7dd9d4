"""Where training text comes from, as a stream of batches for the native counter.

This module tells the kinds of sources apart and reads iterables; `files` reads files, `columns`
Arrow data and datasets.
"""

import glob
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import FormatError
from .columns import is_arrow, is_dataset, read_arrow, read_dataset
from .files import read_file, read_stream, text_files
from .reading import Batch, Blocks, Column, Document, Errors, Reading, size_of

__all__ = [
    "Batch",
    "Blocks",
    "Column",
    "Errors",
    "Reading",
    "batches",
    "names_files",
    "size_of",
    "total_bytes",
]

_BATCH_BYTES = 1 << 22
_MOST_ITEMS = 1 << 16


def batches(sources: Any, reading: Reading) -> Iterator[Batch]:
    """The documents of a source, up to a few megabytes at a time.

    Who has used a batch up gives it back to `reading.blocks`. Raises `FormatError` for a missing
    file, text that is not UTF-8 and items that are no text, `UnsupportedError` for files of a kind
    that cannot be read.
    """
    paths = _paths(sources)
    if paths is not None:
        for path in paths:
            yield from read_file(path, reading)
    elif is_dataset(sources):
        yield from read_dataset(sources, reading)
    elif is_arrow(sources):
        yield from read_arrow(sources, reading, "the Arrow data")
    elif isinstance(sources, io.RawIOBase | io.BufferedIOBase):
        yield from read_stream(sources, str(getattr(sources, "name", "the stream")), reading)
    elif isinstance(sources, bytes | Mapping) or not isinstance(sources, Iterable):
        raise TypeError(
            f"sources must be a path, paths, or an iterable of texts, not {type(sources).__name__}"
        )
    else:
        yield from _iterable(sources, reading)


def names_files(sources: Any) -> bool:
    """Whether these are paths: then all code that reads them is ours, and any thread may run it."""
    return _paths(sources) is not None


def total_bytes(sources: Any) -> int | None:
    """The size of a source of plain files; None if it is not known beforehand."""
    try:
        paths = _paths(sources) or []
        plain = all(path.suffix in ("", ".txt", ".text", ".md") for path in paths)
        return sum(path.stat().st_size for path in paths) or None if plain else None
    except (OSError, ValueError, FormatError):
        return None


def _paths(sources: Any) -> list[Path] | None:
    """The files that a source names, or None if it is no source of files."""
    if isinstance(sources, str | os.PathLike):
        return _expanded(os.fspath(sources))
    if not isinstance(sources, list | tuple) or not sources:
        return None
    if not all(isinstance(item, os.PathLike) for item in sources):
        return None
    return [path for item in sources for path in _expanded(os.fspath(item))]


def _expanded(name: str) -> list[Path]:
    """The file of this name, the files in the folder of this name, or those that a glob matches."""
    path = Path(name)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a text was taken for a path: opening it says so
        return [path]
    if is_folder:
        return text_files(path)
    if not exists and glob.has_magic(name):
        found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - may be absolute
        files = [Path(match) for match in found if Path(match).is_file()]
        if not files:
            raise FormatError(f"{name}: matches no file; to train on a text itself pass [text]")
        return files
    return [path]


def _iterable(sources: Iterable[Any], reading: Reading) -> Iterator[Batch]:
    """Items in lists of a few megabytes; no work per item where all are str."""
    iterator = iter(sources)
    number, wanted = 0, 1
    while items := list(islice(iterator, wanted)):
        kinds = set(map(type, items))
        if kinds == {str} or (kinds == {bytes} and reading.accepts(items)):
            yield items
            size = sum(map(len, items))
        else:
            size = 0
            for batch in _mixed(items, number, reading):
                yield batch
                size += batch.size if isinstance(batch, Column) else sum(map(len, batch))
        number += len(items)
        fitting = len(items) * _BATCH_BYTES // max(size, 1)
        wanted = max(1, min(fitting, 8 * wanted, _MOST_ITEMS))


def _mixed(items: list[Any], number: int, reading: Reading) -> Iterator[Batch]:
    """Texts, rows and paths, each checked; the first item has this number."""
    documents: list[Document] = []
    for place, item in enumerate(items, number):
        value, name = item, f"item {place} of the sources"
        if isinstance(item, Mapping):
            value, name = reading.cell(item, f"row {place}"), f"row {place}"
        if isinstance(value, os.PathLike):
            yield documents
            documents = []
            yield from read_file(Path(value), reading)
        else:
            documents.append(reading.checked(value, name))
    yield documents
