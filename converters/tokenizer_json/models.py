"""The section `model`: the vocab, the merges, and how they are used."""

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytelevel import CHARACTERS, from_characters
from ...errors import UnsupportedError
from ...kinds import NUMBERS
from ...ranks import losses_of_merges, merges_of
from ...spec import AddedToken, TokenizerSpec, TokenKind
from .. import pieces
from ..base import id_limit
from ..json_tree import Node, PackedVocab
from ..vocabulary import (
    Merges,
    Pair,
    Spelling,
    assemble,
    check_ids,
    merges_of_pairs,
    sound_merges,
    spelling_losses,
    spellings,
)

__all__ = ["check_family", "losses", "read", "read_vocab", "text", "vocab_entries"]

_KNOWN = (
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
    "byte_fallback", "ignore_merges", "vocab", "merges",
)  # fmt: skip


def check_family(node: Node) -> None:
    """Refuses models that are not BPE by their name; old files do not say it."""
    unigram = isinstance(node.value.get("vocab"), list)
    family = node.get("type", str, "Unigram" if unigram else "BPE")
    if family != "BPE":
        raise node.unsupported(f"a {family} model, which is not BPE,")


def read_vocab(node: Node) -> Mapping[str, int]:
    """The ids of the strings in the vocab."""
    packed = node.value.get("vocab")
    if isinstance(packed, PackedVocab):
        strings = packed.strings
        if strings.end <= id_limit(len(strings)) + 1 and strings.has_distinct_ids():
            return packed
        node.value["vocab"] = packed.strings.to_dict()
    vocab = node.child("vocab")
    check_ids(vocab.value, vocab)
    return vocab.value


def read(
    node: Node, vocab: Mapping[str, int], added: Sequence[AddedToken], *, byte_level: bool
) -> dict[str, Any]:
    """The fields of a spec that the model with these added tokens decides."""
    node.only(*_KNOWN)
    spelling = Spelling(
        byte_level=byte_level,
        byte_fallback=node.get("byte_fallback", bool, False),
        ignore_merges=node.get("ignore_merges", bool, False),
        unknown=node.get("unk_token", str, None),
        prefix=node.get("continuing_subword_prefix", str, ""),
        suffix=node.get("end_of_word_suffix", str, ""),
    )
    if spelling.unknown is not None and spelling.unknown not in vocab:
        raise node.error(f"the unk_token {spelling.unknown!r} is not in the vocab")
    if byte_level:
        _check_bytes(node, vocab, spelling)
    if dropout := node.value.get("dropout"):
        if not isinstance(dropout, int | float):
            raise node.error(f"dropout must be a number, not {dropout!r}")
        warnings.warn(
            f"{node.path}: the dropout of {dropout} is written back, but not used: ids are never "
            "random here",
            stacklevel=2,
        )
    merges = _read_merges(node, vocab, spelling.prefix)
    vocabulary = assemble(vocab, merges, added, spelling, node)
    return {
        **vocabulary,
        "ignore_merges": spelling.ignore_merges,
        "byte_fallback": spelling.byte_fallback,
        "fuse_unknown": node.get("fuse_unk", bool, False),
        "unknown": None if spelling.unknown is None else vocab[spelling.unknown],
        "prefix": spelling.prefix,
        "suffix": spelling.suffix,
    }


def _check_bytes(node: Node, vocab: Mapping[str, int], spelling: Spelling) -> None:
    """Refuses what works on the characters that stand for bytes instead of the bytes."""
    for affix in (spelling.prefix, spelling.suffix):
        if from_characters(affix) != affix.encode():
            raise node.unsupported(f"the prefix or suffix {affix!r} of tokens spelled in bytes")
    if not spelling.byte_fallback or "<0x00>" not in vocab:
        return
    missing = [character for character in CHARACTERS if character not in vocab]
    if missing or spelling.prefix or spelling.suffix:
        raise node.unsupported("byte_fallback of tokens spelled in bytes")


