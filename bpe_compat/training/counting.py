"""Counting the pieces of training text: `count` and what it returns, `PieceCounts`."""

import json
import os
import re
import struct
import warnings
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from .. import _core, pipeline
from ..atomic import replaced
from ..errors import FormatError, SpecialTokenError
from ..patterns import resolve, scanner_of
from ..progress import Progress, ProgressCallback
from ..spec import Split, check_text
from ..texts import all_valid, valid
from ..threads import thread_count
from .sources import Batch, Column, Errors, Reading, batches, names_files, size_of, total_bytes
from .turns import in_turns

__all__ = ["Cutting", "PieceCounts", "checked_specials", "count"]

_MAGIC = b"BPECOUNT"
_VERSION = 1


@dataclass(frozen=True)
class Cutting:
    """How text becomes pieces: special tokens are cut out, lines part, the split does the rest."""

    splits: tuple[Split, ...]
    special_tokens: tuple[str, ...]
    by_line: bool


class PieceCounts:
    """How often each distinct piece occurs in a text, in the order of first appearance.

    Made by `count`; `train` takes it as often as wanted. Counts of parts of a corpus add up with
    `merge` or `+` to those of the whole, whoever counted them: trained on, they give the same
    merges.

    >>> counts = count(["low low lower"], special_tokens=())
    >>> counts.top(2)
    [(b' low', 1), (b' lower', 1)]
    >>> len(counts + count(["new"], special_tokens=()))
    4
    """

    def __init__(self, cutting: Cutting, memory_limit: int | None = None) -> None:
        if memory_limit is not None and memory_limit < 1 << 20:
            raise ValueError(f"memory_limit must be at least {1 << 20} bytes, not {memory_limit}")
        self.cutting = cutting
        self._memory_limit = memory_limit
        name = scanner_of(cutting.splits)
        specials = [token.encode() for token in cutting.special_tokens]
        self.core = _core.PieceCounter(name or "none", specials, cutting.by_line, memory_limit)
        self._in_python = None if name else _PythonCounter(cutting)
        self._forgotten_before = 0

    def __len__(self) -> int:
        """The number of distinct pieces."""
        return len(self.core)

    def __repr__(self) -> str:
        return f"<PieceCounts: {len(self)} pieces, {self.total_bytes} bytes>"

    @property
    def total_bytes(self) -> int:
        """Bytes of all counted pieces: of the text without its special tokens."""
        _, ends, counts = self.core.pieces()
        lengths = np.diff(ends, prepend=0).astype(np.uint64)
        return int((lengths * counts).sum())

    @property
    def forgotten(self) -> int:
        """How many occurrences of pieces `memory_limit` has dropped from the counts."""
        return self._forgotten_before + self.core.forgotten

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Pieces and counts in the order of first appearance."""
        blob, ends, counts = self.core.pieces()
        begin = 0
        for end, number in zip(ends.tolist(), counts.tolist(), strict=True):
            yield blob[begin:end], number
            begin = end

    def top(self, n: int) -> list[tuple[bytes, int]]:
        """The n most frequent pieces; of equally frequent ones the first to appear first."""
        blob, ends, counts = self.core.pieces()
        order = np.argsort(~counts, kind="stable")[:n].tolist()
        return [(blob[ends[i - 1] if i else 0 : ends[i]], int(counts[i])) for i in order]

    def merge(self, *others: "PieceCounts") -> Self:
        """Adds the counts of what comes later in the text; returns this object.

        Raises `ValueError` if the others cut text in another way.
        """
        for other in others:
            if other.cutting != self.cutting:
                raise ValueError(
                    "counts of different patterns, special tokens or units do not add up: "
                    f"{self.cutting} and {other.cutting}"
                )
        for other in others:
            self.core.add_pieces(*other.core.pieces())
            self._forgotten_before += other.forgotten
        return self

    def __add__(self, other: "PieceCounts") -> "PieceCounts":
        return PieceCounts(self.cutting).merge(self, other)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that `load` reads, by way of a temporary one next to it.

        The format, all numbers little-endian: `BPECOUNT`, the version 1 as a u32, then four blocks,
        each the size of its data as a u64, the size of the zlib stream that holds it as a u64, and
        the stream: a JSON object (`splits`, `special_tokens`, `by_line`, `forgotten`), the bytes of
        all pieces in the order of first appearance, their lengths as u32, their counts as u64.
        """
        blob, ends, counts = self.core.pieces()
        head = {**asdict(self.cutting), "forgotten": self.forgotten}
        blocks = [
            json.dumps(head).encode(),
            blob,
            np.diff(ends, prepend=0).astype("<u4").tobytes(),
            counts.astype("<u8").tobytes(),
        ]
        with replaced(Path(path)) as (file,):
            file.write(_MAGIC + struct.pack("<I", _VERSION))
            for block in blocks:
                packed = zlib.compress(block, 1)
                file.write(struct.pack("<QQ", len(block), len(packed)) + packed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads what `save` wrote. Raises `FormatError` for anything else."""
        head, blob, lengths, numbers = _blocks(Path(path))
        try:
            fields = json.loads(head)
            splits = tuple(Split(**split) for split in fields["splits"])
            specials = tuple(fields["special_tokens"])
            counts = cls(Cutting(splits, checked_specials(specials), bool(fields["by_line"])))
            counts._forgotten_before = int(fields["forgotten"])
            ends = np.cumsum(np.frombuffer(lengths, "<u4"), dtype=np.int64)
            if len(ends) and int(ends[-1]) != len(blob):
                raise ValueError("the lengths do not add up")
            counts.core.add_pieces(blob, ends, np.frombuffer(numbers, "<u8").astype(np.uint64))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise FormatError(f"{path}: is damaged: {error}") from None
        return counts

    def add(
        self,
        sources: Any,
        *,
        text_column: str = "text",
        errors: Errors = "strict",
        threads: int | None = None,
        progress: bool | ProgressCallback | None = None,
    ) -> Self:
        """Counts more text, which comes after what was counted; returns this object."""
        if errors not in ("strict", "replace", "bytes"):
            raise ValueError(f"errors must be one of strict, replace, bytes, not {errors!r}")
        if isinstance(sources, Mapping):
            for piece, number in sources.items():
                self._add_piece(piece, number)
            return self
        used = 1 if self._memory_limit else thread_count(threads)
        shared = used > 1 and self._in_python is None and names_files(sources)
        reading = Reading(text_column, errors, self._last_cut)
        forgotten = self.core.forgotten
        with Progress(progress, "counting", total_bytes(sources), "B") as bar:
            found = batches(sources, reading)
            if shared:
                in_turns(found, reading.blocks, self.core, used, bar)
            else:
                for batch in found:
                    bar.finish(self._add_batch(batch, used, bar))
                    reading.blocks.give_back(batch)
        if dropped := self.core.forgotten - forgotten:
            warnings.warn(
                f"memory_limit was reached: {dropped} occurrences of rare pieces were dropped",
                stacklevel=3,
            )
        return self

    def _add_batch(self, batch: Batch, threads: int, bar: Progress) -> int:
        if isinstance(batch, Column):
            if self._in_python:
                spans = zip(batch.offsets[:-1].tolist(), batch.offsets[1:].tolist(), strict=True)
                self._in_python.add([batch.data[a:b] for a, b in spans], self.core)
            else:
                self.core.add_column(batch.data, batch.offsets, threads, bar.report)
        elif self._in_python:
            self._in_python.add(all_valid(batch), self.core)
        else:
            self.core.add(batch, threads, bar.report)
        return size_of(batch)

    def _last_cut(self, block: memoryview) -> int:
        if self._in_python:
            return bytes(block).rfind(b"\n") + 1 if self.cutting.by_line else 0
        return self.core.last_cut(block)

    def _add_piece(self, piece: Any, number: Any) -> None:
        """One item of a mapping of pieces to counts; NumPy's integers are integers, too."""
        is_count = hasattr(number, "__index__") and 0 <= number < 1 << 64
        if not isinstance(piece, str | bytes) or not is_count:
            raise FormatError(
                f"a piece must be str or bytes and its count an int, not {piece!r}: "
                f"{number!r:.100} (of a dictionary of datasets pass one)"
            )
        if not piece or not number:
            return
        data = valid(piece).encode() if isinstance(piece, str) else piece
        ends, counts = np.array([len(data)], np.int64), np.array([int(number)], np.uint64)
        try:
            self.core.add_pieces(data, ends, counts)
        except OverflowError as error:
            raise FormatError(f"{piece!r}: {number}: {error}") from None


def count(
    sources: Any,
    *,
    pattern: str | Split | None = "gpt2",
    special_tokens: Collection[str] = ("<|endoftext|>",),
    unit: Literal["document", "line"] = "document",
    text_column: str = "text",
    errors: Errors = "strict",
    memory_limit: int | None = None,
    threads: int | None = None,
    progress: bool | ProgressCallback | None = None,
) -> PieceCounts:
    """The pieces of a text and how often each occurs: all that training needs to know of it.

    The arguments are those of `train`. `memory_limit`, in bytes and at least 1 MiB, bounds what
    counting keeps: where half of it is full of pieces of up to 15 bytes, or of longer ones, all of
    those that have occurred at most n times are dropped, for the smallest n that frees half of the
    places. It makes counting use one thread, so that the result depends on the text alone;
    `forgotten` of the result, and a warning, say how many occurrences were dropped.

    >>> dict(count(["a b b"], special_tokens=()).items())
    {b'a': 1, b' b': 2}
    """
    if unit not in ("document", "line"):
        raise ValueError(f"unit must be one of document, line, not {unit!r}")
    cutting = Cutting(resolve(pattern), checked_specials(special_tokens), unit == "line")
    counts = PieceCounts(cutting, memory_limit)
    return counts.add(
        sources, text_column=text_column, errors=errors, threads=threads, progress=progress
    )


def checked_specials(special_tokens: Collection[str]) -> tuple[str, ...]:
    """Special tokens as a tuple; raises `SpecialTokenError` for empty ones and twins."""
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens must be a collection of str, not one str")
    specials = tuple(special_tokens)
    for token in specials:
        if not isinstance(token, str) or not token:
            raise SpecialTokenError(f"a special token must be a non-empty str, not {token!r}")
        check_text(token)
        if specials.count(token) > 1:
            raise SpecialTokenError(f"the special token {token!r} is given twice")
    return specials


class _PythonCounter:
    """Counts the pieces of a pattern that has no native scanner."""

    def __init__(self, cutting: Cutting) -> None:
        self._split = pipeline.splitter(cutting.splits)
        longest_first = sorted(cutting.special_tokens, key=len, reverse=True)
        self._specials = (
            re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        )
        self._unit = re.compile(r"[^\n]*\n|[^\n]+") if cutting.by_line else re.compile(r"(?s).+")

    def add(self, documents: list[Any], counter: _core.PieceCounter) -> None:
        """Adds the pieces of some documents to the native counter."""
        counts: dict[str, int] = {}
        for document in documents:
            text = document if isinstance(document, str) else _decoded(document)
            for part in self._specials.split(text) if self._specials else [text]:
                for unit in self._unit.findall(part):
                    for piece, _, _ in self._split(unit):
                        counts[piece] = counts.get(piece, 0) + 1
        pieces = list(map(pipeline.to_bytes, counts))
        ends: npt.NDArray[np.int64] = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
        counter.add_pieces(b"".join(pieces), ends, np.array(list(counts.values()), np.uint64))


def _decoded(document: bytes | memoryview) -> str:
    """Bytes that are no UTF-8 become lone surrogates, which no class of a pattern holds."""
    return bytes(document).decode("utf-8", "surrogateescape")


def _blocks(path: Path) -> tuple[bytes, bytes, bytes, bytes]:
    """The four blocks of a file of counts; no more is unpacked than a block says it holds."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror}") from None
    if data[:8] != _MAGIC:
        raise FormatError(f"{path}: is no file of piece counts; PieceCounts.save writes them")
    version = int.from_bytes(data[8:12], "little")
    if version != _VERSION:
        raise FormatError(f"{path}: has version {version}; this release reads version {_VERSION}")
    at = 12
    blocks = []
    for _ in range(4):
        size, packed = struct.unpack_from("<QQ", data, at) if at + 16 <= len(data) else (0, 0)
        unpacker = zlib.decompressobj()
        try:
            block = unpacker.decompress(data[at + 16 : at + 16 + packed], size + 1)
        except zlib.error as error:
            raise FormatError(f"{path}: is damaged at offset {at}: {error}") from None
        whole = unpacker.eof and not unpacker.unused_data and at + 16 + packed <= len(data)
        if len(block) != size or not whole:
            raise FormatError(f"{path}: is damaged at offset {at}: not {size} bytes")
        blocks.append(block)
        at += 16 + packed
    if at != len(data):
        raise FormatError(f"{path}: goes on at offset {at}, where it should end")
    return blocks[0], blocks[1], blocks[2], blocks[3]
