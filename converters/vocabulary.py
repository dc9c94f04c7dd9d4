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
from ..bytelevel import CHARACTERS, from_characters, to_characters
from ..errors import FormatError
from ..kinds import NUMBERS, TokenKind, kinds_of
from ..remembered import remembered
from ..spec import AddedToken, TokenizerSpec
from .base import id_limit
from .json_tree import Node, PackedMerges, PackedVocab

__all__ = [
    "Merges",
    "Pair",
    "Spelling",
    "assemble",
    "check_ids",
    "merges_of_pairs",
    "sound_merges",
    "spelling_losses",
    "spellings",
]

Pair = tuple[str, str]
_NORMAL, _UNKNOWN = NUMBERS[TokenKind.NORMAL], NUMBERS[TokenKind.UNKNOWN]
_CONTROL, _UNUSED = NUMBERS[TokenKind.CONTROL], NUMBERS[TokenKind.UNUSED]
_BYTE = NUMBERS[TokenKind.BYTE]


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
    """Merges by the ids of a vocab: in rows (left, right) or (left, right, made).

    `made` are ids of strings that they make, all that a vocab has.
    """

    rows: npt.NDArray[np.uint32]
    made: npt.NDArray[np.uint32]


def packed(vocab: Mapping[str, int]) -> flat.StringIds:
    """The strings and ids of a vocab that `check_ids` has nothing against."""
    if isinstance(vocab, PackedVocab):
        return vocab.strings
    strings = flat.StringIds.of(dict(vocab))
    if strings is None:
        raise FormatError("a vocabulary has half a surrogate pair in a string")
    return strings


def sound_merges(vocab: Mapping[str, int], merges: Sequence[Any]) -> Merges | None:
    """Pairs of strings, or strings with a space; None if something is wrong with any of them.

    All parts, and what they make together, must be in the vocab.
    """
    if isinstance(merges, PackedMerges):
        return Merges(merges.rows, merges.rows[:, 2])
    rows = packed(vocab).merge_ids(list(merges))
    return None if rows is None else Merges(rows, rows[:, 2])


def merges_of_pairs(vocab: Mapping[str, int], pairs: Sequence[Pair], prefix: str = "") -> Merges:
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
    *,
    least_size: int = 0,
    added_as_text: bool = False,
) -> dict[str, Any]:
    """Tokens, kinds and merges of a vocab, of merges in it, and of added tokens: fields of a spec.

    An added token that text can become without being cut out stays a normal token. With
    `added_as_text` all others stand for their text, even if its characters could spell bytes.
    """
    strings = packed(vocab)
    size = max([strings.end, least_size, *(token.id + 1 for token in added)])
    alphabet = CHARACTERS if spelling.byte_level else None
    spelled = flat.Spelling(strings, size, alphabet, spelling.byte_fallback)
    kinds = spelled.kinds()
    _set_special(kinds, vocab, merges, added, spelling)
    replaced = _add_tokens(kinds, vocab, added, spelling, where)
    if added_as_text:
        texts = {token.id: token.content.encode() for token in added}
        replaced |= {id: text for id, text in texts.items() if kinds[id] == _CONTROL}
    rows = flat.last_rows(merges.rows)  # as in tokenizers
    if (kinds[rows[:, :2]] != _NORMAL).any():
        _refuse_kinds(vocab, rows, kinds, where)
    sound = spelled.vocabulary(kinds, replaced, rows, len(spelling.prefix.encode()))
    if sound is not None:
        return {"tokens": sound}
    # A spec says what is wrong.
    tokens, merged = spelled.tokens(replaced), flat.pairs(rows)
    return {"tokens": tokens, "kinds": kinds_of(kinds.tobytes()), "merges": merged}


def _set_special(
    kinds: npt.NDArray[np.uint8],
    vocab: Mapping[str, int],
    merges: Merges,
    added: Sequence[AddedToken],
    spelling: Spelling,
) -> None:
    """Makes those tokens of the vocab special that are added ones, and that no text becomes."""
    special = dict.fromkeys(token.content for token in added)
    if spelling.unknown is not None:
        special[spelling.unknown] = None
    made = np.zeros(len(kinds), bool)
    made[merges.made] = True
    for content in special:
        id = vocab.get(content)
        if id is None or kinds[id] != _NORMAL:
            continue
        if not (spelling.ignore_merges or made[id] or _is_character(content, spelling)):
            kinds[id] = _UNKNOWN if content == spelling.unknown else _CONTROL


