"""Calls of the tokenizer: from texts to `BatchEncoding`, as `PreTrainedTokenizerFast` does it."""

# mypy: disable-error-code="no-untyped-call,misc,override"

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils.generic import PaddingStrategy

from .. import _core
from ..arrow import MOST_IDS
from ..offsets import Located, Offsets
from ..tokenizer import TokenArrays
from .arranging import Arranging
from .assembly import STRATEGIES, Assembly, Padding, Truncation
from .encoding import Encoding
from .options import Item, Options, item_of, items_of
from .results import LazyBatchEncoding, Rows
from .vocabulary import Vocabulary

__all__ = ["Calls"]


# The columns with an int for each id, and what fills them where the call does not say it.
_FILLERS = {"input_ids": 0, "token_type_ids": 0, "attention_mask": 0, "special_tokens_mask": 1}


class Calls(Arranging):
    """The methods through which transformers encodes."""

    # transformers 4 calls these two; transformers 5 calls the first one for everything.

    def _encode_plus(self, text: Any, text_pair: Any = None, **arguments: Any) -> Any:
        if arguments.get("sanitize_control_tokens"):
            return super()._encode_plus(text, text_pair, **arguments)
        options = self._options(arguments)
        items, batched = items_of(text, text_pair, words=options.is_split_into_words)
        return self._encoded(items, options, batched=batched)

    def _batch_encode_plus(self, batch_text_or_text_pairs: Sequence[Any], **arguments: Any) -> Any:
        options = self._options(arguments)
        words = options.is_split_into_words
        items = [item_of(one, words=words) for one in batch_text_or_text_pairs]
        return self._encoded(items, options, batched=True)

    def _options(self, arguments: dict[str, Any]) -> Options:
        names = self.model_input_names
        defaults = {
            "return_token_type_ids": "token_type_ids" in names,
            "return_attention_mask": "attention_mask" in names,
            "split_special_tokens": self.split_special_tokens,
        }
        return Options.of(arguments, defaults)

    def _encoded(self, items: list[Item], options: Options, *, batched: bool) -> Any:
        maker = _Maker(
            self._vocabulary,
            self._assembly,
            options,
            self._truncation(options),
            self._padding(options),
        )
        columns = maker.plain_columns(items)
        made: list[Encoding] | None = None
        if columns is None:
            made = maker.encodings(items)
            columns = maker.columns(made)
        longest: list[int] = max(columns["input_ids"], key=len, default=[])
        self._eventual_warn_about_too_long_sequence(longest, options.max_length, options.verbose)
        if not (batched or options.return_tensors or options.return_overflowing_tokens):
            columns = {k: v[0] if isinstance(v[0], list) else v for k, v in columns.items()}
        elif not options.return_tensors:
            columns = {k: Rows(v) if k in _FILLERS else v for k, v in columns.items()}
        return LazyBatchEncoding(
            columns,
            lambda: maker.encodings(items) if made is None else made,
            2 if items and items[0].second is not None else 1,
            options.return_tensors,
        )

    def _truncation(self, options: Options) -> Truncation | None:
        wanted = options.truncation_strategy != TruncationStrategy.DO_NOT_TRUNCATE
        if not wanted or options.max_length is None:
            return None
        truncation = Truncation(
            options.max_length,
            STRATEGIES[options.truncation_strategy.value],
            options.stride,
            left=_is_left("truncation_side", self.truncation_side),
        )
        room = options.max_length - self._assembly.added(pair=False)
        if 0 <= room < options.stride:
            truncation.refuse_stride(room)
        return truncation

    def _padding(self, options: Options) -> Padding | None:
        if options.padding_strategy == PaddingStrategy.DO_NOT_PAD:
            return None
        fixed = options.padding_strategy == PaddingStrategy.MAX_LENGTH
        return Padding(
            self.pad_token_id,
            self.pad_token,
            self.pad_token_type_id,
            options.max_length if fixed else None,
            options.pad_to_multiple_of,
            left=_is_left("padding_side", options.padding_side or self.padding_side),
        )

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        """The ids of a text in which no added token is looked for, special or not."""
        return self._vocabulary.plain(text)

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """The tokens of a text or a pair as strings."""
        encoded = self(text, pair, add_special_tokens=add_special_tokens, **kwargs)
        tokens: list[str] = encoded.tokens()
        return tokens


