"""`Vocabulary`: a native tokenizer with the strings that transformers uses for its ids."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core, converters
from ..arrow import MOST_IDS
from ..bytelevel import from_characters, to_characters
from ..decoding import decode_parts
from ..offsets import Located
from ..spec import AddedToken, TokenizerSpec, TokenKind
from ..texts import valid
from ..threads import thread_count
from ..tokenizer import TokenArrays, Tokenizer
from .packing import packed, unpacked

if TYPE_CHECKING:
    import tokenizers

__all__ = ["Vocabulary", "with_own_texts", "with_written_texts"]


class Vocabulary:
    """The native tokenizer and the strings of its ids; immutable.

    Reduces to its content: `datasets` hashes it, and must see neither caches nor addresses.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.spec = tokenizer.spec
        self.added = {token.content: token for token in self.spec.added_tokens}
        self._spellings = _spellings(self.spec)
        self.ids = {token: id for id, token in enumerate(self._spellings) if token is not None}
        self.ids.update((token.content, token.id) for token in self.spec.added_tokens)
        self.special_ids = frozenset(self.spec.special_tokens.values())
        self._specials = tokenizer._specials
        self.model_size = converters.huggingface.vocab_entries(self.spec)

    def __reduce__(self) -> Any:
        return _restored, (type(self.tokenizer), self.tokenizer.name, *self._packed)

    @functools.cached_property
    def _packed(self) -> tuple[Any, ...]:
        return packed(self.spec)

    @functools.cached_property
    def backend(self) -> "tokenizers.Tokenizer":
        """The same tokenizer as one of tokenizers, which may decode added tokens otherwise."""
        return converters.huggingface.live(with_written_texts(self.spec), allow_loss=False)

    # Strings and ids

    def spelling(self, id: int) -> str:
        """The string of an id; raises `KeyError` naming one that is no token."""
        spelling = self._spellings[id] if 0 <= id < len(self._spellings) else None
        if spelling is None:
            raise KeyError(f"Invalid token for decoding: {id}")
        return spelling

    def spelled(self, ids: Iterable[int]) -> list[str]:
        """The strings of ids that the encoder has made."""
        return list(map(self._spellings.__getitem__, ids))  # type: ignore[arg-type]

    def text_of(self, tokens: Iterable[str]) -> str:
        """The text of tokens given as strings, known or not."""
        spec = self.spec
        if spec.decoder:
            return decode_parts(spec, list(tokens))
        return b"".join(map(self._bytes_of, tokens)).decode("utf-8", "replace")

    def _bytes_of(self, token: str) -> bytes:
        if token in self.added:
            return token.encode()
        id = self.ids.get(token)
        if id is not None:
            return self.spec.tokens[id]
        spelled = from_characters(token) if self.spec.byte_level else None
        return token.encode() if spelled is None else spelled

    # Encoding

    def arrays(self, texts: Sequence[str], *, as_text: bool) -> TokenArrays:
        """The ids of each text; special tokens are text if `as_text`."""
        threads = thread_count(None) if len(texts) > 1 else 1
        engine = self.tokenizer.engine
        return TokenArrays(*engine.encode_batch(texts, self._enabled(as_text), threads))

    def lists(
        self,
        arrays: TokenArrays,
        front: Sequence[int] = (),
        back: Sequence[int] = (),
        most: int = MOST_IDS,
        *,
        left: bool = False,
    ) -> list[list[int]]:
        """Such ids as lists, at most `most` of each text, between those in front and back."""
        core = self.tokenizer.engine.core
        return _core.id_lists(core, *arrays, front, back, most, left)

    def column(self, data: Any, offsets: npt.NDArray[np.int64]) -> TokenArrays:
        """The ids of texts that lie in one buffer of UTF-8, special tokens as their ids."""
        engine, threads = self.tokenizer.engine, thread_count(None)
        return TokenArrays(*engine.encode_column(data, offsets, self._enabled(False), threads))

    def located(self, text: str, *, as_text: bool) -> Located:
        """The ids of a text with the characters and the piece of each."""
        return self.tokenizer.engine.locate(valid(text), self._enabled(as_text))

    def plain(self, text: str) -> list[int]:
        """The ids of a text in which added tokens, special or not, are nothing but text."""
        return self.tokenizer.engine.encode(valid(text), bytes(len(self.spec.added_tokens)))

    def _enabled(self, as_text: bool) -> bytes:
        return self._specials.as_text if as_text else self._specials.as_ids

    # Added tokens

    def with_added(self, tokens: Iterable[AddedToken]) -> "Vocabulary":
        """With further added tokens; those that are there get new flags and keep their ids."""
        changed = dict(self.added)
        greatest = max((token.id for token in changed.values()), default=-1)
        owned = {id for id, kind in enumerate(self.spec.kinds) if kind is not TokenKind.UNUSED}
        for token in tokens:
            id = self._known_id(token.content, changed)
            if id is None:
                # Source: `AddedVocabulary::add_tokens`, tokenizers 0.23, which overwrites an id
                # behind a gap when it comes to it; here it is passed over.
                id = max(greatest + 1, self.model_size)
                while id in owned:
                    id += 1
                owned.add(id)
            greatest = max(greatest, id)
            changed[token.content] = replace(token, id=id)
        if changed == self.added:
            return self
        return Vocabulary(Tokenizer(_with_tokens(self.spec, list(changed.values()))))

    def _known_id(self, content: str, added: dict[str, AddedToken]) -> int | None:
        """The id of an added token, or of one of the vocabulary that is decoded to this text.

        "č" is not the byte 0x0D, though GPT-2 spells that byte so.
        """
        if content in added:
            return added[content].id
        id = self.ids.get(content)
        return id if id is not None and self.spec.tokens[id] == content.encode() else None


