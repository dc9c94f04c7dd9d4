"""From the encodings of texts to those of inputs: truncation, template, padding.

The order and the rules are those of tokenizers 0.23 (source: `post_process` in tokenizer/mod.rs,
utils/truncation.rs and utils/padding.rs).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

from ..spec import Template, TemplateItem
from .encoding import Encoding, merged
from .vocabulary import Vocabulary

__all__ = ["STRATEGIES", "Assembly", "Frame", "Padding", "Truncation", "shares"]

Strategy = Literal["longest_first", "only_first", "only_second"]
STRATEGIES: dict[str, Strategy] = {strategy: strategy for strategy in get_args(Strategy)}
"""By their names in transformers."""

_PLAIN = Template(
    single=(TemplateItem("A"),), pair=(TemplateItem("A"), TemplateItem("B", type_id=1))
)


@dataclass(frozen=True, slots=True)
class Truncation:
    """How many ids an input may have, which text gives way, and what overflows."""

    max_length: int
    strategy: Strategy = "longest_first"
    stride: int = 0
    left: bool = False

    def __post_init__(self) -> None:
        _check_counts(max_length=self.max_length, stride=self.stride)

    def lengths(self, first: int, second: int | None, added: int) -> tuple[int, int]:
        """How much stays of two lengths beside `added` special tokens.

        Special tokens that alone are longer than `max_length` turn truncation off, as they do in
        tokenizers.
        """
        room = self.max_length - added
        whole = first + (second or 0)
        if room < 0 or whole <= room:
            return first, second or 0
        kept = self._kept(first, second, room)
        for given, length in zip((first, second or 0), kept, strict=True):
            if 0 < length < given and self.stride >= length:
                self.refuse_stride(length)
        return kept

    def _kept(self, first: int, second: int | None, room: int) -> tuple[int, int]:
        if room == 0:
            return 0, 0
        if self.strategy == "longest_first":
            return (room, 0) if second is None else shares(first, second, room)
        if self.strategy == "only_second" and second is None:
            raise ValueError("truncation is 'only_second', but there is no second text")
        given = second if self.strategy == "only_second" and second is not None else first
        surplus = first + (second or 0) - room
        if given <= surplus:
            raise ValueError(
                f"truncation {self.strategy!r} cannot reach {self.max_length} ids: that text has "
                f"{given}, of which {surplus} would have to go"
            )
        kept = given - surplus
        return (first, kept) if self.strategy == "only_second" else (kept, second or 0)

    def refuse_stride(self, length: int) -> NoReturn:
        """Raises the error for a stride that texts of this length could not overlap by."""
        raise ValueError(
            f"stride is {self.stride}, but must be smaller than the {length} ids that are left of "
            "max_length"
        )


def shares(first: int, second: int, room: int) -> tuple[int, int]:
    """How much of two lengths fits into `room`: the shorter one whole if it needs at most half."""
    shorter, longer = sorted((first, second))
    longer = min(longer, max(shorter, room - shorter))
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (shorter, longer) if first <= second else (longer, shorter)


@dataclass(frozen=True, slots=True)
class Padding:
    """What fills inputs up to a length, or to the longest if that is None."""

    id: int
    token: str
    type_id: int = 0
    length: int | None = None
    multiple: int | None = None
    left: bool = False

    def __post_init__(self) -> None:
        _check_counts(max_length=self.length or 0, pad_to_multiple_of=self.multiple or 0)

    def target(self, lengths: Sequence[int]) -> int:
        """The length that inputs of these lengths are filled up to."""
        target = max(lengths, default=0) if self.length is None else self.length
        return -(-target // self.multiple) * self.multiple if self.multiple else target

    def pad(self, encodings: Sequence[Encoding]) -> None:
        """Fills encodings."""
        target = self.target([len(encoding) for encoding in encodings])
        for encoding in encodings:
            encoding.pad(target, self.id, self.token, self.type_id, left=self.left)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 0:
            raise ValueError(f"{name} must not be negative, but is {count}")


@dataclass(frozen=True, slots=True)
class Frame:
    """Special tokens in front of a text and behind it, and the type of the text's ids."""

    before: tuple[TemplateItem, ...]
    type_id: int
    after: tuple[TemplateItem, ...]

    @property
    def front(self) -> list[int]:
        """The ids in front of the text."""
        return _values(self.before)

    @property
    def back(self) -> list[int]:
        """The ids behind the text."""
        return _values(self.after)

    def types(self, size: int) -> list[int]:
        """The types of an input with a text of `size` ids."""
        front, back = ([item.type_id for item in part] for part in (self.before, self.after))
        return [*front, *[self.type_id] * size, *back]

    def mask(self, size: int) -> list[int]:
        """1 for each id of such an input that is put around."""
        return [1] * len(self.before) + [0] * size + [1] * len(self.after)


