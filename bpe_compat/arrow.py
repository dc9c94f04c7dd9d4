"""Columns of Arrow: texts in the buffers they lie in, ids as lists; no Python object for either."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnsupportedError

__all__ = ["MOST_IDS", "buffers", "encoded", "lists", "one_array", "plain", "texts_of"]

# A list column of Arrow has 32-bit offsets.
MOST_IDS = np.iinfo(np.int32).max

Ids = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]


def pyarrow() -> Any:
    """The package, imported when it is needed."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise UnsupportedError(
            "Arrow columns need the package pyarrow: pip install pyarrow"
        ) from None


def encoded(column: Any, encode: Callable[[Any, Offsets], tuple[Ids, Offsets]]) -> Any:
    """A column of lists of ids for a column of texts; `encode` takes a buffer and its offsets."""
    pa = pyarrow()
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        column = _imported(column)
    if isinstance(column, pa.ChunkedArray):
        chunks = [encoded(chunk, encode) for chunk in column.chunks]
        return pa.chunked_array(chunks, pa.list_(pa.uint32()))
    if pa.types.is_dictionary(column.type):
        return encoded(column.dictionary, encode).take(column.indices)
    nulls = column.is_null() if column.null_count else None
    return lists(*encode(*texts_of(column)), nulls)


def lists(ids: npt.NDArray[Any], offsets: Offsets, nulls: Any) -> Any:
    """A list array on the memory of `ids`; `nulls` is a boolean array, or None for no nulls."""
    pa = pyarrow()
    if offsets[-1] > MOST_IDS:
        raise ValueError(
            f"{offsets[-1]} ids are too many for one array of lists; use a smaller batch_size, or "
            "slices of the column"
        )
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(ids), mask=nulls)


def one_array(column: Any) -> Any:
    """A column in one piece."""
    pa = pyarrow()
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def texts_of(array: Any) -> tuple[Any, Offsets]:
    """The bytes of an array of texts and their offsets; a null is an empty text.

    Texts that lie one after the other are not copied, unless there is something at the place of a
    null. Raises `TypeError` if the array holds no texts.
    """
    texts = plain(array)
    if texts is None:
        raise TypeError(f"the column must hold texts, not {array.type}")
    data, offsets = buffers(texts)
    if texts.null_count and np.diff(offsets)[texts.is_null().to_numpy(zero_copy_only=False)].any():
        return buffers(texts.fill_null(""))
    return data, offsets


def plain(array: Any) -> Any:
    """The array, or one whose texts lie one after the other; None if it holds no texts."""
    pa = pyarrow()
    is_kind = pa.types
    kind = array.type.value_type if is_kind.is_dictionary(array.type) else array.type
    if is_kind.is_null(kind):
        kind = pa.string()
    elif not is_kind.is_string(kind) and not is_kind.is_binary(kind) and not _is_large(kind):
        if not is_kind.is_string_view(kind) and not is_kind.is_binary_view(kind):
            return None
        if kind != array.type:
            array = array.dictionary_decode()
        kind = pa.large_binary()
    return array if kind == array.type else array.cast(kind)


def buffers(array: Any) -> tuple[Any, Offsets]:
    """The bytes of an array that is `plain`, and its m + 1 offsets in them."""
    _, offsets, data = array.buffers()
    if offsets is None or not len(array):
        return b"", np.zeros(len(array) + 1, np.int64)
    numbers = np.frombuffer(offsets, np.int64 if _is_large(array.type) else np.int32)
    used = numbers[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return b"" if data is None else memoryview(data), used


def _is_large(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_large_string(kind) or types.is_large_binary(kind))


def _imported(column: Any) -> Any:
    """A column of another library that speaks Arrow's C interface."""
    pa = pyarrow()
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    raise TypeError(f"the column must be an array of Arrow, not {type(column).__name__}")
