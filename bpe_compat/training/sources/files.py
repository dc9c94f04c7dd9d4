"""Files of text, JSON lines and Parquet, plain or compressed, read in blocks."""

import importlib
import io
import json
import os
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from ...errors import FormatError, UnsupportedError
from .columns import read_arrow
from .reading import Batch, Document, Reading

__all__ = ["read_file", "read_stream", "text_files"]

# Bytes: a block stays in the second-level cache from reading to counting, and memory that is new
# to the process is slow: counting 10 MB takes 0.6 of the time that it took with blocks of 4 MB.
_BLOCK = 1 << 19
_MODULES = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2"}
_COMPRESSED = (".zst", *_MODULES)
_LINES = (".jsonl", ".ndjson")
_TEXT = (".txt", ".text", ".md")
_REFUSED = {
    ".json": "pass a .jsonl file, or the texts themselves",
    ".zip": "unpack it first",
    ".tar": "unpack it first",
    ".tgz": "unpack it first",
    ".7z": "unpack it first",
    ".arrow": "load it with datasets and pass the Dataset",
    ".feather": "read it with pyarrow and pass the table",
    ".csv": "pass the column's texts",
    ".tsv": "pass the column's texts",
}


def text_files(folder: Path) -> list[Path]:
    """The files below a folder that hold training text by their names, sorted."""
    known = (*_TEXT, *_LINES, ".parquet")
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _kind(path)[0] in known and not path.name.startswith(".")
    ]
    if not found:
        raise FormatError(f"{folder}: is a folder without a file of {', '.join(known)}")
    return found


def read_file(path: Path, reading: Reading) -> Iterator[Batch]:
    """The documents of a file; a file of text is one document, in blocks."""
    kind, compression = _kind(path)
    if kind in _REFUSED:
        raise UnsupportedError(f"{path}: {kind} files cannot be read; {_REFUSED[kind]}")
    try:
        if kind == ".parquet" and not compression:
            yield from _parquet(path, reading)
            return
        with _open(path, compression) as file:
            read = _json_lines if kind in _LINES else read_stream
            yield from read(file, str(path), reading)
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file; to train on a text itself pass [text]") from None
    except (OSError, EOFError, ValueError, _damage(compression)) as error:
        if isinstance(error, FormatError):
            raise
        name = repr(str(path)[:100])
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"{name}: {reason}; to train on a text itself pass [text]") from None


def read_stream(file: Any, name: str, reading: Reading) -> Iterator[Batch]:
    """One document of text in blocks, each cut where that changes no piece.

    Memory follows the block, unless the text goes on for longer without a place to cut it at.
    """
    block = reading.blocks.take(_BLOCK)
    filled = offset = 0
    while read := file.readinto(block[filled:]):
        if offset == filled == 0 and bytes(block[:3]) == b"\xef\xbb\xbf":
            message = f"{name}: begins with a byte order mark, which becomes part of the text"
            warnings.warn(message, stacklevel=2)
        filled += read
        if filled < len(block):
            continue
        cut = reading.last_cut(block)
        following = reading.blocks.take(len(block) if cut else 2 * len(block))
        following[: filled - cut] = block[cut:filled]
        if cut:
            yield [reading.checked(block[:cut], name, offset)]
        block = following
        filled -= cut
        offset += cut
    if filled:
        yield [reading.checked(block[:filled], name, offset)]


def _kind(path: Path) -> tuple[str, str]:
    """What a file holds and how it is compressed, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSED else ""
    return (suffixes[-1] if suffixes else ""), compression


def _open(path: Path, compression: str) -> BinaryIO:
    match compression:
        case ".zst":
            return _open_zstandard(path)
        case "":
            return path.open("rb", buffering=0)
        case _:
            module = importlib.import_module(_MODULES[compression])
            return cast(BinaryIO, module.open(path))


def _damage(compression: str) -> type[Exception]:
    """What a decompressor raises for damaged data, if neither `OSError` nor `EOFError`."""
    if compression != ".xz":
        return zlib.error
    found: type[Exception] = importlib.import_module("lzma").LZMAError
    return found


def _open_zstandard(path: Path) -> BinaryIO:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise UnsupportedError(f"{path}: needs the package zstandard") from None

    class Checked(io.RawIOBase):
        """Zstandard's errors as an OSError, what the other decompressors raise."""

        def __init__(self) -> None:
            self._file = zstandard.open(path, "rb")

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            try:
                return int(self._file.readinto(buffer))
            except zstandard.ZstdError as error:
                raise OSError(f"damaged: {error}") from None

        def close(self) -> None:
            self._file.close()
            super().close()

    return cast(BinaryIO, Checked())


def _json_lines(file: BinaryIO, name: str, reading: Reading) -> Iterator[Batch]:
    documents: list[Document] = []
    size = 0
    wanted = _BLOCK
    buffered = io.BufferedReader(cast(io.RawIOBase, file), wanted)
    for number, line in enumerate(buffered, 1):
        if line.isspace():
            continue
        where = f"{name}: line {number}"
        try:
            text = reading.checked(line, where)
            row = json.loads(text if isinstance(text, str | bytes) else bytes(text))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise FormatError(f"{where} is no JSON: {error}") from None
        if not isinstance(row, dict):
            raise FormatError(f"{where} is no JSON object but {type(row).__name__}")
        document = reading.cell(row, where)
        documents.append(reading.checked(document, f"{where}: {reading.text_column!r}"))
        size += len(document)
        if size >= wanted:
            yield documents
            documents, size = [], 0
    yield documents


def _parquet(path: Path, reading: Reading) -> Iterator[Batch]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UnsupportedError(f"{path}: needs the package pyarrow") from None
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise FormatError(f"{path}: is empty, not a Parquet file")
        table = parquet.ParquetFile(file)
        reading.check_columns(table.schema_arrow.names, str(path))
        for batch in table.iter_batches(batch_size=4096, columns=[reading.text_column]):
            yield from read_arrow(batch, reading, str(path))
