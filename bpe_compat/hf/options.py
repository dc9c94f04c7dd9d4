"""A call's arguments as transformers hands them on, and the inputs of a call."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils.generic import PaddingStrategy

__all__ = ["Item", "Options", "items_of"]


@dataclass(frozen=True, slots=True)
class Options:
    """Named as in transformers."""

    add_special_tokens: bool = True
    padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD
    truncation_strategy: TruncationStrategy = TruncationStrategy.DO_NOT_TRUNCATE
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: str | None = None
    return_tensors: Any = None
    return_token_type_ids: bool = False
    return_attention_mask: bool = False
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    split_special_tokens: bool = False

    @classmethod
    def of(cls, arguments: Mapping[str, Any], defaults: Mapping[str, Any]) -> "Options":
        """The options among some arguments; what is None or missing has its default."""
        given = {k: v for k, v in arguments.items() if k in _NAMES and v is not None}
        return cls(**{**defaults, **given})


_NAMES = {field.name for field in fields(Options)}


class Item(NamedTuple):
    """One input: a text or its words, and perhaps a second one."""

    first: Any
    second: Any = None


def items_of(text: Any, text_pair: Any, *, words: bool) -> tuple[list[Item], bool]:
    """The inputs of a call, and whether it was a list of inputs."""
    _check_text(text)
    is_list = isinstance(text, list | tuple)
    if not is_list or (words and not (text and isinstance(text[0], list | tuple))):
        return [_single(text, text_pair or None, words=words)], False
    if text_pair is None:
        return [item_of(one, words=words) for one in text], True
    _check_text(text_pair)
    if isinstance(text_pair, str):
        raise TypeError(
            "when tokenizing batches of text, `text_pair` must be a list or tuple with the same"
            " length as `text`."
        )
    if len(text) != len(text_pair):
        raise ValueError(
            f"batch length of `text`: {len(text)} does not match batch length of `text_pair`:"
            f" {len(text_pair)}."
        )
    return [Item(*pair) for pair in zip(text, text_pair, strict=True)], True


def _single(text: Any, text_pair: Any, *, words: bool) -> Item:
    """The input of a call that has one."""
    kind, name = (list | tuple, "a list of words") if words else (str, "a text")
    for one in (text, text_pair):
        if one is not None and not isinstance(one, kind):
            raise TypeError(f"an input must be {name}, not {one!r}")
    return Item(text, text_pair)


def item_of(value: Any, *, words: bool) -> Item:
    """One of a list of inputs: a text, words, or a pair of those."""
    if isinstance(value, str) and not words:
        return Item(value)
    is_list = isinstance(value, list | tuple)
    if is_list and words and all(isinstance(word, str) for word in value):
        return Item(value)
    half = list | tuple if words else str
    if is_list and len(value) == 2 and all(isinstance(part, half) for part in value):
        return Item(*value)
    kind = "a list of words" if words else "a text"
    raise TypeError(f"an input must be {kind} or a pair of those, not {value!r}")


def _check_text(text: Any) -> None:
    inner = text
    for _ in range(3):
        if not isinstance(inner, list | tuple) or not inner:
            break
        inner = inner[0]
    if not isinstance(inner, str | list | tuple):
        raise ValueError(
            "text input must be of type `str` (single example), `list[str]` (batch or single"
            " pretokenized example) or `list[list[str]]` (batch of pretokenized examples) or"
            " `list[tuple[list[str], list[str]]]` (batch of pretokenized sequence pairs)."
        )
