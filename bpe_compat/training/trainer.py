"""Training: checks the arguments, has pieces counted and merged, builds the tokenizer."""

import operator
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import numpy as np

from .. import _core
from ..bytelevel import BYTE_ORDER
from ..flat import collector_paused
from ..patterns import resolve
from ..progress import Progress, ProgressCallback
from ..spec import Split, TokenizerSpec
from ..threads import thread_count
from ..tokenizer import Tokenizer
from .alphabets import (
    Affixes,
    Pairs,
    SpecialIds,
    characters_of,
    continued,
    cutting_of,
    laid_out,
)
from .control import Forbidden, forbids, seed_merges
from .counting import Cutting, PieceCounts, checked_specials
from .sources import Errors

__all__ = ["train"]

TieBreak = Literal["bytes", "ids", "first"]
_BYTE_ORDERS = {"raw": bytes(range(256)), "gpt2": BYTE_ORDER}
_SPECIALS = ("<|endoftext|>",)
_NO_PAIRS: Pairs = np.empty((0, 2), np.uint32)


def train(
    sources: Any,
    vocab_size: int,
    *,
    pattern: str | Split | None = "gpt2",
    special_tokens: Collection[str] = _SPECIALS,
    tie_break: TieBreak = "bytes",
    byte_order: Literal["raw", "gpt2"] = "raw",
    special_ids: SpecialIds = "last",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    unit: Literal["document", "line"] = "document",
    text_column: str = "text",
    errors: Errors = "strict",
    seed_tokens: Collection[bytes | str] = (),
    forbid: Forbidden | None = None,
    extend: Tokenizer | None = None,
    alphabet: Literal["bytes", "characters"] = "bytes",
    end_of_word_suffix: str = "",
    end_of_word: Literal["attached", "separate"] = "attached",
    continuing_subword_prefix: str = "",
    unknown_token: str | None = None,
    memory_limit: int | None = None,
    threads: int | None = None,
    progress: bool | ProgressCallback | None = None,
) -> Tokenizer:
    """A tokenizer of `vocab_size` ids, the alphabet and special tokens included.

    `sources`: a path, a folder or a glob (text, .jsonl or .parquet, also .gz, .zst, .xz, .bz2); a
    list of paths; an iterable of texts (`str`, or `bytes` of UTF-8) or of rows with `text_column`;
    a `datasets.Dataset` or `IterableDataset`; Arrow data; a binary stream; a mapping of pieces to
    counts; or `PieceCounts`, whose pattern, special tokens and unit then hold. `pattern` is a name
    of `patterns.PATTERNS`, a regex, a `Split`, or None for no split. Special tokens are cut out of
    the text and take part in no merge. `unit="line"` splits after each newline first. `errors` says
    what becomes of bytes that are no UTF-8: "strict" names the first, "replace" makes each
    ill-formed sequence U+FFFD, "bytes" keeps each byte as a character of no class.

    Of pairs with equal counts, `tie_break="bytes"` merges the one with the greatest bytes (left,
    then right; the rule of Stanford's CS336), `"ids"` the one with the lowest ids (Hugging Face
    with `byte_order="gpt2"` and `special_ids="first"`; rustbpe with the defaults), `"first"` the
    one that occurs first (minbpe). A pair must occur `min_frequency` times; `max_token_length`
    counts bytes.

    `seed_tokens` get ids before all others, with the tokens that lead to each from left to right.
    `forbid` names tokens never to make: a collection of them, or a regex that matches them whole.
    `extend` goes on from a tokenizer: its ids, merges, pattern and special tokens stay.

    `alphabet="characters"` starts from the characters of the text instead of bytes, in the order of
    their code points; others become `unknown_token`, if there is one. Then the last character of a
    piece may carry `end_of_word_suffix`, or be followed by it as a symbol of its own
    (`end_of_word="separate"`), and all but the first `continuing_subword_prefix`.

    The result depends neither on `threads` nor on how the text is cut into blocks. `memory_limit`
    is that of `count`. `progress` shows bars on stderr, None on a terminal only; or it is called
    and told the stage, how much is done and how much there is (None: not known).

    Raises `ValueError` for arguments that contradict each other, `FormatError` for bad sources.
    Warns if the pairs run out before the vocabulary is full.

    >>> tok = train(["aaabdaaabac"], 259, special_tokens=(), tie_break="ids")
    >>> [tok.spec.tokens[id] for id in tok.encode("aaabdaaabac")]
    [b'aaab', b'd', b'aaab', b'a', b'c']
    """
    specials = checked_specials(special_tokens)
    vocab_size = _checked_number("vocab_size", vocab_size)
    min_frequency = _checked_number("min_frequency", min_frequency)
    if max_token_length is not None:
        max_token_length = _checked_number("max_token_length", max_token_length)
    affixes = Affixes(end_of_word_suffix, end_of_word, continuing_subword_prefix)
    _check_choices(tie_break, byte_order, special_ids, unit, alphabet, end_of_word)
    _check_together(alphabet, affixes, unknown_token, extend, seed_tokens, specials)
    if extend is None:
        cutting = Cutting(resolve(pattern), specials, unit == "line")
    else:
        cutting = cutting_of(extend.spec, by_line=unit == "line")
    if extend is None and alphabet == "bytes":
        _check_size(vocab_size, 256, specials)
    if isinstance(sources, PieceCounts):
        counts = sources
        _check_counts(counts, cutting, free=extend is None)
    else:
        counts = PieceCounts(cutting, memory_limit).add(
            sources, text_column=text_column, errors=errors, threads=threads, progress=progress
        )
    options = {
        "tie_break": tie_break,
        "min_frequency": min_frequency,
        "max_token_length": sys.maxsize if max_token_length is None else max_token_length,
        "forbids": forbids(forbid),
        "threads": thread_count(threads),
    }
    merging = _Merging(counts, counts is not sources, vocab_size, special_ids, options, progress)
    with collector_paused():
        if extend is not None:
            return Tokenizer(merging.from_tokenizer(extend))
        if alphabet == "characters":
            return Tokenizer(merging.from_characters(affixes, unknown_token))
        return Tokenizer(merging.from_bytes(_BYTE_ORDERS[byte_order], seed_tokens))


