"""What a call returns: a `BatchEncoding` whose encodings are made when somebody asks for them."""

# mypy: disable-error-code="no-untyped-call,misc,no-any-return,override"

from collections.abc import Callable
from typing import Any

from transformers import BatchEncoding

from .. import _core
from .encoding import Encoding

__all__ = ["LazyBatchEncoding", "Rows"]


class Rows(list[Any]):
    """Lists of ints, which Arrow makes a column of in one native pass; pickled as a plain list.

    What the lists hold is looked at when Arrow asks, so they may be changed like any others.
    """

    def __arrow_array__(self, type: Any = None) -> Any:
        """The array that Arrow makes of the same lists in a plain list."""
        import pyarrow as pa

        flat = _core.flat(self) if type is None else None
        if flat is None:
            return pa.array(list(self), type)
        values, offsets = map(pa.array, flat)
        return pa.ListArray.from_arrays(offsets, values)

    def __reduce__(self) -> Any:
        return list, (list(self),)


class LazyBatchEncoding(BatchEncoding):
    """A `BatchEncoding` that knows how to make its encodings; pickled as a plain one."""

    def __init__(
        self,
        data: dict[str, Any],
        make: Callable[[], list[Encoding]] | None = None,
        n_sequences: int | None = None,
        tensor_type: Any = None,
    ) -> None:
        self._make = make  # None for the union with a dict, of which nobody knows the encodings
        self._made: list[Encoding] | None = None
        super().__init__(data, tensor_type=tensor_type, n_sequences=n_sequences)

    @property
    def _encodings(self) -> list[Encoding] | None:
        if self._made is None and self._make is not None:
            self._made = self._make()
        return self._made

    @_encodings.setter
    def _encodings(self, value: list[Encoding] | None) -> None:
        self._made = value

    @property
    def is_fast(self) -> bool:
        """Whether words and characters can be asked for."""
        return self._make is not None or self._made is not None

    def __reduce__(self) -> Any:
        return BatchEncoding, (self.data, self._encodings, None, False, self.n_sequences)