def _read_merges(node: Node, vocab: Mapping[str, int], prefix: str) -> Merges:
    """The merges, whose strings are in the vocab, as are the strings they make."""
    listed = node.get("merges", list)
    if not prefix and (found := sound_merges(vocab, listed)):
        return found
    pairs: list[Pair] = []
    form = None
    for index, merge in enumerate(listed):
        form = form or type(merge)
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if type(merge) is not form or not _is_pair(pair):
            raise node.error(
                f"merges[{index}] is {merge!r}, not two tokens in the form of merges[0]"
            )
        left, right = pair
        for part in (left, right, left + right[len(prefix) :]):
            if part not in vocab:
                raise node.error(f"merges[{index}] ({left!r}, {right!r}): {part!r} is no token")
        pairs.append((left, right))
    return merges_of_pairs(vocab, pairs, prefix)


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, str) and p for p in pair)


def text(spec: TokenizerSpec, before: str, behind: str) -> npt.NDArray[np.uint8]:
    """The section for a spec, in UTF-8, between other JSON."""
    recovered = merges_of(spec)
    spelled = spellings(spec)
    rest = {
        "type": "BPE",
        "dropout": spec.metadata.get("dropout"),
        "unk_token": None if spec.unknown is None else spelled[spec.unknown],
        "continuing_subword_prefix": spec.prefix or None,
        "end_of_word_suffix": spec.suffix or None,
        "fuse_unk": spec.fuse_unknown,
        "byte_fallback": spec.byte_fallback,
        "ignore_merges": recovered.ignore_merges,
    }
    head = json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
    before += f'{head[:-1]},"vocab":'
    return spelled.json_model(_inside_vocab(spec), recovered.rows, before, "}" + behind)


def _inside_vocab(spec: TokenizerSpec) -> npt.NDArray[np.uint32]:
    """The ids that are in the vocab."""
    inside = _owned(spec)
    inside[list(_outside_vocab(spec))] = False
    return np.flatnonzero(inside).astype(np.uint32)


def _owned(spec: TokenizerSpec) -> npt.NDArray[np.bool_]:
    """Which ids are those of tokens."""
    kinds = np.frombuffer(spec.vocabulary.kinds(), np.uint8)
    return np.not_equal(kinds, NUMBERS[TokenKind.UNUSED])


def losses(spec: TokenizerSpec) -> list[str]:
    """What the sections `model` and `added_tokens` cannot hold."""
    if spec.suffix_apart:
        raise UnsupportedError(
            f"tokenizer.json attaches {spec.suffix!r} to the last character of a word; here it is "
            "a symbol of its own"
        )
    found = spelling_losses(spec) + losses_of_merges(spec)
    inside = {t.id for t in spec.added_tokens} - _outside_vocab(spec)
    apart = NUMBERS[TokenKind.CONTROL], NUMBERS[TokenKind.UNKNOWN]
    kinds, tokens = spec.vocabulary.kinds(), spec.vocabulary
    exposed = [id for id in sorted(inside) if kinds[id] in apart]
    if exposed and merges_of(spec).ignore_merges:
        safe = pieces.guarded(spec)
        exposed = [id for id in exposed if tokens[id].decode("utf-8", "replace") not in safe]
    if exposed and merges_of(spec).ignore_merges:
        found.append(
            f"the special token {tokens[exposed[0]]!r} with the id {exposed[0]}: behind a gap "
            "of ids it must stand in the vocab, where ignore_merges lets ordinary text become it"
        )
    return found


def vocab_entries(spec: TokenizerSpec) -> int:
    """How many tokens stand in the vocab: all but those that are only added."""
    listed = spec.metadata.get("vocab_entries")
    return spec.token_count - len(_outside_vocab(spec)) if listed is None else int(listed)


def _outside_vocab(spec: TokenizerSpec) -> set[int]:
    """Ids of added tokens that need not stand in the vocab: the last ones, without a gap.

    tokenizers numbers added tokens that the vocab lacks from the size of the vocab on, whatever id
    the file gives them, so every other one must be in it to keep its id; so do those that were.
    """
    kinds, control = spec.vocabulary.kinds(), NUMBERS[TokenKind.CONTROL]
    added = {t.id for t in spec.added_tokens if kinds[t.id] == control}
    end = spec.vocab_size
    first = end
    while first - 1 in added and first > spec.metadata.get("vocab_entries", 0):
        first -= 1
    without_gap = _owned(spec)[:first].all()
    return set(range(first, end)) if without_gap else set()