@dataclass(frozen=True)
class _Merging:
    """Training from counts, by what it starts from."""

    counts: PieceCounts
    consume: bool  # nobody needs the counts afterwards
    vocab_size: int
    special_ids: SpecialIds
    options: dict[str, Any]
    progress: bool | ProgressCallback | None

    @property
    def specials(self) -> tuple[str, ...]:
        return self.counts.cutting.special_tokens

    def from_bytes(self, order: bytes, seeds: Collection[bytes | str]) -> TokenizerSpec:
        symbols = [bytes([byte]) for byte in order]
        first = seed_merges(seeds, symbols)
        _check_size(self.vocab_size, 256, self.specials, len(first))

        native = partial(_core.train, self.counts.core, order)
        taken = 256 + len(self.specials)
        pairs = self._merge(native, taken, first=first, may_clash=bool(first))
        splits = self.counts.cutting.splits
        return laid_out(symbols, pairs, self.specials, self.special_ids, splits=splits)

    def from_characters(self, affixes: Affixes, unknown: str | None) -> TokenizerSpec:
        symbols = characters_of((piece for piece, _ in self.counts.items()), affixes)
        specials = self.specials
        if unknown is not None and unknown not in specials:
            specials = (unknown, *specials)
        _check_size(self.vocab_size, len(symbols), specials)
        common = {"splits": self.counts.cutting.splits, **affixes.fields}
        start = Tokenizer(laid_out(symbols, _NO_PAIRS, (), "last", **common)).engine.core

        native = partial(_core.train_from, self.counts.core, start)
        taken = len(symbols) + len(specials)
        pairs = self._merge(native, taken, may_clash=bool(affixes.prefix or affixes.suffix))
        return laid_out(symbols, pairs, specials, self.special_ids, unknown, **common)

    def from_tokenizer(self, old: Tokenizer) -> TokenizerSpec:
        taken = old.spec.vocab_size
        if self.vocab_size < taken:
            raise ValueError(f"vocab_size is {self.vocab_size}, but there are {taken} ids already")
        native = partial(_core.train_from, self.counts.core, old.engine.core)
        return continued(old.spec, self._merge(native, taken, may_clash=True))

    def _merge(
        self,
        native: Callable[[_core.TrainOptions, bool, Any], Pairs],
        taken: int,
        *,
        first: Collection[tuple[int, int]] = (),
        may_clash: bool,
    ) -> Pairs:
        """Calls the native trainer for all ids that are not taken."""
        wanted = self.vocab_size - taken
        with Progress(self.progress, "merging", wanted, "merge") as bar:
            options = _core.TrainOptions(
                merges=wanted, first=list(first), may_clash=may_clash, **self.options
            )
            pairs = native(options, self.consume, bar.report)
            bar.finish(len(pairs))
        if len(pairs) < wanted:
            warnings.warn(
                f"the text has only {len(pairs)} pairs to merge, not {wanted}: the vocabulary has "
                f"{taken + len(pairs)} ids instead of {self.vocab_size}",
                stacklevel=4,
            )
        return pairs


