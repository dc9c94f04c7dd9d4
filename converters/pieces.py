"""A vocabulary of pieces with scores and types: what SentencePiece's models and GGUF files hold.

A piece is spelled with `▁` for a space. Its merges are in its score: see `scores.py`. What the
model does to text before, steps of a spec do in turn; pieces of the type USER_DEFINED are cut out
of the normalized text, as a split. Source: `normalizer.cc` and `bpe_model.cc` of SentencePiece.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .. import charsmap
from ..dialects import escape
from ..errors import FormatError, UnsupportedError
from ..spec import AddedToken, DecoderStep, Normalizer, Split, TokenizerSpec, TokenKind
from .base import Part, flag_losses, plain_losses
from .scores import Merges, canonical, merges_of_scores, uncrossed, unmade
from .vocabulary import spelling_losses, spellings

__all__ = [
    "BYTE",
    "CONTROL",
    "NORMAL",
    "UNKNOWN",
    "UNUSED",
    "USER_DEFINED",
    "Pieces",
    "guarded",
    "losses",
    "normalizers_of",
    "pieces_of",
    "settings_of",
    "spec_of",
]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""Types of pieces."""

_SPACE = "▁"


@dataclass(frozen=True, slots=True)
class Pieces:
    """The vocabulary of a model: a string, a score and a type for each id."""

    strings: Sequence[str]
    scores: Sequence[float]
    types: Sequence[int]


def normalizers_of(*, prefix: bool, tidy: bool, rules: bytes = b"") -> tuple[Normalizer, ...]:
    """What a model does to text: rules, spaces tidied away, a space in front, `▁` for spaces."""
    steps = []
    if prefix and not tidy:  # before the rules, which may leave nothing of a text
        steps.append(Normalizer("prepend", content=" " if rules else _SPACE))
    if rules:
        steps.append(Normalizer("charsmap", content=charsmap.spelled(rules)))
    if tidy:
        steps += [
            Normalizer("replace", pattern=r"\A +", content=""),
            Normalizer("replace", pattern=" +", content=" "),
        ]
        if prefix:
            steps.append(Normalizer("prepend", content=_SPACE))
    steps.append(Normalizer("replace", pattern=" ", content=_SPACE))
    if tidy:
        steps.append(Normalizer("replace", pattern=rf"{_SPACE}+\z", content=""))
    return tuple(steps)


