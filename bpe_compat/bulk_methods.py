"""The methods for much text: arrays, Arrow columns and files in place of lists of ints."""

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import arrow, encoded_files
from .errors import SpecialTokenError
from .progress import Progress
from .texts import valid
from .threads import thread_count
from .tiktoken_methods import TiktokenMethods

__all__ = ["BulkMethods", "TokenArrays"]


class TokenArrays(NamedTuple):
    """Ids of m texts in one array; `ids[offsets[i]:offsets[i + 1]]` are those of text i.

    The ids are uint32, or uint16 where that was asked for; the m + 1 offsets are int64.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]


class BulkMethods(TiktokenMethods):
    """What goes from text to ids and back without a Python object per id."""

    __slots__ = ()

    def encode_arrays(
        self,
        texts: Sequence[str | bytes],
        *,
        specials: Literal["text", "encode"] = "text",
        threads: int | None = None,
        progress: bool | None = False,
    ) -> TokenArrays:
        """The ids of many texts as flat arrays, without a Python list.

        `specials` says whether special tokens in the texts are text or become their ids. Returns
        uint32 ids of length n and int64 offsets of length m + 1. Texts may be bytes, also if they
        are not UTF-8. The template is not added. `progress` shows a bar on stderr; None means on a
        terminal only.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"b": 1}, pattern=None, special_tokens={})
        >>> tok.encode_arrays(["ab", "", "a"]).offsets.tolist()
        [0, 2, 2, 3]
        """
        _check_many(texts)
        enabled, used = self._specials.mode(specials), thread_count(threads)
        total = None if progress is False else _size(texts)
        with Progress(progress, "encoding", total, "B") as bar:
            return TokenArrays(*self.engine.encode_batch(texts, enabled, used, bar.report))

    def encode_arrow(
        self,
        column: Any,
        *,
        specials: Literal["text", "encode"] = "text",
        threads: int | None = None,
    ) -> Any:
        """A column of lists of ids for a column of texts, both of Arrow.

        `column` holds strings or binaries of any kind, dictionaries of them too; it is a
        `pyarrow.Array`, a `ChunkedArray` or what has Arrow's C interface. Returns a
        `pyarrow.ListArray` of uint32, or a `ChunkedArray` of them, chunk by chunk; a null stays a
        null. Texts that lie one after the other in a buffer are not copied, nor are the ids.
        Raises `UnsupportedError` without pyarrow and `TypeError` for a column of something else.

        >>> import pyarrow as pa
        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"b": 1}, pattern=None, special_tokens={})
        >>> tok.encode_arrow(pa.array(["ab", None, "a"])).to_pylist()
        [[0, 1], None, [0]]
        """
        enabled, used = self._specials.mode(specials), thread_count(threads)

        def encode(data: Any, offsets: Any) -> Any:
            return self.engine.encode_column(data, offsets, enabled, used)

        return arrow.encoded(column, encode)

    def encode_files(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        separator: str | int | None = None,
        dtype: npt.DTypeLike | None = None,
        out: str | os.PathLike[str] | None = None,
        specials: Literal["text", "encode"] = "text",
        threads: int | None = None,
        progress: bool | None = None,
    ) -> TokenArrays:
        """The ids of text files, each a document, in memory or in a flat file.

        `separator`, a special token or an id, follows each document. `dtype` is uint16 or uint32;
        None means uint16 if all ids fit. With `out`, the ids are written there as little-endian
        numbers and nothing else, for `np.memmap(out, dtype)`, and the m + 1 offsets of the
        documents to `out` + `.offsets.npy`; both files appear when they are whole, and the arrays
        returned are mapped. Memory follows the longest file and not their sum. Files must not
        change meanwhile. Raises `FormatError` for a missing file, `UnsupportedError` for files that
        are not plain text by their names.

        >>> import pathlib, tempfile
        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"b": 1}, pattern=None, special_tokens={"<e>": 2})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = [pathlib.Path(folder, name) for name in ("1.txt", "2.txt")]
        ...     for path, text in zip(paths, ("ab", "b")):
        ...         _ = path.write_text(text)
        ...     arrays = tok.encode_files(paths, separator="<e>", out=f"{folder}/ids.bin")
        ...     np.fromfile(f"{folder}/ids.bin", np.uint16).tolist(), arrays.offsets.tolist()
        ([0, 1, 2, 1, 2], [0, 3, 5])
        """
        enabled, used = self._specials.mode(specials), thread_count(threads)

        def encode(texts: list[Any], report: Any) -> Any:
            return self.engine.encode_batch(texts, enabled, used, report)

        ids, offsets = encoded_files.encode(
            paths,
            encode,
            separator=self._separator(separator),
            dtype=encoded_files.id_type(dtype, self.spec.vocab_size),
            out=out,
            progress=progress,
        )
        return TokenArrays(ids, offsets)

    def _separator(self, separator: str | int | None) -> int | None:
        if isinstance(separator, str):
            if separator not in self._specials.ids:
                known = ", ".join(map(repr, self._specials.ids)) or "none"
                raise SpecialTokenError(
                    f"the separator {separator!r} is no special token; there are: {known}"
                )
            return self._specials.ids[separator]
        if separator is not None:
            self.engine.core.token(separator)  # raises KeyError if it is none
        return separator

    def count(self, text: str, *, specials: Literal["text", "encode"] = "text") -> int:
        """How many ids a text has.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={})
        >>> tok.count("aaa")
        2
        """
        return int(self.engine.count_batch([valid(text)], self._specials.mode(specials), 1)[0])

    def count_batch(
        self,
        texts: Sequence[str | bytes],
        *,
        specials: Literal["text", "encode"] = "text",
        threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many ids each text has; the ids themselves are not kept.

        Returns int64 counts of length m. Texts may be bytes, as in `encode_arrays`.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={})
        >>> tok.count_batch(["aaa", "", "a"]).tolist()
        [2, 0, 1]
        """
        _check_many(texts)
        enabled = self._specials.mode(specials)
        return self.engine.count_batch(texts, enabled, thread_count(threads))

    def decode_arrays(
        self,
        arrays: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        errors: str = "replace",
        *,
        threads: int | None = None,
    ) -> list[str]:
        """The texts of what `encode_arrays` gives: ids of any type of integers, m + 1 offsets.

        `errors` says what becomes of bytes that are not UTF-8. Raises `KeyError` naming an id that
        is no token and its position in its text, `ValueError` if the offsets do not fit the ids.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"b": 1}, pattern=None, special_tokens={})
        >>> tok.decode_arrays(tok.encode_arrays(["ab", "", "a"]))
        ['ab', '', 'a']
        """
        ids, offsets = np.asarray(arrays[0]), np.ascontiguousarray(arrays[1], np.int64)
        used = thread_count(threads)
        if self.spec.decoder:
            return [self.decode(ids[a:b], errors) for a, b in pairwise(offsets.tolist())]
        return self.engine.core.decode_arrays(ids, offsets, used, errors)


def _size(texts: Sequence[str | bytes]) -> int:
    """Characters or bytes of all texts, each of which this looks at."""
    return sum(len(text) for text in texts if isinstance(text, str | bytes))


def _check_many(texts: Sequence[str | bytes]) -> None:
    """Raises `TypeError` for one text, which is no sequence of texts."""
    if isinstance(texts, str | bytes):
        raise TypeError("texts must be a sequence of texts, not one text")