def _check_size(vocab_size: int, symbols: int, specials: Collection[str], merges: int = 0) -> None:
    least = symbols + len(specials) + merges
    if vocab_size < least:
        what = "bytes" if symbols == 256 else "characters"
        seeds = f", {merges} merges of seed tokens" if merges else ""
        raise ValueError(
            f"vocab_size is {vocab_size} but must be at least {least}: {symbols} {what} and "
            f"{len(specials)} special tokens{seeds}"
        )


def _check_counts(counts: PieceCounts, cutting: Cutting, *, free: bool) -> None:
    """Counts bring pattern, special tokens and unit along; arguments may only repeat them."""
    unsaid = Cutting(resolve("gpt2"), _SPECIALS, by_line=False)
    for field in fields(Cutting):
        given, counted = getattr(cutting, field.name), getattr(counts.cutting, field.name)
        if given != counted and not (free and given == getattr(unsaid, field.name)):
            raise ValueError(
                f"the counts were made with {field.name} {counted!r}, not {given!r}: count again"
            )


def _check_together(
    alphabet: str,
    affixes: Affixes,
    unknown: str | None,
    extend: Tokenizer | None,
    seeds: Collection[bytes | str],
    specials: tuple[str, ...],
) -> None:
    if alphabet == "bytes" and (affixes.suffix or affixes.prefix or unknown is not None):
        raise ValueError(
            "end_of_word_suffix, continuing_subword_prefix and unknown_token go with "
            "alphabet='characters': there is a token for every byte"
        )
    if alphabet == "characters" and seeds:
        raise ValueError("seed_tokens go with alphabet='bytes'")
    if affixes.where == "separate" and not affixes.suffix:
        raise ValueError("end_of_word='separate' needs an end_of_word_suffix")
    if extend is None:
        return
    if not isinstance(extend, Tokenizer):
        raise TypeError(f"extend must be a Tokenizer, not {type(extend).__name__}")
    if alphabet == "characters" or seeds or specials not in (_SPECIALS, ()):
        raise ValueError(
            "extend keeps the alphabet and the special tokens of the tokenizer; alphabet, "
            "seed_tokens and special_tokens cannot be given with it"
        )


def _checked_number(name: str, value: Any) -> int:
    """An integer from 1 to what fits in an id or in memory."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {value!r}") from None
    if not 1 <= number < 1 << 31:
        raise ValueError(f"{name} must be at least 1 and below 2^31, not {number}")
    return number


def _check_choices(
    tie_break: str, byte_order: str, special_ids: str, unit: str, alphabet: str, end_of_word: str
) -> None:
    for name, value, known in (
        ("tie_break", tie_break, ("bytes", "ids", "first")),
        ("byte_order", byte_order, tuple(_BYTE_ORDERS)),
        ("special_ids", special_ids, ("first", "after_bytes", "last")),
        ("unit", unit, ("document", "line")),
        ("alphabet", alphabet, ("bytes", "characters")),
        ("end_of_word", end_of_word, ("attached", "separate")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