def spec_of(
    pieces: Pieces,
    name: str,
    *,
    byte_fallback: bool,
    normalizers: tuple[Normalizer, ...],
    user_added: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> TokenizerSpec:
    """The spec of a vocabulary with scores.

    Pieces that the user defined are cut out of the normalized text, as SentencePiece does it, or
    with `user_added` out of the text before, as llama.cpp does it.
    """
    vocab = _checked(pieces, name, byte_fallback=byte_fallback)
    mergeable = {s: id for s, id in vocab.items() if pieces.types[id] == NORMAL}
    merges = merges_of_scores(mergeable, pieces.scores, name)
    user = [s for s, id in vocab.items() if pieces.types[id] == USER_DEFINED]
    if user and user_added:
        return _with_added(pieces, name, byte_fallback, normalizers, metadata)
    if user:
        _check_user_defined(user, mergeable, merges, normalizers, name)
    kinds = [_KINDS[type] for type in pieces.types]
    unknown = pieces.types.index(UNKNOWN)
    stripped = any(step.kind == "prepend" or step.pattern == r"\A +" for step in normalizers)
    return TokenizerSpec(
        tokens=tuple(
            bytes([_BYTES[s]]) if kind is TokenKind.BYTE else s.encode()
            for s, kind in zip(pieces.strings, kinds, strict=True)
        ),
        kinds=tuple(kinds),
        merges=tuple(merges),
        ignore_merges=bool(user),
        splits=_splits(
            user,
            mergeable,
            [pieces.strings[id] for id, kind in enumerate(kinds) if kind in _LISTED],
            byte_fallback=byte_fallback,
        ),
        normalizers=normalizers,
        byte_level=False,
        byte_fallback=byte_fallback,
        fuse_unknown=True,
        unknown=unknown,
        added_tokens=tuple(
            AddedToken(pieces.strings[id], id) for id, kind in enumerate(kinds) if kind in _LISTED
        ),
        decoder=_decoder(strip=stripped),
        metadata={**(metadata or {}), "scores": tuple(pieces.scores)},
    )


def _with_added(
    pieces: Pieces,
    name: str,
    byte_fallback: bool,
    normalizers: tuple[Normalizer, ...],
    metadata: Mapping[str, Any] | None,
) -> TokenizerSpec:
    types = [CONTROL if type == USER_DEFINED else type for type in pieces.types]
    spec = spec_of(
        replace(pieces, types=types),
        name,
        byte_fallback=byte_fallback,
        normalizers=normalizers,
        metadata=metadata,
    )
    added = [
        replace(token, special=pieces.types[token.id] != USER_DEFINED)
        for token in spec.added_tokens
    ]
    return replace(spec, added_tokens=tuple(added))


_KINDS = {
    NORMAL: TokenKind.NORMAL,
    UNKNOWN: TokenKind.UNKNOWN,
    CONTROL: TokenKind.CONTROL,
    USER_DEFINED: TokenKind.NORMAL,
    BYTE: TokenKind.BYTE,
}


def _decoder(*, strip: bool) -> tuple[DecoderStep, ...]:
    steps = (
        DecoderStep("replace", _SPACE, " "),
        DecoderStep("byte_fallback"),
        DecoderStep("fuse"),
    )
    return (*steps, DecoderStep("strip", content=" ", start=1)) if strip else steps


def _checked(pieces: Pieces, name: str, *, byte_fallback: bool) -> dict[str, int]:
    vocab: dict[str, int] = {}
    for id, (string, score, type) in enumerate(
        zip(pieces.strings, pieces.scores, pieces.types, strict=True)
    ):
        if not string:
            raise FormatError(f"{name}: piece {id} is empty")
        if vocab.setdefault(string, id) != id:
            raise FormatError(f"{name}: piece {id} is {string!r}, as piece {vocab[string]} is")
        if type == UNUSED:
            raise UnsupportedError(f"{name}: piece {id} has the type UNUSED")
        if type not in _KINDS:
            raise FormatError(f"{name}: piece {id} has the type {type}")
        if type == BYTE and (not byte_fallback or string not in _BYTES):
            raise FormatError(f"{name}: piece {id}, {string!r}, stands for no byte")
        if score != score:
            raise FormatError(f"{name}: the score of piece {id} is no number")
    unknowns = [id for id, type in enumerate(pieces.types) if type == UNKNOWN]
    if len(unknowns) != 1:
        raise FormatError(f"{name}: {len(unknowns)} pieces have the type UNKNOWN, not one")
    if byte_fallback and (missing := 256 - list(pieces.types).count(BYTE)):
        raise FormatError(f"{name}: byte_fallback, but {missing} bytes have no piece")
    return vocab


_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}


def _check_user_defined(
    user: Sequence[str],
    mergeable: Mapping[str, int],
    merges: Merges,
    normalizers: Sequence[Normalizer],
    name: str,
) -> None:
    """They are whole pieces of the split, which become their token by `ignore_merges`."""
    if len(normalizers) > 2:
        raise UnsupportedError(
            f"{name}: pieces that the user defined ({user[0]!r}, ...) together with normalization "
            "rules or with remove_extra_whitespaces are not supported"
        )
    if strange := unmade(mergeable, merges):
        raise UnsupportedError(
            f"{name}: pieces that the user defined together with {strange[0]!r}, a piece that "
            "merges do not make, are not supported"
        )
    if glued := [piece for piece in mergeable if piece.startswith("<0") and len(piece) < 7]:
        raise UnsupportedError(
            f"{name}: pieces that the user defined together with the piece {glued[0]!r} are not "
            "supported"
        )