def with_own_texts(spec: TokenizerSpec) -> TokenizerSpec:
    """The spec with each added token decoded to its content.

    tokenizers decodes "Café" to the bytes that its characters stand for, since all of them do.
    """
    return _with_texts(spec, lambda content: (from_characters(content), content.encode()))


def with_written_texts(spec: TokenizerSpec) -> TokenizerSpec:
    """The spec with each added token decoded as tokenizers does, so that a file can hold it."""
    return _with_texts(spec, lambda content: (content.encode(), from_characters(content)))


def _with_texts(
    spec: TokenizerSpec, change: Callable[[str], tuple[bytes | None, bytes | None]]
) -> TokenizerSpec:
    """The spec with the old text of added tokens replaced by the new one, if there are both."""
    changed: dict[int, bytes] = {}
    for token in spec.added_tokens if spec.byte_level else ():
        old, new = change(token.content)
        if new is None or spec.kinds[token.id] is not TokenKind.CONTROL:
            continue
        if changed.get(token.id, spec.tokens[token.id]) == old != new:
            changed[token.id] = new
    if not changed:
        return spec
    return replace(spec, tokens=tuple(changed.get(id, t) for id, t in enumerate(spec.tokens)))


def _restored(kind: type[Tokenizer], name: str, *values: Any) -> Vocabulary:
    return Vocabulary(kind(unpacked(*values), name=name))


def _spellings(spec: TokenizerSpec) -> list[str | None]:
    """The string of each id: added tokens as they are, bytes in GPT-2's characters.

    A token whose spelling is also an added token's text gets its bytes in hexadecimal instead.
    """
    contents = {token.id: token.content for token in spec.added_tokens}
    taken = {token.content for token in spec.added_tokens}
    spellings: list[str | None] = []
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        if kind is TokenKind.UNUSED:
            spellings.append(None)
        elif id in contents:
            spellings.append(contents[id])
        else:
            in_bytes = spec.byte_level and kind is TokenKind.NORMAL
            spelled = to_characters(token) if in_bytes else token.decode("utf-8", "replace")
            clash = spelled in taken or kind is TokenKind.BYTE
            spellings.append(f"<0x{token.hex().upper()}>" if clash else spelled)
    return spellings


def _with_tokens(spec: TokenizerSpec, added: list[AddedToken]) -> TokenizerSpec:
    """The spec with exactly these added tokens; ids that nobody owned become theirs."""
    missing = max(0, 1 + max(token.id for token in added) - len(spec.tokens))
    tokens = [*spec.tokens, *[b""] * missing]
    kinds = [*spec.kinds, *[TokenKind.UNUSED] * missing]
    for token in added:
        if kinds[token.id] is TokenKind.UNUSED:
            tokens[token.id], kinds[token.id] = token.content.encode(), TokenKind.CONTROL
    return replace(
        spec,
        tokens=tuple(tokens),
        kinds=tuple(kinds),
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
    )
