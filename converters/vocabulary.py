"""Tokens spelled as strings, and merges of strings: the heart of tokenizer.json and vocab.json.

A string stands for bytes as in `bytelevel.py`, or for itself where a tokenizer starts from
characters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import flat
from ..bytelevel import all_from_characters, all_to_characters, from_characters, to_characters
from ..spec import AddedToken, TokenizerSpec, TokenKind, are_normal
from .base import id_limit
from .json_tree import Node, PackedMerges

__all__ = [
    "Merges",
    "Pair",
    "Spelling",
    "Vocabulary",
    "assemble",
    "check_ids",
    "is_utf8",
    "merges_of_pairs",
    "sound_merges",
    "spelling_losses",
    "spellings",
]

Pair = tuple[str, str]


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


@dataclass(frozen=True, slots=True)
class Merges:
    """Merges by the ids of a vocab: pairs in rows of two, and the ids of strings that they make."""

    pairs: npt.NDArray[np.uint32]
    made: npt.NDArray[np.uint32]


def sound_merges(vocab: dict[str, int], merges: Sequence[Any]) -> Merges | None:
    """Pairs of strings, or strings with a space; None if something is wrong with any of them.

    All parts, and what they make together, must be in the vocab.
    """
    if isinstance(merges, PackedMerges):
        rows = merges.ids(vocab)
    else:
        rows = flat.merge_ids(vocab, list(merges))
    return None if rows is None else Merges(rows[:, :2], rows[:, 2])


def merges_of_pairs(vocab: dict[str, int], pairs: Sequence[Pair], prefix: str = "") -> Merges:
    """Pairs of strings that are in the vocab; the prefix of the right one is dropped."""
    if not prefix and (found := sound_merges(vocab, pairs)):
        return found
    ids = [(vocab[left], vocab[right]) for left, right in pairs]
    made = [
        vocab[string]
        for left, right in pairs
        if right.startswith(prefix) and (string := left + right[len(prefix) :]) in vocab
    ]
    return Merges(np.array(ids, np.uint32).reshape(-1, 2), np.array(made, np.uint32))


def assemble(
    vocab: Mapping[str, int],
    merges: Merges,
    added: Sequence[AddedToken],
    spelling: Spelling,
    where: Node,
) -> Vocabulary:
    """Tokens, kinds and merges of a vocab, of merges in it, and of added tokens.

    An added token that text can become without being cut out stays a normal token.
    """
    special = {token.content for token in added}
    if spelling.unknown is not None:
        special.add(spelling.unknown)
    size = 1 + max([*vocab.values(), *(token.id for token in added)], default=-1)
    tokens, kinds = _spelled(vocab, size, spelling)
    made = np.zeros(size, bool)
    made[merges.made] = True
    for content in special & vocab.keys():
        id = vocab[content]
        reached = spelling.ignore_merges or made[id] or _is_character(content, spelling)
        if kinds[id] is TokenKind.NORMAL and not reached:
            unknown = content == spelling.unknown
            kinds[id] = TokenKind.UNKNOWN if unknown else TokenKind.CONTROL
    contents: dict[int, str] = {}  # of added tokens that the vocab has not
    for token in added:
        if vocab.get(token.content) == token.id:
            continue
        if kinds[token.id] is TokenKind.UNUSED:
            tokens[token.id], kinds[token.id] = spelling.bytes_of(token.content), TokenKind.CONTROL
            contents[token.id] = token.content
        elif contents.get(token.id) != token.content:
            owner = contents.get(token.id) or next(s for s, id in vocab.items() if id == token.id)
            raise where.error(
                f"the added token {token.content!r} gets the id {token.id}, which is that of "
                f"{owner!r}"
            )
    return Vocabulary(tokens, kinds, _merge_ids(vocab, merges, kinds, where))


def _spelled(
    vocab: Mapping[str, int], size: int, spelling: Spelling
) -> tuple[list[bytes], list[TokenKind]]:
    """What the strings of a vocab stand for, by their ids."""
    tokens, kinds = [b""] * size, [TokenKind.UNUSED] * size
    normal = TokenKind.NORMAL
    if not spelling.byte_level:
        for string, id in vocab.items():
            tokens[id], kinds[id] = string.encode(), normal
        for byte in range(256) if spelling.byte_fallback else ():
            if (place := vocab.get(f"<0x{byte:02X}>")) is not None:
                tokens[place], kinds[place] = bytes([byte]), TokenKind.BYTE
    else:
        spelled = all_from_characters(vocab)
        for (string, id), token in zip(vocab.items(), spelled, strict=True):
            if token:
                tokens[id], kinds[id] = token, normal
            else:
                tokens[id], kinds[id] = string.encode(), TokenKind.CONTROL
    if "" in vocab:
        kinds[vocab[""]] = TokenKind.CONTROL
    return tokens, kinds


def _is_character(string: str, spelling: Spelling) -> bool:
    """Whether text can become this string without a merge."""
    bare = string.removeprefix(spelling.prefix).removesuffix(spelling.suffix)
    return len(bare) == 1 or len(string) == 1


def _merge_ids(
    vocab: Mapping[str, int], merges: Merges, kinds: list[TokenKind], where: Node
) -> tuple[tuple[int, int], ...]:
    """The pairs as a spec has them; of equal ones the last counts, as in tokenizers."""
    pairs = merges.pairs
    keys = pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]
    ordered = np.sort(keys)
    found = flat.pairs(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        found = tuple(dict.fromkeys(reversed(found)))[::-1]
    if not are_normal(kinds)[pairs].all():
        _refuse_kinds(vocab, found, kinds, where)
    return found


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
    if spec.byte_level:
        spelled = all_to_characters(spec.tokens)
    else:
        spelled = [token.decode("utf-8", "replace") for token in spec.tokens]
    normal = TokenKind.NORMAL
    for id, kind in enumerate(spec.kinds):
        if kind is normal or kind is TokenKind.UNUSED:
            continue
        token = spec.tokens[id]
        if kind is TokenKind.BYTE:
            spelled[id] = f"<0x{token[0]:02X}>"
        else:
            spelled[id] = contents.get(id) or _unlisted(spec, token)
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
    spelled = spellings(spec)
    unique = len(set(spelled)) == len(spelled) - max(0, spelled.count("") - 1)
    for id, string in () if unique else enumerate(spelled):
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
