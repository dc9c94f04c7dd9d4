"""Files of text in, ids out: in memory, or in a flat file that a training loop maps."""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .atomic import replaced
from .errors import FormatError, UnsupportedError
from .progress import Progress

__all__ = ["encode", "id_type"]

# Documents are encoded together up to this size: memory follows it and the longest document, and
# is used again from group to group.
_GROUP_BYTES = 16 << 20
_GROUP_FILES = 4096
_BLOCK_IDS = 1 << 20  # that are converted and written at a time
_MAPPED = 1 << 20  # bytes from which on mapping a file costs less than reading it

_ROWS = "read its texts and pass them to encode_arrays, or its column to encode_arrow"
_REFUSED = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".csv", ".tsv"), _ROWS),
    **dict.fromkeys((".parquet", ".arrow", ".feather"), _ROWS),
    **dict.fromkeys(
        (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz", ".7z"), "unpack it first"
    ),
}

Ids = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]
EncodeBatch = Callable[[list[Any], Callable[[int, int], None] | None], tuple[Ids, Offsets]]
Write = Callable[[Ids], Any]


def id_type(dtype: npt.DTypeLike | None, vocab_size: int) -> np.dtype[Any]:
    """The type of ids asked for, or the smallest that holds them; raises `ValueError`."""
    if dtype is None:
        return np.dtype("<u2" if vocab_size <= 1 << 16 else "<u4")
    kind = np.dtype(dtype)
    if kind not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype must be uint16 or uint32, not {kind}")
    if vocab_size > 1 << 8 * kind.itemsize:
        raise ValueError(
            f"{kind} does not hold the ids of a vocabulary of {vocab_size}; use uint32"
        )
    return kind


def encode(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    encode_batch: EncodeBatch,
    *,
    separator: int | None,
    dtype: np.dtype[Any],
    out: str | os.PathLike[str] | None,
    progress: bool | None,
) -> tuple[Ids, Offsets]:
    """The ids of files, each a document with `separator` behind it, and their m + 1 offsets."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    sizes = {path: _size(path) for path in map(Path, files)}
    end = np.array([] if separator is None else [separator], dtype)

    def run(write: Write) -> Offsets:
        with Progress(progress, "encoding", sum(sizes.values()), "B") as bar:
            return _encode_all([Path(file) for file in files], sizes, encode_batch, end, write, bar)

    if out is None:
        parts: list[Ids] = [np.empty(0, dtype)]
        offsets = run(parts.append)
        return np.concatenate(parts), offsets
    target, places = Path(out), Path(f"{out}.offsets.npy")
    for path in (target, places):
        if path.is_dir():
            raise FormatError(f"{path}: is a folder, not a file to write")
    target.parent.mkdir(parents=True, exist_ok=True)
    with replaced(target, places) as (file, index):
        np.save(index, run(file.write))
    offsets = np.load(places, mmap_mode="r")
    if not offsets[-1]:  # nothing can be mapped
        return np.empty(0, dtype), offsets
    return np.memmap(target, dtype, mode="r"), offsets


def _encode_all(
    files: list[Path],
    sizes: dict[Path, int],
    encode_batch: EncodeBatch,
    end: Ids,
    write: Write,
    bar: Progress,
) -> Offsets:
    lengths = [np.zeros(1, np.int64)]
    for group in _groups(files, sizes):
        texts = [_text(path, sizes[path]) for path in group]
        ids, ends = encode_batch(texts, bar.report)
        bar.finish(sum(map(len, texts)))
        del texts  # gives the mapped files back
        pieces = pairwise(ends.tolist()) if len(end) else [(0, len(ids))]
        for start, stop in pieces:
            for at in range(start, stop, _BLOCK_IDS):
                write(ids[at : min(at + _BLOCK_IDS, stop)].astype(end.dtype))
            write(end)
        lengths.append(np.diff(ends) + len(end))
    return np.cumsum(np.concatenate(lengths), dtype=np.int64)


def _groups(files: list[Path], sizes: dict[Path, int]) -> Iterator[list[Path]]:
    group: list[Path] = []
    size = 0
    for path in files:
        if group and (size + sizes[path] > _GROUP_BYTES or len(group) == _GROUP_FILES):
            yield group
            group, size = [], 0
        group.append(path)
        size += sizes[path]
    if group:
        yield group


def _size(path: Path) -> int:
    """The size of a file, which must be one of text by its name."""
    suffix = path.suffix.lower()
    if suffix in _REFUSED:
        raise UnsupportedError(f"{path}: {suffix} files are no plain text; {_REFUSED[suffix]}")
    try:
        if path.is_dir():
            raise FormatError(f"{path}: is a folder; pass the files in it")
        return path.stat().st_size
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file; for texts themselves use encode_arrays") from None


def _text(path: Path, size: int) -> bytes | memoryview:
    if size < _MAPPED:
        return path.read_bytes()
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_SEQUENTIAL"):
        mapped.madvise(mmap.MADV_SEQUENTIAL)
    return memoryview(mapped)
