"""`TokenizerSpec`: the one model of a tokenizer that every reader, writer and encoder shares."""

import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from .errors import FormatError
from .flat import Vocabulary
from .kinds import NUMBERS, TokenKind, kind_numbers, kinds_of

__all__ = [
    "AddedToken",
    "Behavior",
    "DecoderStep",
    "Normalizer",
    "Split",
    "Template",
    "TemplateItem",
    "TokenKind",
    "TokenizerSpec",
    "check_text",
]

Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A string that is cut out of the text before the split and becomes one id.

    `lstrip` and `rstrip` take the white space before and after it along; `single_word` refuses a
    match beside a word character; `normalized` matches in normalized text; `special` ones may be
    treated as text per call and are skipped by `skip_special_tokens`.
    """

    content: str
    id: int
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False
    special: bool = True


@dataclass(frozen=True, slots=True)
class Split:
    """One step that cuts text into pieces by a regular expression.

    The regex is in the dialect of tiktoken's engine (fancy-regex; see `dialects/`). `behavior`
    says what becomes of the matches, as in tokenizers' `Split`; `invert` swaps matches and the text
    between them. `mapped` says that the regex sees GPT-2's characters of the bytes instead of the
    text, as steps after `ByteLevel` in a tokenizer.json do.
    """

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    mapped: bool = False


@dataclass(frozen=True, slots=True)
class Normalizer:
    """One step that rewrites text before the split, named as in tokenizers.

    `replace` uses `pattern` (a regex) and `content`; `prepend` uses `content`; `strip` uses `left`
    and `right`; `charsmap` uses `content`, SentencePiece's compiled rules as in `charsmap.py`.
    """

    kind: Literal[
        "nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip", "strip_accents", "prepend", "replace",
        "charsmap",
    ]  # fmt: skip
    pattern: str = ""
    content: str = ""
    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class TemplateItem:
    """A place in a template: the first text "A", the second text "B", or an id."""

    value: Literal["A", "B"] | int
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """What a Hugging Face tokenizer puts around one text and around a pair."""

    single: tuple[TemplateItem, ...]
    pair: tuple[TemplateItem, ...]


@dataclass(frozen=True, slots=True)
class DecoderStep:
    """One step from tokens to text, named as in tokenizers; none are needed for byte-level BPE.

    `replace` uses `pattern` (a string) and `content`; `strip` removes up to `start` and `stop`
    copies of `content` from each token's ends; `suffix` turns the word suffix `content` into a
    space; `join` puts `content` between tokens; `metaspace` turns `content` into a space and drops
    the first one if `start` is 1.
    """

    kind: Literal[
        "byte_level",
        "byte_fallback",
        "fuse",
        "join",
        "replace",
        "strip",
        "suffix",
        "metaspace",
    ]
    pattern: str = ""
    content: str = ""
    start: int = 0
    stop: int = 0


class _Packed:
    """What a spec holds beside its fields: its tokens, kinds and merges in the native core."""

    __slots__ = ("vocabulary",)
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True, weakref_slot=True)
class TokenizerSpec(_Packed):
    """Everything that decides a tokenizer's ids and decoded bytes, and nothing else.

    `tokens[id]` are the bytes of an id, `b""` if nobody owns it. `merges` holds pairs of ids
    by priority; under `merge_rule="ranks"` (tiktoken) it is empty, and any pair merges whose
    concatenation is a token, the lowest id first. `suffix` is part of a piece's last character or,
    if `suffix_apart`, a symbol of its own behind it. `metadata` is carried along and compared by
    nobody.

    Raises `FormatError` if the parts contradict each other.

    >>> spec = TokenizerSpec(tokens=(b"a", b"b", b"ab"), merges=((0, 1),))
    >>> spec.vocab_size, spec.kinds[2].value
    (3, 'normal')
    """

    tokens: tuple[bytes, ...]
    kinds: tuple[TokenKind, ...] = ()
    merges: tuple[tuple[int, int], ...] = ()
    merge_rule: Literal["pairs", "ranks"] = "pairs"
    ignore_merges: bool = False
    splits: tuple[Split, ...] = ()
    normalizers: tuple[Normalizer, ...] = ()
    prefix_space: bool = False
    byte_level: bool = True
    byte_fallback: bool = False
    fuse_unknown: bool = False
    unknown: int | None = None
    prefix: str = ""
    suffix: str = ""
    suffix_apart: bool = False
    added_tokens: tuple[AddedToken, ...] = ()
    template: Template | None = None
    decoder: tuple[DecoderStep, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in ("splits", "normalizers", "added_tokens", "decoder"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not isinstance(self.tokens, Vocabulary):
            for name in ("tokens", "merges"):
                object.__setattr__(self, name, tuple(getattr(self, name)))
            object.__setattr__(self, "kinds", tuple(self.kinds) or self._default_kinds())
            vocabulary = _checked_vocabulary(self)
        else:
            vocabulary = self.tokens
            for name in _UNPACKED:
                object.__setattr__(self, name, None)
        object.__setattr__(self, "vocabulary", vocabulary)
        _check_values(self)
        _check_model(self)
        _check_added_tokens(self)
        _check_template(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenizerSpec):
            return NotImplemented
        if self is other:
            return True
        ours, theirs = self.vocabulary, other.vocabulary
        return (
            _compared(self) == _compared(other)
            and ours.same_tokens(theirs)
            and ours.same_merges(theirs)
        )

    def __hash__(self) -> int:
        return hash((len(self.vocabulary), self.vocabulary.kinds(), *_compared(self)))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return TokenizerSpec, tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary, **others: Any) -> "TokenizerSpec":
        """A spec of tokens, kinds and merges that become tuples when somebody asks for them."""
        return cls(cast(Any, vocabulary), **others)

    def _default_kinds(self) -> tuple[TokenKind, ...]:
        added = {token.id for token in self.added_tokens}
        return tuple(
            TokenKind.UNUSED if not token
            else TokenKind.UNKNOWN if id == self.unknown
            else TokenKind.CONTROL if id in added
            else TokenKind.NORMAL
            for id, token in enumerate(self.tokens)
        )  # fmt: skip

    @property
    def vocab_size(self) -> int:
        """The greatest id plus one: special tokens and ids that nobody owns count."""
        return len(self.vocabulary)

    @property
    def token_count(self) -> int:
        """How many ids stand for something."""
        kinds = self.vocabulary.kinds()
        return len(kinds) - kinds.count(NUMBERS[TokenKind.UNUSED])

    @property
    def base_count(self) -> int:
        """How many ids the model itself can give: all in use but those of added tokens alone."""
        added = {t.id for t in self.added_tokens if self.kinds[t.id] is TokenKind.CONTROL}
        return self.token_count - len(added)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Ids of the special tokens by their text."""
        return {token.content: token.id for token in self.added_tokens if token.special}

    def normal_mask(self) -> npt.NDArray[np.bool_]:
        """Which ids are those of tokens that the model can produce."""
        kinds = np.frombuffer(self.vocabulary.kinds(), np.uint8)
        return np.equal(kinds, NUMBERS[TokenKind.NORMAL])

    def normal_ids(self) -> dict[bytes, int]:
        """Ids of the tokens that the model can produce, by their bytes."""
        normal = map(operator.is_, self.kinds, itertools.repeat(TokenKind.NORMAL))
        return dict(itertools.compress(zip(self.tokens, itertools.count(), strict=False), normal))


