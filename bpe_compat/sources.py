"""Where training text comes from: files, iterables and datasets, as a stream of documents."""

import mmap
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _core
from .errors import FormatError, UnsupportedError

__all__ = ["batches", "total_bytes"]

Document = str | bytes | memoryview
_BATCH_BYTES = 1 << 22
_BATCH_DOCUMENTS = 4096
_LATER = {".gz", ".zst", ".jsonl", ".parquet", ".xz", ".bz2", ".zip"}


def batches(sources: Any, text_column: str) -> Iterator[list[Document]]:
    """The documents of a source, in lists of a few megabytes.

    A lone `str` or path is a file; a list of paths is files; anything else is iterated, its items
    being documents, or rows of a dataset with the column `text_column`. Raises `FormatError` for a
    missing file, text that is not UTF-8 and items that are no text; files are mapped, not read.
    """
    batch: list[Document] = []
    size = 0
    for document in _documents(sources, text_column):
        batch.append(document)
        size += len(document)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def total_bytes(sources: Any) -> int | None:
    """The size of a source of files; None if it is not known beforehand."""
    try:
        return sum(path.stat().st_size for path in _paths(sources) or ()) or None
    except (OSError, ValueError):
        return None


def _paths(sources: Any) -> list[Path] | None:
    """The files that a source names, or None if it is no source of files."""
    if isinstance(sources, str | os.PathLike):
        return [Path(sources)]
    if not isinstance(sources, list | tuple) or not sources:
        return None
    are_paths = all(isinstance(item, os.PathLike) for item in sources)
    return [Path(item) for item in sources] if are_paths else None


def _documents(sources: Any, text_column: str) -> Iterator[Document]:
    paths = _paths(sources)
    if paths is not None:
        for path in paths:
            yield from _file(path)
        return
    if isinstance(sources, bytes | Mapping) or not isinstance(sources, Iterable):
        raise TypeError(
            f"sources must be a path, paths, or an iterable of texts, not {type(sources).__name__}"
        )
    for number, item in enumerate(_rows(sources, text_column)):
        if isinstance(item, os.PathLike):
            yield from _file(Path(item))
            continue
        if not isinstance(item, str | bytes):
            raise FormatError(
                f"item {number} of the sources is {type(item).__name__}, not str or bytes"
            )
        if isinstance(item, bytes):
            _check_utf8(item, f"item {number} of the sources")
        yield item


def _rows(sources: Iterable[Any], text_column: str) -> Iterator[Any]:
    """Items as they are, and the text column of rows of a dataset."""
    for number, item in enumerate(sources):
        if not isinstance(item, Mapping):
            yield item
        elif text_column in item:
            yield item[text_column]
        else:
            raise FormatError(
                f"row {number} has no column {text_column!r} but {', '.join(map(str, item))}; "
                "pass text_column="
            )


def _file(path: Path) -> Iterator[memoryview]:
    """The content of a file, mapped; the mapping lives as long as the view."""
    if path.suffix in _LATER:
        raise UnsupportedError(f"{path}: {path.suffix} files cannot be read yet; pass their texts")
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file; to train on a text itself pass [text]") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: is a folder; pass a list of its files") from None
    except (OSError, ValueError) as error:  # ValueError: a text with a NUL was taken for a path
        reason = error.strerror if isinstance(error, OSError) else error
        name = repr(str(path)[:100])
        raise FormatError(f"{name}: {reason}; to train on a text itself pass [text]") from None
    if bytes(view[:3]) == b"\xef\xbb\xbf":
        message = f"{path}: begins with a byte order mark, which becomes part of the text"
        warnings.warn(message, stacklevel=2)
    _check_utf8(view, str(path))
    yield view


def _check_utf8(text: bytes | memoryview, name: str) -> None:
    offset = _core.first_invalid(text)
    if offset < len(text):
        byte = bytes(text[offset : offset + 1]).hex().upper()
        raise FormatError(f"{name}: byte 0x{byte} at offset {offset} is not UTF-8")
