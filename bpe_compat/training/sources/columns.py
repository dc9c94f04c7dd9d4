"""Text columns of Arrow tables and of datasets: buffers as they are, no Python strings."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _core
from ...arrow import buffers, plain
from ...errors import FormatError
from .reading import Batch, Column, Reading

__all__ = ["is_arrow", "is_dataset", "read_arrow", "read_dataset"]

_BATCH_BYTES = 1 << 21
_MOST_ROWS = 1 << 16


def is_dataset(sources: Any) -> bool:
    """Whether this is a Dataset or IterableDataset of the package datasets."""
    return type(sources).__module__.startswith("datasets.") and hasattr(sources, "with_format")


def is_arrow(sources: Any) -> bool:
    """Whether this is a table, record batch, array or chunked array of pyarrow."""
    return type(sources).__module__ == "pyarrow.lib"


def read_dataset(dataset: Any, reading: Reading) -> Iterator[Batch]:
    """The text column of a dataset, in batches of its rows."""
    row = 0
    for table in _tables(dataset.with_format("arrow")):
        yield from read_arrow(table, reading, "the dataset", row)
        row += table.num_rows


def _tables(dataset: Any) -> Iterator[Any]:
    """Batches of about a megabyte; of a stream, a thousand rows at a time."""
    if not hasattr(dataset, "__len__"):
        yield from dataset.iter(batch_size=1000)
        return
    at, rows = 0, 100
    while at < len(dataset):
        table = dataset[at : at + rows]
        yield table
        at += table.num_rows
        fitting = table.num_rows * _BATCH_BYTES // max(table.nbytes, 1)
        rows = max(1, min(fitting, 8 * rows, _MOST_ROWS))


def read_arrow(data: Any, reading: Reading, name: str, row: int = 0) -> Iterator[Batch]:
    """The documents of Arrow data, whose first row has the number `row`."""
    if hasattr(data, "schema"):
        names = data.schema.names
        reading.check_columns(names, name)
        data = data.column(names.index(reading.text_column))
    for array in getattr(data, "chunks", [data]):
        if len(array):
            yield _column(array, reading, name, row)
        row += len(array)


def _column(array: Any, reading: Reading, name: str, row: int) -> Batch:
    if array.null_count:
        place = row + array.is_null().to_pylist().index(True)
        raise FormatError(f"{name}: row {place} of {reading.text_column!r} is null, not a text")
    texts = plain(array)
    if texts is None:
        raise FormatError(f"{name}: {reading.text_column!r} holds {array.type}, not text")
    data, used = buffers(texts)
    column = Column(data, used)
    begin, end = int(used[0]), int(used[-1])
    if reading.errors == "bytes":
        return column
    at = begin + _core.first_invalid(memoryview(column.data)[begin:end])
    if at == end:
        return column
    first = int(np.searchsorted(used, at, "right")) - 1
    rows = range(len(array)) if reading.errors == "replace" else [first]
    return [
        reading.checked(memoryview(column.data)[used[i] : used[i + 1]], f"{name}: row {row + i}")
        for i in rows
    ]