def _splits(
    user: Sequence[str], mergeable: Collection[str], listed: Sequence[str], *, byte_fallback: bool
) -> tuple[Split, ...]:
    """The steps that cut out the pieces that the user defined.

    A piece that is a token is that token, by `ignore_merges`; the names of bytes and the `listed`
    special tokens shall not be such pieces, so the last step cuts them where no merge goes across.
    """
    if not user:
        return ()
    tails: dict[str, set[str]] = {}
    for text in listed:
        if at := uncrossed(text, mergeable):
            tails.setdefault(text[:at], set()).add(text[at:])
    names = [rf"{escape(head)}(?={_any_of(ends)}\z)" for head, ends in sorted(tails.items())]
    if byte_fallback:
        names.insert(0, r"<(?=0x[0-9A-F]{2}>\z)")
    guard = rf"\A(?:{'|'.join(names)})"
    return (Split(_either(user)), Split(guard)) if names else (Split(_either(user)),)


def _any_of(texts: Collection[str]) -> str:
    """A regex for some texts, by their common beginnings: there are hundreds of special tokens."""
    endings: dict[str, set[str]] = {}
    for text in texts:
        endings.setdefault(text[:1], set()).add(text[1:])
    parts = [escape(c) + _any_of(ends) if c else "" for c, ends in sorted(endings.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def guarded(spec: TokenizerSpec) -> set[str]:
    """The special tokens that the last step of the split keeps from being whole pieces."""
    user = _user_defined(spec)
    if not user or spec.byte_level:
        return set()
    mergeable = _mergeable(spec, set(user))
    return {text for text in _listed(spec) if uncrossed(text, mergeable)}


def _listed(spec: TokenizerSpec) -> list[str]:
    """The tokens that no text becomes but by being cut out."""
    return [
        token.decode("utf-8", "replace")
        for token, kind in zip(spec.tokens, spec.kinds, strict=True)
        if kind in _LISTED
    ]


def _either(strings: Sequence[str]) -> str:
    """A regex for the longest of some strings."""
    return "|".join(map(escape, sorted(strings, key=lambda s: (-len(s), s))))


def settings_of(spec: TokenizerSpec) -> tuple[bool, bool, bytes] | None:
    """The arguments of `normalizers_of` that give the normalizers of a spec, if there are any."""
    maps = [step.content for step in spec.normalizers if step.kind == "charsmap"]
    rules = charsmap.data_of(maps[0]) if maps else b""
    for prefix in (False, True):
        for tidy in (False, True):
            if normalizers_of(prefix=prefix, tidy=tidy, rules=rules) == spec.normalizers:
                return prefix, tidy, rules
    return None


def losses(
    spec: TokenizerSpec, *, user_added: bool = False, template_held: bool = False
) -> list[str]:
    """What pieces, scores and types cannot hold of a spec, a template apart if that is held."""
    if spec.byte_level:
        ids, sizes = spec.vocabulary.not_utf8(), spec.vocabulary.sizes()
        broken = (spec.normal_mask()[ids] & (sizes[ids] > 1)).sum()
        raise UnsupportedError(
            "SentencePiece merges characters, and these tokens are bytes: "
            f"{broken} tokens are not valid UTF-8"
        )
    if spec.unknown is None or TokenKind.UNUSED in spec.kinds:
        what = "without an unknown token" if spec.unknown is None else "with ids that nobody owns"
        raise UnsupportedError(f"a SentencePiece model {what} is not possible")
    held: tuple[Part, ...] = ("template",) if template_held else ()
    found = plain_losses(spec, "unknown", "decoder", "normalizers", *held)
    settings = settings_of(spec)
    if settings is None:
        found.append("normalizers other than SentencePiece's")
    elif spec.decoder != _decoder(strip=settings[0] or settings[1]):
        found.append("a decoder other than SentencePiece's")
    user = _user_defined(spec)
    if user is None or spec.ignore_merges != bool(user):
        found.append("this split together with this use of pieces that are tokens")
    bytes_ = spec.kinds.count(TokenKind.BYTE)
    if bytes_ != 256 * spec.byte_fallback:
        found.append(f"{bytes_} tokens for bytes of characters that have no token")
    elif not spec.byte_fallback and not spec.fuse_unknown:
        found.append("an unknown token for each of neighbouring characters")
    added = {token.id for token in spec.added_tokens}
    hidden = [id for id, k in enumerate(spec.kinds) if k in _LISTED and id not in added]
    found += [f"that the token {id} is not cut out of the text" for id in hidden]
    found += [
        f"that {token.content!r} is an added token and can be made by merges, too"
        for token in spec.added_tokens
        if spec.kinds[token.id] not in _LISTED
    ]
    plain = [replace(t, special=t.special or user_added) for t in spec.added_tokens]
    found += spelling_losses(spec) + flag_losses(replace(spec, added_tokens=tuple(plain)))
    return found or _merge_losses(spec, _mergeable(spec, set(user or ())))


_LISTED = (TokenKind.CONTROL, TokenKind.UNKNOWN)


def _user_defined(spec: TokenizerSpec) -> list[str] | None:
    """The pieces that the split of a spec cuts out; None if it is another split."""
    if not spec.splits:
        return []
    pattern = spec.splits[0].pattern
    parts = set(re.split(r"(?<!\\)\|", pattern))
    user = [s for s in map(bytes.decode, spec.normal_ids()) if escape(s) in parts]
    mergeable = set(map(bytes.decode, spec.normal_ids())).difference(user)
    made = _splits(user, mergeable, _listed(spec), byte_fallback=spec.byte_fallback)
    return user if spec.splits == made else None


def _merge_losses(spec: TokenizerSpec, mergeable: Mapping[str, int]) -> list[str]:
    """Whether any two neighbours that make a piece may merge, by some scores."""
    if _carried_scores(spec, mergeable):
        return []
    merges = merges_of_scores(mergeable, _scores_in_order(spec, mergeable), "the spec")
    if merges == list(spec.merges):
        return []
    made_by = canonical(mergeable, merges)
    places = {pair: place for place, pair in enumerate(spec.merges)}
    order = pairwise([-1, *(places.get(pair, -1) for pair in made_by.values())])
    wrong = [piece for piece, (a, b) in zip(made_by, order, strict=True) if b <= a]
    return [f"the merges of {wrong[0]!r}: scores would imply others"] if wrong else []


def _mergeable(spec: TokenizerSpec, user: Collection[str]) -> dict[str, int]:
    texts = ((token.decode(), id) for token, id in spec.normal_ids().items())
    return {text: id for text, id in texts if text not in user}


def _carried_scores(spec: TokenizerSpec, mergeable: Mapping[str, int]) -> list[float]:
    """The scores of all ids that were read, if they still say what merges; otherwise none."""
    carried = spec.metadata.get("scores", ())
    sound = len(carried) == len(spec.tokens) and (
        merges_of_scores(mergeable, carried, "the spec") == list(spec.merges)
    )
    return list(carried) if sound else []


def _scores_in_order(spec: TokenizerSpec, mergeable: Mapping[str, int]) -> list[float]:
    """Scores for all ids by the order of merges."""
    cut, by_bytes = len(spec.prefix.encode()), spec.normal_ids()
    made = (by_bytes[spec.tokens[a] + spec.tokens[b][cut:]] for a, b in spec.merges)
    order = dict.fromkeys([*made, *mergeable.values()])
    scores = [0.0] * len(spec.tokens)
    for place, id in enumerate(order):
        scores[id] = float(-place)
    return scores


def pieces_of(spec: TokenizerSpec) -> Pieces:
    """The vocabulary of a spec."""
    user = set(_user_defined(spec) or ())
    mergeable = _mergeable(spec, user)
    scores = _carried_scores(spec, mergeable) or _scores_in_order(spec, mergeable)
    always = {token.id for token in spec.added_tokens if not token.special}
    strings = spellings(spec).to_list()
    types = [
        USER_DEFINED if id in always or (kind is TokenKind.NORMAL and string in user)
        else _TYPES[kind]
        for id, (string, kind) in enumerate(zip(strings, spec.kinds, strict=True))
    ]  # fmt: skip
    return Pieces(strings, scores, types)


_TYPES = {
    TokenKind.NORMAL: NORMAL,
    TokenKind.BYTE: BYTE,
    TokenKind.UNKNOWN: UNKNOWN,
    TokenKind.CONTROL: CONTROL,
    TokenKind.UNUSED: UNUSED,
}