class _Unpacked:
    """A field that a vocabulary in the native core is unpacked to when it is first read."""

    def __init__(self, slot: Any, unpack: Callable[[Vocabulary], tuple[Any, ...]]) -> None:
        self._slot, self._unpack = slot, unpack

    def __get__(self, spec: TokenizerSpec | None, owner: type | None = None) -> Any:
        if spec is None:
            return self
        value = self._slot.__get__(spec)
        if value is None:
            value = self._unpack(spec.vocabulary)
            self._slot.__set__(spec, value)
        return value

    def __set__(self, spec: TokenizerSpec, value: Any) -> None:
        self._slot.__set__(spec, value)


_UNPACKED: dict[str, Callable[[Vocabulary], tuple[Any, ...]]] = {
    "tokens": Vocabulary.tokens,
    "kinds": lambda vocabulary: kinds_of(vocabulary.kinds()),
    "merges": Vocabulary.merges,
}
for _name, _unpack in _UNPACKED.items():
    setattr(TokenizerSpec, _name, _Unpacked(getattr(TokenizerSpec, _name), _unpack))


_COMPARED = operator.attrgetter(
    *(
        field.name
        for field in fields(TokenizerSpec)
        if field.compare and field.name not in _UNPACKED
    )
)


def _compared(spec: TokenizerSpec) -> tuple[Any, ...]:
    """All that two equal specs share beside tokens, kinds and merges."""
    values: tuple[Any, ...] = _COMPARED(spec)
    return values


