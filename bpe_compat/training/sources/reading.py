"""What all readers of sources share: how to read, and what they hand on."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import FormatError

__all__ = ["Batch", "Blocks", "Column", "Document", "Errors", "Reading", "size_of"]

Document = str | bytes | memoryview
Errors = Literal["strict", "replace", "bytes"]


@dataclass(frozen=True)
class Column:
    """Documents in one buffer: number i from `offsets[i]` to `offsets[i + 1]`, in bytes."""

    data: memoryview | bytes
    offsets: npt.NDArray[np.int64]

    @property
    def size(self) -> int:
        """Bytes of all documents."""
        return int(self.offsets[-1] - self.offsets[0])


Batch = list[Document] | Column


def size_of(batch: Batch) -> int:
    """Bytes of all documents; characters of those that are str."""
    return batch.size if isinstance(batch, Column) else sum(map(len, batch))


class Blocks:
    """Memory for blocks of text, which is used again: new pages are slow.

    >>> blocks = Blocks()
    >>> text = blocks.take(8)[:5]
    >>> blocks.give_back([text])
    >>> blocks.take(8).obj is text.obj
    True
    """

    def __init__(self) -> None:
        self._free: list[bytearray] = []

    def take(self, size: int) -> memoryview:
        """A block of this size with anything in it."""
        while self._free:
            if len(block := self._free.pop()) == size:
                return memoryview(block)
        return memoryview(bytearray(size))

    def give_back(self, batch: Batch) -> None:
        """Says that a batch was used up: others may be read over it."""
        for document in () if isinstance(batch, Column) else batch[:1]:
            if isinstance(document, memoryview) and isinstance(document.obj, bytearray):
                self._free.append(document.obj)


@dataclass(frozen=True)
class Reading:
    """How sources are read.

    `errors` says what becomes of bytes that are no UTF-8: an error, U+FFFD, or pieces of their own.
    `last_cut` gives the last offset where a block of a longer text may be cut in two without a
    change to its pieces; 0 if there is none. `blocks` is the memory that text is read into.
    """

    text_column: str
    errors: Errors
    last_cut: Callable[[memoryview], int]
    blocks: "Blocks" = field(default_factory=lambda: Blocks())

    def cell(self, row: Mapping[str, Any], name: str) -> Any:
        """The text column of a row."""
        self.check_columns(row, name)
        return row[self.text_column]

    def check_columns(self, columns: Collection[str], name: str) -> None:
        """Raises `FormatError` if the text column is not among these."""
        if self.text_column not in columns:
            raise FormatError(
                f"{name} has no column {self.text_column!r} but {', '.join(map(str, columns))}; "
                "pass text_column="
            )

    def accepts(self, texts: list[bytes]) -> bool:
        """Whether all these texts may be taken as they are."""
        return self.errors == "bytes" or _core.first_invalid_text(texts) == len(texts)

    def checked(self, text: Any, name: str, offset: int = 0) -> Document:
        """A document of UTF-8, as far as `errors` asks for it; `offset` is where it starts."""
        if isinstance(text, str):
            return text
        if not isinstance(text, bytes | memoryview):
            raise FormatError(f"{name} is {type(text).__name__}, not str or bytes")
        if self.errors == "bytes":
            return text
        at = _core.first_invalid(text)
        if at == len(text):
            return text
        if self.errors == "replace":
            return bytes(text).decode("utf-8", "replace")
        byte = bytes(text[at : at + 1]).hex().upper()
        raise FormatError(
            f"{name}: byte 0x{byte} at offset {offset + at} is not UTF-8; pass errors='replace' or "
            "errors='bytes' to train on it all the same"
        )