def _values(items: Iterable[TemplateItem]) -> list[int]:
    """The ids among the places of a template."""
    return [item.value for item in items if isinstance(item.value, int)]


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a tokenizer puts around texts, and how it trims offsets.

    `trim` takes white space off the offsets of ids; `keep_first` leaves alone a single space at the
    beginning of a text, which the tokenizer may have put there. What overflows has the number of
    its text for a type, or that of the template if `typed_overflow`, as RoBERTa's has. `spelled`
    has the strings of the template's ids.
    """

    template: Template
    trim: bool
    keep_first: bool
    typed_overflow: bool
    spelled: Mapping[int, str]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Assembly":
        """What a vocabulary's spec says."""
        template, metadata = vocabulary.spec.template or _PLAIN, vocabulary.spec.metadata
        ids = _values((*template.single, *template.pair))
        return cls(
            template,
            trim=bool(metadata.get("trim_offsets", False)),
            keep_first=bool(metadata.get("trim_prefix_space", False)),
            typed_overflow=bool(metadata.get("typed_overflow", False)),
            spelled=dict(zip(ids, vocabulary.spelled(ids), strict=True)),
        )

    def items(self, *, pair: bool, specials: bool) -> tuple[TemplateItem, ...]:
        """The places of a single input or a pair, with or without special tokens."""
        items = self.template.pair if pair else self.template.single
        return items if specials else tuple(item for item in items if isinstance(item.value, str))

    def added(self, *, pair: bool) -> int:
        """How many special tokens are put around."""
        return sum(isinstance(item.value, int) for item in self.items(pair=pair, specials=True))

    def frame(self, *, specials: bool) -> "Frame | None":
        """What is put around a single text; None if it does not stand there exactly once."""
        items = self.items(pair=False, specials=specials)
        at = [place for place, item in enumerate(items) if isinstance(item.value, str)]
        if len(at) != 1 or items[at[0]].value != "A":
            return None
        return Frame(items[: at[0]], items[at[0]].type_id, items[at[0] + 1 :])

    def assemble(
        self,
        first: Encoding,
        second: Encoding | None,
        truncation: Truncation | None,
        *,
        specials: bool,
    ) -> Encoding:
        """The encoding of an input."""
        pair = second is not None
        if truncation:
            added = self.added(pair=pair) if specials else 0
            lengths = truncation.lengths(len(first), None if second is None else len(second), added)
            for encoding, length in zip((first, second), lengths, strict=True):
                if encoding is not None:
                    encoding.truncate(length, truncation.stride, left=truncation.left)
        if self.trim:
            self._trim(first)
            if second is not None:
                self._trim(second)
        parts: list[Encoding] = []
        for item in self.items(pair=pair, specials=specials):
            if isinstance(item.value, int):
                parts.append(
                    Encoding.of_tokens([item.value], [self.spelled[item.value]], item.type_id)
                )
                continue
            text = first if item.value == "A" else second
            if text is not None:
                number = "AB".index(item.value)
                overflow = item.type_id if self.typed_overflow and specials else number
                text.set_sequence(number, item.type_id, overflow)
                parts.append(text)
        return merged(parts)

    def _trim(self, text: Encoding) -> None:
        for encoding in (text, *text.overflowing):
            encoding.offsets = [
                self._trimmed(token, start, end, first=place == 0 or start == 0)
                for place, (token, (start, end)) in enumerate(
                    zip(encoding.tokens, encoding.offsets, strict=True)
                )
            ]

    def _trimmed(self, token: str, start: int, end: int, *, first: bool) -> tuple[int, int]:
        """Source: `process_offsets` in pre_tokenizers/byte_level.rs."""
        leading = len(token) - len(token.lstrip(_SPACES))
        trailing = len(token) - len(token.rstrip(_SPACES))
        if leading:
            if first and self.keep_first and leading == 1:
                leading = 0
            start = min(start + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, start)
        return start, end


# What Rust takes for white space, and the character that GPT-2 spells a space with.
_SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000\u0120"
)