def _add_tokens(
    kinds: npt.NDArray[np.uint8],
    vocab: Mapping[str, int],
    added: Sequence[AddedToken],
    spelling: Spelling,
    where: Node,
) -> dict[int, bytes]:
    """The bytes of added tokens that the vocab has not, by their ids."""
    contents: dict[int, str] = {}
    for token in added:
        if vocab.get(token.content) == token.id:
            continue
        if kinds[token.id] == _UNUSED:
            kinds[token.id] = _CONTROL
            contents[token.id] = token.content
        elif contents.get(token.id) != token.content:
            owner = contents.get(token.id) or next(s for s, id in vocab.items() if id == token.id)
            raise where.error(
                f"the added token {token.content!r} gets the id {token.id}, which is that of "
                f"{owner!r}"
            )
    return {id: spelling.bytes_of(content) for id, content in contents.items()}


def _is_character(string: str, spelling: Spelling) -> bool:
    """Whether text can become this string without a merge."""
    bare = string.removeprefix(spelling.prefix).removesuffix(spelling.suffix)
    return len(bare) == 1 or len(string) == 1


def _refuse_kinds(
    vocab: Mapping[str, int],
    rows: npt.NDArray[np.uint32],
    kinds: npt.NDArray[np.uint8],
    where: Node,
) -> None:
    names = {id: string for string, id in vocab.items()}
    for merge in rows[:, :2].tolist():
        for id in merge:
            if kinds[id] != _NORMAL:
                kind = kinds_of(kinds[id : id + 1].tobytes())[0]
                raise where.unsupported(
                    f"the merge of {names[merge[0]]!r} and {names[merge[1]]!r}, in which "
                    f"{names[id]!r} is a {kind} token,"
                )


@remembered
def spellings(spec: TokenizerSpec) -> flat.Strings:
    """The string of each id; empty for those that nobody owns."""
    vocabulary = spec.vocabulary
    kinds = np.frombuffer(vocabulary.kinds(), np.uint8)
    replaced: dict[int, str] = {}
    if not spec.byte_level:
        broken = vocabulary.not_utf8().tolist()
        replaced = {id: vocabulary[id].decode("utf-8", "replace") for id in broken}
    contents = {token.id: token.content for token in reversed(spec.added_tokens)}
    for id in np.flatnonzero((kinds != _NORMAL) & (kinds != _UNUSED)).tolist():
        token = vocabulary[id]
        if kinds[id] == _BYTE:
            replaced[id] = f"<0x{token[0]:02X}>"
        else:
            replaced[id] = contents.get(id) or _unlisted(spec, token)
    return vocabulary.strings(CHARACTERS if spec.byte_level else None, replaced)


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
    for id, string in () if spelled.are_distinct() else enumerate(spelled.to_list()):
        if string and owners.setdefault(string, id) != id:
            found.append(
                f"ids {owners[string]} and {id} as different tokens: both are spelled {string!r}"
            )
    ids: dict[int, str] = {}
    spelling, vocabulary = Spelling(spec.byte_level), spec.vocabulary
    kinds = vocabulary.kinds()
    for added in spec.added_tokens:
        if ids.setdefault(added.id, added.content) != added.content:
            found.append(f"id {added.id} for both {ids[added.id]!r} and {added.content!r}")
        decoded = spelling.bytes_of(added.content)
        if kinds[added.id] == _CONTROL and decoded != vocabulary[added.id]:
            found.append(
                f"the text of the added token {added.content!r}: all its characters stand for "
                f"bytes, so that it is decoded as {decoded!r}"
            )
    if not spec.byte_level:
        broken = [id for id in vocabulary.not_utf8().tolist() if kinds[id] == _NORMAL]
        found += [f"the token {vocabulary[id]!r}: it is not UTF-8" for id in broken[:1]]
    return found