def _is_left(name: str, side: str) -> bool:
    if side not in ("left", "right"):
        raise ValueError(f"{name} must be 'left' or 'right', not {side!r}")
    return side == "left"


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the results of one call."""

    vocabulary: Vocabulary
    assembly: Assembly
    options: Options
    truncation: Truncation | None
    padding: Padding | None

    # Inputs with all that is known of them

    def encodings(self, items: Iterable[Item]) -> list[Encoding]:
        """The encoding of each input, followed by those of what overflows, if that is asked for."""
        made = [
            self.assembly.assemble(
                self._text(first, 0),
                None if second is None else self._text(second, 1),
                self.truncation,
                specials=self.options.add_special_tokens,
            )
            for first, second in items
        ]
        if self.padding:
            self.padding.pad(made)
        if self.options.return_overflowing_tokens:
            return [part for encoding in made for part in (encoding, *encoding.overflowing)]
        return made

    def _text(self, text: Any, type_id: int) -> Encoding:
        """The encoding of a text, or of its words, which are numbered as they come."""
        if not self.options.is_split_into_words:
            located, spelled = self._located(text)
            return Encoding.of_tokens(located.ids, spelled, type_id, located.words, located.offsets)
        ids: list[int] = []
        tokens: list[str] = []
        words: list[int] = []
        offsets: Offsets = []
        for number, word in enumerate(text):
            located, spelled = self._located(word)
            ids += located.ids
            tokens += spelled
            words += [number] * len(spelled)
            offsets += located.offsets
        return Encoding.of_tokens(ids, tokens, type_id, words, offsets)

    def _located(self, text: str) -> tuple[Located, list[str]]:
        """The ids of a text with where they come from, and as strings."""
        located = self.vocabulary.located(text, as_text=self.options.split_special_tokens)
        tokens = self.vocabulary.spelled(located.ids)
        for place, content in located.added.items():
            tokens[place] = content
        return located, tokens

    def columns(self, encodings: list[Encoding]) -> dict[str, Any]:
        """What is asked for of some encodings."""
        options = self.options
        getters: dict[str, tuple[bool, Callable[[Encoding], Any]]] = {
            "input_ids": (True, lambda e: e.ids),
            "token_type_ids": (options.return_token_type_ids, lambda e: e.type_ids),
            "attention_mask": (options.return_attention_mask, lambda e: e.attention_mask),
            "special_tokens_mask": (
                options.return_special_tokens_mask,
                lambda e: e.special_tokens_mask,
            ),
            "offset_mapping": (options.return_offsets_mapping, lambda e: e.offsets),
            "length": (options.return_length, len),
        }
        columns = {
            key: [getter(encoding) for encoding in encodings]
            for key, (wanted, getter) in getters.items()
            if wanted
        }
        if options.return_overflowing_tokens:
            columns["overflow_to_sample_mapping"] = _samples(encodings)
        return columns

    # Inputs of which only ids and masks are asked for

    def plain_columns(self, items: list[Item]) -> dict[str, Any] | None:
        """The columns of single texts; None if more is asked for than ids and masks."""
        options = self.options
        frame = self.assembly.frame(specials=options.add_special_tokens)
        if (
            frame is None
            or options.return_overflowing_tokens
            or options.return_offsets_mapping
            or any(item.second is not None for item in items)
        ):
            return None
        front, back = frame.front, frame.back
        added = len(front) + len(back)
        arrays = self._arrays(items)
        ids = self.vocabulary.lists(
            arrays,
            front,
            back,
            self._most(arrays, added),
            left=self.truncation is not None and self.truncation.left,
        )
        columns: dict[str, Any] = {"input_ids": ids}
        if options.return_token_type_ids:
            columns["token_type_ids"] = [frame.types(len(one) - added) for one in ids]
        if options.return_attention_mask:
            columns["attention_mask"] = _core.ones(ids)
        if options.return_special_tokens_mask:
            columns["special_tokens_mask"] = [frame.mask(len(one) - added) for one in ids]
        if self.padding:
            _pad(columns, self.padding)
        if options.return_length:
            columns["length"] = [len(one) for one in ids]
        return columns

    def _arrays(self, items: list[Item]) -> TokenArrays:
        as_text = self.options.split_special_tokens
        if not self.options.is_split_into_words:
            return self.vocabulary.arrays([item.first for item in items], as_text=as_text)
        words = [word for item in items for word in item.first]
        ids, offsets = self.vocabulary.arrays(words, as_text=as_text)
        ends = np.cumsum([0, *(len(item.first) for item in items)])
        return TokenArrays(ids, offsets[ends])

    def _most(self, arrays: TokenArrays, added: int) -> int:
        """How many ids of a text may stay; raises what truncation raises for the longest."""
        if self.truncation is None:
            return MOST_IDS
        longest = int(np.diff(arrays.offsets).max(initial=0))
        length, _ = self.truncation.lengths(longest, None, added)
        return length if length < longest else MOST_IDS


def _samples(encodings: list[Encoding]) -> list[int]:
    """The input that each encoding comes from, where overflows follow what they overflow."""
    samples: list[int] = []
    while len(samples) < len(encodings):
        number = samples[-1] + 1 if samples else 0
        samples += [number] * (1 + len(encodings[len(samples)].overflowing))
    return samples


def _pad(columns: dict[str, Any], padding: Padding) -> None:
    """Fills the columns of inputs in place."""
    lengths = [len(one) for one in columns["input_ids"]]
    target = padding.target(lengths)
    fillers = {**_FILLERS, "input_ids": padding.id, "token_type_ids": padding.type_id}
    for key, rows in columns.items():
        for row, length in zip(rows, lengths, strict=True):
            end = 0 if padding.left else length
            row[end:end] = [fillers[key]] * (target - length)
