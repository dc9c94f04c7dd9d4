"""Columns of texts in, columns of ids out: for `datasets` in its Arrow format.

No Python object is made per text or per id.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrow import lists, one_array, texts_of
from ..errors import UnsupportedError
from .assembly import Assembly
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ArrowMapper", "blocks_of", "packed_blocks"]

Ids = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ArrowMapper:
    """A function for `ds.with_format("arrow").map(..., batched=True)`.

    It makes a table with `input_ids` (lists of int32) and, if asked, `attention_mask` (int8). Texts
    that are null have no ids, and are null there.
    """

    vocabulary: Vocabulary
    assembly: Assembly
    column: str
    attention_mask: bool = False
    max_length: int | None = None
    truncate_left: bool = False
    add_special_tokens: bool = True
    block_size: int | None = None
    separator: int | None = None

    def __call__(self, table: "pyarrow.Table") -> "pyarrow.Table":
        """The table of ids for a table of texts."""
        import pyarrow as pa

        column = one_array(table.column(self.column))
        ids, ends = self.vocabulary.column(*texts_of(column))
        if self.block_size is not None:
            blocks = packed_blocks(ids, ends, self.block_size, self.separator)
            ids, ends = blocks.reshape(-1), np.arange(len(blocks) + 1) * self.block_size
            nulls = None
        else:
            ids, ends = self._finished(ids, ends)
            nulls = column.is_null() if column.null_count else None
        columns = {"input_ids": lists(ids.view(np.int32), ends, nulls)}
        if self.attention_mask:
            columns["attention_mask"] = lists(np.ones(len(ids), np.int8), ends, nulls)
        return pa.table(columns)

    def _finished(self, ids: Ids, ends: Offsets) -> tuple[Ids, Offsets]:
        """Truncated, and with the template around each text."""
        frame = self.assembly.frame(specials=self.add_special_tokens)
        if frame is None:
            raise UnsupportedError(
                "the template does not hold the text exactly once; pass add_special_tokens=False"
            )
        front, back = (np.array(values, np.uint32) for values in (frame.front, frame.back))
        if self.max_length is not None:
            room = self.max_length - len(front) - len(back)
            if room < 0:
                raise ValueError(
                    f"max_length is {self.max_length}, but {len(front) + len(back)} special tokens "
                    "are put around each text"
                )
            ids, ends = _cut(ids, ends, room, left=self.truncate_left)
        return _around(ids, ends, front, back) if len(front) or len(back) else (ids, ends)


def packed_blocks(ids: Ids, ends: Offsets, size: int, separator: int | None) -> Ids:
    """Texts one after the other, each followed by the separator, as rows of `size` ids.

    What does not fill a row at the end is left out.
    """
    if size < 1:
        raise ValueError(f"blocks must have at least one id, not {size}")
    if separator is not None:
        ids, _ = _around(ids, ends, np.empty(0, np.uint32), np.array([separator], np.uint32))
    rows = len(ids) // size
    return ids[: rows * size].reshape(rows, size)


def blocks_of(
    vocabulary: Vocabulary, texts: Iterable[Any], size: int, separator: int | None
) -> Ids:
    """The same for a column of Arrow or any texts that are not encoded yet."""
    if hasattr(texts, "null_count"):
        ids, ends = vocabulary.column(*texts_of(one_array(texts)))
    else:
        ids, ends = vocabulary.tokenizer.encode_arrays(list(texts), specials="encode")
    return packed_blocks(ids, ends, size, separator)


def _around(ids: Ids, ends: Offsets, front: Ids, back: Ids) -> tuple[Ids, Offsets]:
    """Each text's ids between some others."""
    lengths = np.diff(ends)
    finished = np.zeros_like(ends)
    np.cumsum(lengths + (len(front) + len(back)), out=finished[1:])
    made = np.empty(finished[-1], np.uint32)
    own = np.ones(len(made), bool)
    for place, values in ((finished[:-1], front), (finished[1:] - len(back), back)):
        for i, value in enumerate(values):
            made[place + i] = value
            own[place + i] = False
    made[own] = ids
    return made, finished


def _cut(ids: Ids, ends: Offsets, room: int, *, left: bool) -> tuple[Ids, Offsets]:
    """At most `room` ids of each text: its first, or its last ones."""
    lengths = np.diff(ends)
    if not len(lengths) or lengths.max() <= room:
        return ids, ends
    kept = np.minimum(lengths, room)
    finished = np.zeros_like(ends)
    np.cumsum(kept, out=finished[1:])
    begins = ends[1:] - kept if left else ends[:-1]
    places = np.arange(finished[-1]) + np.repeat(begins - finished[:-1], kept)
    return ids[places], finished
