"""Training: checks the arguments, feeds the native counter and trainer, builds the tokenizer."""

import operator
import re
import sys
import warnings
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core, pipeline
from .bytelevel import BYTE_ORDER
from .errors import FormatError, SpecialTokenError
from .patterns import resolve, scanner_of
from .progress import Progress
from .sources import batches, total_bytes
from .spec import AddedToken, Split, TokenizerSpec, TokenKind, check_text
from .texts import all_valid, valid
from .threads import thread_count
from .tokenizer import Tokenizer

__all__ = ["train"]

TieBreak = Literal["bytes", "ids", "first"]
SpecialIds = Literal["first", "after_bytes", "last"]
_BYTE_ORDERS = {"raw": bytes(range(256)), "gpt2": BYTE_ORDER}


def train(
    sources: Any,
    vocab_size: int,
    *,
    pattern: str | None = "gpt2",
    special_tokens: Collection[str] = ("<|endoftext|>",),
    tie_break: TieBreak = "bytes",
    byte_order: Literal["raw", "gpt2"] = "raw",
    special_ids: SpecialIds = "last",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    unit: Literal["document", "line"] = "document",
    text_column: str = "text",
    threads: int | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """A byte-level tokenizer of `vocab_size` ids (bytes and special tokens included).

    `sources`: a path; a list of paths; an iterable of texts (`str`, or `bytes` of UTF-8) or of rows
    with `text_column`, such as a `datasets.Dataset`; or a mapping of pieces to counts. `pattern` is
    a name of `patterns.PATTERNS`, a regex, or None for no split. Special tokens are cut out of the
    text and take part in no merge. `unit="line"` splits after each newline first.

    Of pairs with equal counts, `tie_break="bytes"` merges the one with the greatest bytes (left,
    then right; the rule of Stanford's CS336), `"ids"` the one with the lowest ids (Hugging Face
    with `byte_order="gpt2"` and `special_ids="first"`; rustbpe with the defaults), `"first"` the
    one that occurs first (minbpe). A pair must occur `min_frequency` times; `max_token_length`
    counts bytes. The result does not depend on `threads`. `progress` shows bars on stderr; None
    means on a terminal only.

    Raises `ValueError` for arguments that contradict each other, `FormatError` for bad sources.
    Warns if the pairs run out before the vocabulary is full.

    >>> tok = train(["aaabdaaabac"], 259, special_tokens=(), tie_break="ids")
    >>> [tok.spec.tokens[id] for id in tok.encode("aaabdaaabac")]
    [b'aaab', b'd', b'aaab', b'a', b'c']
    """
    specials = _checked_specials(special_tokens)
    vocab_size = _checked_number("vocab_size", vocab_size)
    min_frequency = _checked_number("min_frequency", min_frequency)
    if max_token_length is not None:
        max_token_length = _checked_number("max_token_length", max_token_length)
    _check_choices(tie_break, byte_order, special_ids, unit)
    if vocab_size < 256 + len(specials):
        raise ValueError(
            f"vocab_size is {vocab_size} but must be at least {256 + len(specials)}: 256 bytes and "
            f"{len(specials)} special tokens"
        )
    splits = resolve(pattern)
    counter = _count(sources, splits, specials, unit, text_column, threads, progress)
    wanted = vocab_size - 256 - len(specials)
    with Progress(progress, "merging", wanted, "merge") as bar:
        pairs = _core.train(
            counter,
            tie_break,
            _BYTE_ORDERS[byte_order],
            wanted,
            min_frequency,
            sys.maxsize if max_token_length is None else max_token_length,
            bar.report,
        )
        bar.finish(len(pairs))
    if len(pairs) < wanted:
        warnings.warn(
            f"the text has only {len(pairs)} pairs to merge, not {wanted}: the vocabulary has "
            f"{256 + len(specials) + len(pairs)} ids instead of {vocab_size}",
            stacklevel=2,
        )
    return Tokenizer(_spec(pairs, splits, specials, byte_order, special_ids))


def _checked_specials(special_tokens: Collection[str]) -> list[str]:
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens must be a collection of str, not one str")
    specials = list(special_tokens)
    for token in specials:
        if not isinstance(token, str) or not token:
            raise SpecialTokenError(f"a special token must be a non-empty str, not {token!r}")
        check_text(token)
        if specials.count(token) > 1:
            raise SpecialTokenError(f"the special token {token!r} is given twice")
    return specials


def _checked_number(name: str, value: Any) -> int:
    """An integer from 1 to what fits in an id or in memory."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {value!r}") from None
    if not 1 <= number < 1 << 31:
        raise ValueError(f"{name} must be at least 1 and below 2^31, not {number}")
    return number


def _check_choices(tie_break: str, byte_order: str, special_ids: str, unit: str) -> None:
    for name, value, known in (
        ("tie_break", tie_break, ("bytes", "ids", "first")),
        ("byte_order", byte_order, tuple(_BYTE_ORDERS)),
        ("special_ids", special_ids, ("first", "after_bytes", "last")),
        ("unit", unit, ("document", "line")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _count(
    sources: Any,
    splits: tuple[Split, ...],
    specials: list[str],
    unit: str,
    text_column: str,
    threads: int | None,
    progress: bool | None,
) -> _core.PieceCounter:
    scanner = scanner_of(splits)
    encoded = [token.encode() for token in specials]
    counter = _core.PieceCounter(scanner or "none", encoded, unit == "line")
    if isinstance(sources, Mapping):
        for piece, count in sources.items():
            _add_piece(counter, piece, count)
        return counter
    used = thread_count(threads)
    in_python = None if scanner else PythonCounter(splits, specials, by_line=unit == "line")
    with Progress(progress, "counting", total_bytes(sources), "B") as bar:
        for batch in batches(sources, text_column):
            documents = all_valid(batch)
            if in_python:
                in_python.add(documents, counter)
            else:
                counter.add(documents, used, bar.report)
            bar.finish(sum(map(len, documents)))
    return counter


def _add_piece(counter: _core.PieceCounter, piece: Any, count: Any) -> None:
    """One item of a mapping of pieces to counts; NumPy's integers are integers, too."""
    is_count = hasattr(count, "__index__") and 0 <= count < 1 << 64
    if not isinstance(piece, str | bytes) or not is_count:
        raise FormatError(
            f"a piece must be str or bytes and its count an int, not {piece!r}: {count!r:.100} "
            "(of a dictionary of datasets pass one)"
        )
    if not piece or not count:
        return
    try:
        counter.add_piece(valid(piece).encode() if isinstance(piece, str) else piece, int(count))
    except OverflowError as error:
        raise FormatError(f"{piece!r}: {count}: {error}") from None


class PythonCounter:
    """Counts the pieces of a pattern that has no native scanner."""

    def __init__(self, splits: tuple[Split, ...], specials: list[str], *, by_line: bool) -> None:
        self._split = pipeline.splitter(splits)
        longest_first = sorted(specials, key=len, reverse=True)
        self._specials = re.compile("|".join(map(re.escape, longest_first))) if specials else None
        self._unit = re.compile(r"[^\n]*\n|[^\n]+") if by_line else re.compile(r"(?s).+")

    def add(self, documents: list[Any], counter: _core.PieceCounter) -> None:
        """Adds the pieces of some documents to the native counter."""
        counts: dict[str, int] = {}
        for document in documents:
            text = document if isinstance(document, str) else bytes(document).decode()
            for part in self._specials.split(text) if self._specials else [text]:
                for unit in self._unit.findall(part):
                    for piece, _, _ in self._split(unit):
                        counts[piece] = counts.get(piece, 0) + 1
        for piece, count in counts.items():
            counter.add_piece(piece.encode(), count)


def _spec(
    pairs: npt.NDArray[np.uint32],
    splits: tuple[Split, ...],
    specials: list[str],
    byte_order: str,
    special_ids: SpecialIds,
) -> TokenizerSpec:
    """Gives ids to bytes, merges and special tokens."""
    count = len(specials)
    first_byte = count if special_ids == "first" else 0
    first_merge = first_byte + 256 + (count if special_ids == "after_bytes" else 0)
    first_special = {"first": 0, "after_bytes": 256, "last": first_merge + len(pairs)}[special_ids]
    ids = np.where(pairs < 256, pairs + first_byte, pairs - 256 + first_merge)
    merges = tuple(map(tuple, ids.tolist()))
    tokens = [b""] * (256 + count + len(pairs))
    kinds = [TokenKind.NORMAL] * len(tokens)
    for place, byte in enumerate(_BYTE_ORDERS[byte_order]):
        tokens[first_byte + place] = bytes([byte])
    for place, (left, right) in enumerate(merges):
        tokens[first_merge + place] = tokens[left] + tokens[right]
    for place, content in enumerate(specials):
        tokens[first_special + place] = content.encode()
        kinds[first_special + place] = TokenKind.CONTROL
    return TokenizerSpec(
        tokens=tuple(tokens),
        kinds=tuple(kinds),
        merges=merges,
        splits=splits,
        added_tokens=tuple(AddedToken(c, first_special + i) for i, c in enumerate(specials)),
    )
