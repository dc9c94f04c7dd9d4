"""Tokens spelled as strings, and merges of strings: the heart of tokenizer.json and vocab.json.

A string stands for bytes as in `bytelevel.py`, or for itself where a tokenizer starts from
characters.
"""

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..bytelevel import from_characters, to_characters
from ..spec import AddedToken, TokenizerSpec, TokenKind
from .base import id_limit
from .json_tree import Node

__all__ = [
    "Pair",
    "Spelling",
    "Vocabulary",
    "assemble",
    "check_ids",
    "is_utf8",
    "spelling_losses",
    "spellings",
]

Pair = tuple[str, str]
_FIRST, _SECOND = operator.itemgetter(0), operator.itemgetter(1)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How strings are to be read, and what can become of text without merges."""

    byte_level: bool
    byte_fallback: bool = False
    ignore_merges: bool = False
    unknown: str | None = None
    prefix: str = ""
    suffix: str = ""

    def bytes_of(self, string: str) -> bytes:
        """What a token is decoded to; tokenizers takes what is not spelled in bytes as it is."""
        spelled = from_characters(string) if self.byte_level else None
        return string.encode() if spelled is None else spelled


@dataclass(slots=True)
class Vocabulary:
    """Tokens, kinds and merges as a spec has them."""

    tokens: list[bytes]
    kinds: list[TokenKind]
    merges: tuple[tuple[int, int], ...]


def check_ids(vocab: Mapping[str, int], where: Node) -> None:
    """Refuses a map from strings to ids that is none."""
    owners: dict[int, str] = {}
    limit, ids = id_limit(len(vocab)), vocab.values()
    sound = set(map(type, ids)) == {int} and min(ids) >= 0 and max(ids) <= limit
    if sound and len(set(ids)) == len(ids):
        return
    for string, id in vocab.items():
        if not isinstance(id, int) or isinstance(id, bool) or not 0 <= id <= limit:
            raise where.error(f"the id of {string!r} is {id!r}")
        if owners.setdefault(id, string) != string:
            raise where.error(f"id {id} is used twice, by {owners[id]!r} and {string!r}")


def assemble(
    vocab: Mapping[str, int],
    pairs: Sequence[Pair],
    added: Sequence[AddedToken],
    spelling: Spelling,
    where: Node,
) -> Vocabulary:
    """Tokens, kinds and merges of a vocab, pairs that are all in it, and added tokens.

    An added token that text can become without being cut out stays a normal token.
    """
    reachable = _Reachable(pairs, spelling, vocab)
    special = {token.content for token in added}
    if spelling.unknown is not None:
        special.add(spelling.unknown)
    size = 1 + max([*vocab.values(), *(token.id for token in added)], default=-1)
    tokens, kinds = [b""] * size, [TokenKind.UNUSED] * size
    for string, id in vocab.items():
        kinds[id] = TokenKind.NORMAL
        tokens[id] = string.encode()
    if spelling.byte_level:
        for string, id in vocab.items():
            spelled = from_characters(string)
            if spelled:
                tokens[id] = spelled
            else:
                kinds[id] = TokenKind.CONTROL
    elif spelling.byte_fallback:
        for byte in range(256):
            if (place := vocab.get(f"<0x{byte:02X}>")) is not None:
                tokens[place], kinds[place] = bytes([byte]), TokenKind.BYTE
    if "" in vocab:
        kinds[vocab[""]] = TokenKind.CONTROL
    for content in special & vocab.keys():
        id = vocab[content]
        reached = spelling.ignore_merges or content in reachable
        if kinds[id] is TokenKind.NORMAL and not reached:
            unknown = content == spelling.unknown
            kinds[id] = TokenKind.UNKNOWN if unknown else TokenKind.CONTROL
    owners = {id: string for string, id in vocab.items()}
    for token in added:
        if owners.setdefault(token.id, token.content) != token.content:
            raise where.error(
                f"the added token {token.content!r} gets the id {token.id}, which is that of "
                f"{owners[token.id]!r}"
            )
        if kinds[token.id] is TokenKind.UNUSED:
            tokens[token.id], kinds[token.id] = spelling.bytes_of(token.content), TokenKind.CONTROL
    return Vocabulary(tokens, kinds, _merge_ids(vocab, pairs, kinds, where))


class _Reachable:
    """Strings that text can become: those that merges make, and single characters."""

    def __init__(self, pairs: Sequence[Pair], spelling: Spelling, vocab: Mapping[str, int]) -> None:
        self._pairs, self._spelling, self._vocab = pairs, spelling, vocab

    def __contains__(self, string: str) -> bool:
        prefix, suffix = self._spelling.prefix, self._spelling.suffix
        bare = string.removeprefix(prefix).removesuffix(suffix)
        if len(bare) == 1 or len(string) == 1:
            return True
        return any(
            (string[:at], prefix + string[at:]) in self._listed
            for at in range(1, len(string))
            if string[:at] in self._vocab and prefix + string[at:] in self._vocab
        )

    @functools.cached_property
    def _listed(self) -> set[Pair]:
        return set(self._pairs)


def _merge_ids(
    vocab: Mapping[str, int], pairs: Sequence[Pair], kinds: list[TokenKind], where: Node
) -> tuple[tuple[int, int], ...]:
    """The pairs as ids; of equal ones the last counts, as in tokenizers."""
    lefts = list(map(vocab.__getitem__, map(_FIRST, pairs)))
    rights = list(map(vocab.__getitem__, map(_SECOND, pairs)))
    merges = list(zip(lefts, rights, strict=True))
    keys = np.array(lefts, np.uint64) << np.uint64(32) | np.array(rights, np.uint64)
    if len(np.unique(keys)) < len(merges):
        merges = list(dict.fromkeys(reversed(merges)))[::-1]
    if any(kinds[id] is not TokenKind.NORMAL for id in {*lefts, *rights}):
        _refuse_kinds(vocab, merges, kinds, where)
    return tuple(merges)


def _refuse_kinds(
    vocab: Mapping[str, int],
    merges: Sequence[tuple[int, int]],
    kinds: list[TokenKind],
    where: Node,
) -> None:
    names = {id: string for string, id in vocab.items()}
    for merge in merges:
        for id in merge:
            if kinds[id] is not TokenKind.NORMAL:
                raise where.unsupported(
                    f"the merge of {names[merge[0]]!r} and {names[merge[1]]!r}, in which "
                    f"{names[id]!r} is a {kinds[id]} token,"
                )


def spellings(spec: TokenizerSpec) -> list[str]:
    """The string of each id; empty for those that nobody owns."""
    contents = {token.id: token.content for token in reversed(spec.added_tokens)}
    spelled = []
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        if kind is TokenKind.BYTE:
            spelled.append(f"<0x{token[0]:02X}>")
        elif kind is TokenKind.NORMAL and spec.byte_level:
            spelled.append(to_characters(token))
        elif kind in (TokenKind.NORMAL, TokenKind.UNUSED):
            spelled.append(token.decode("utf-8", "replace"))
        else:
            spelled.append(contents.get(id) or _unlisted(spec, token))
    return spelled


def _unlisted(spec: TokenizerSpec, token: bytes) -> str:
    """The string of a token that is neither normal nor added."""
    text = token.decode("utf-8", "replace")
    known = from_characters(text) if spec.byte_level else None
    return text if known is None or known == token else to_characters(token)


def spelling_losses(spec: TokenizerSpec) -> list[str]:
    """What a map from strings to ids cannot hold."""
    found: list[str] = []
    owners: dict[str, int] = {}
    for id, string in enumerate(spellings(spec)):
        if string and owners.setdefault(string, id) != id:
            found.append(
                f"ids {owners[string]} and {id} as different tokens: both are spelled {string!r}"
            )
    ids: dict[int, str] = {}
    spelling = Spelling(spec.byte_level)
    for added in spec.added_tokens:
        if ids.setdefault(added.id, added.content) != added.content:
            found.append(f"id {added.id} for both {ids[added.id]!r} and {added.content!r}")
        decoded = spelling.bytes_of(added.content)
        if spec.kinds[added.id] is TokenKind.CONTROL and decoded != spec.tokens[added.id]:
            found.append(
                f"the text of the added token {added.content!r}: all its characters stand for "
                f"bytes, so that it is decoded as {decoded!r}"
            )
    if not spec.byte_level:
        broken = next((token for token in spec.normal_ids() if not is_utf8(token)), None)
        found += [f"the token {broken!r}: it is not UTF-8"] if broken is not None else []
    return found


def is_utf8(token: bytes) -> bool:
    """Whether a token is whole characters."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