def _checked_vocabulary(spec: TokenizerSpec) -> Vocabulary:
    """The tokens, kinds and merges of a spec, packed; raises `FormatError` if they are unsound."""
    if not (set(map(type, spec.tokens)) <= {bytes} and set(map(type, spec.kinds)) <= {TokenKind}):
        for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=False)):
            if not isinstance(token, bytes) or not isinstance(kind, TokenKind):
                raise FormatError(
                    f"token {id} must be bytes and a TokenKind, not {token!r}, {kind!r}"
                )
    if len(spec.kinds) != len(spec.tokens):
        raise FormatError(f"{len(spec.tokens)} tokens but {len(spec.kinds)} kinds")
    kinds, cut = kind_numbers(spec.kinds), len(spec.prefix.encode())
    packed = Vocabulary.of(spec.tokens, kinds, spec.merges, cut)
    if packed is None:
        _check_each_token(spec)
        _check_each_merge(spec, cut)
        # Integers of another type than int.
        merges = tuple((operator.index(left), operator.index(right)) for left, right in spec.merges)
        packed = Vocabulary.of(spec.tokens, kinds, merges, cut)
    if packed is None:
        raise FormatError("tokens and merges contradict each other")
    return packed


def _check_values(spec: TokenizerSpec) -> None:
    if spec.merge_rule not in ("pairs", "ranks"):
        raise FormatError(f"merge_rule must be 'pairs' or 'ranks', not {spec.merge_rule!r}")
    for split in spec.splits:
        if split.behavior not in get_args(Behavior):
            raise FormatError(f"a split has the behavior {split.behavior!r}")
    texts = [spec.prefix, spec.suffix, *(token.content for token in spec.added_tokens)]
    texts += [text for step in spec.normalizers for text in (step.pattern, step.content)]
    texts += [text for step in spec.decoder for text in (step.pattern, step.content)]
    for text in (*texts, *(split.pattern for split in spec.splits)):
        check_text(text)


def check_text(text: str) -> None:
    """Raises `FormatError` for a str that is no text: one with half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{text!r} is no text: {error.reason}") from None


_MAY_BE_EMPTY = (TokenKind.UNUSED, TokenKind.CONTROL)


def _check_model(spec: TokenizerSpec) -> None:
    if spec.suffix_apart and (spec.byte_level or spec.suffix.encode() not in spec.normal_ids()):
        raise FormatError("suffix_apart goes with characters and a token for the suffix")
    if spec.unknown is not None and not 0 <= spec.unknown < spec.vocab_size:
        raise FormatError(f"the unknown token's id {spec.unknown} is no token")
    if spec.merge_rule == "ranks" and (
        spec.vocabulary.has_merges() or not spec.byte_level or spec.unknown is not None
    ):
        raise FormatError("merge_rule='ranks' goes with byte_level and without merges")


def _check_each_token(spec: TokenizerSpec) -> None:
    seen: dict[bytes, int] = {}
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        # An empty token that a file lists (Whisper's id 50256) is a control token.
        if kind is TokenKind.UNUSED if token else kind not in _MAY_BE_EMPTY:
            raise FormatError(f"token {id} is {token!r} but its kind is {kind.value}")
        if kind is TokenKind.NORMAL and seen.setdefault(token, id) != id:
            raise FormatError(f"ids {seen[token]} and {id} are the same token {token!r}")


def _check_each_merge(spec: TokenizerSpec, cut: int) -> None:
    tokens, known, count = spec.tokens, spec.normal_ids(), len(spec.tokens)
    for index, (left, right) in enumerate(spec.merges):
        if not (0 <= left < count and 0 <= right < count):
            raise FormatError(f"merge {index} ({left}, {right}) names an id that is no token")
        made = tokens[left] + tokens[right][cut:]
        if made not in known:
            raise FormatError(f"merge {index} makes {made!r}, which is no token")


def _check_added_tokens(spec: TokenizerSpec) -> None:
    contents = set()
    kinds, unused = spec.vocabulary.kinds(), NUMBERS[TokenKind.UNUSED]
    for token in spec.added_tokens:
        if not token.content:
            raise FormatError(f"the added token with id {token.id} is empty")
        if token.content in contents:
            raise FormatError(f"the added token {token.content!r} is listed twice")
        contents.add(token.content)
        if not 0 <= token.id < len(kinds) or kinds[token.id] == unused:
            raise FormatError(f"the added token {token.content!r} has id {token.id}: no token")


def _check_template(spec: TokenizerSpec) -> None:
    for item in (*spec.template.single, *spec.template.pair) if spec.template else ():
        if item.value in ("A", "B"):
            continue
        if not isinstance(item.value, int) or not 0 <= item.value < spec.vocab_size:
            raise FormatError(f"the template names the id {item.value!r}, which is no token")
