"""What training starts from, and how a vocabulary is laid out around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import flat
from ..errors import UnsupportedError
from ..kinds import TokenKind, kind_numbers
from ..spec import AddedToken, DecoderStep, TokenizerSpec
from .counting import Cutting

__all__ = [
    "Affixes",
    "Pairs",
    "characters_of",
    "continued",
    "cutting_of",
    "laid_out",
]

Pairs = npt.NDArray[np.uint32]
SpecialIds = Literal["first", "after_bytes", "last"]


@dataclass(frozen=True)
class Affixes:
    """Marks of where in its piece a character stands; only alphabets of characters have them."""

    suffix: str = ""
    where: Literal["attached", "separate"] = "attached"
    prefix: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """What they are in a spec of characters."""
        decoder = [DecoderStep("suffix", content=self.suffix)] if self.suffix else []
        return {
            "byte_level": False,
            "prefix": self.prefix,
            "suffix": self.suffix,
            "suffix_apart": bool(self.suffix) and self.where == "separate",
            "decoder": tuple(decoder or [DecoderStep("fuse")]),
        }


def characters_of(pieces: Iterable[bytes], affixes: Affixes) -> list[bytes]:
    """The symbols that pieces of text are spelled with: characters, then those with an affix.

    Both in the order of their code points, so that the ids depend on nothing else.

    >>> characters_of([b"ab", b"b"], Affixes(suffix="</w>"))
    [b'a', b'b', b'b</w>']
    """
    plain: set[str] = set()
    inner: set[str] = set()
    last: set[tuple[bool, str]] = set()
    for piece in pieces:
        text = piece.decode("utf-8", "replace")
        plain.update(text)
        inner.update(text[1:-1])
        last.add((len(text) > 1, text[-1]))
    apart = affixes.where == "separate"
    suffix = "" if apart else affixes.suffix
    affixed = {affixes.prefix + c for c in inner}
    affixed |= {(affixes.prefix if follows else "") + c + suffix for follows, c in last}
    symbols = sorted(plain) + sorted(affixed - plain)
    if affixes.suffix and apart:
        symbols.append(affixes.suffix)
    return [symbol.encode() for symbol in symbols]


def laid_out(
    symbols: Sequence[bytes],
    pairs: Pairs,
    specials: Sequence[str],
    special_ids: SpecialIds,
    unknown: str | None = None,
    **fields: Any,
) -> TokenizerSpec:
    """Gives ids to symbols, merges and special tokens.

    In `pairs` ids are places in `symbols`, and behind them the merges.
    """
    count, base = len(specials), len(symbols)
    first_symbol = count if special_ids == "first" else 0
    first_merge = first_symbol + base + (count if special_ids == "after_bytes" else 0)
    first_special = {"first": 0, "after_bytes": base, "last": first_merge + len(pairs)}[special_ids]
    ids = np.where(pairs < base, pairs + first_symbol, pairs + (first_merge - base))
    contents = [content.encode() for content in specials]
    tokens, behind = list(symbols), []
    if special_ids == "last":
        behind = contents
    else:
        tokens[first_special:first_special] = contents
    kinds = [TokenKind.NORMAL] * (base + count + len(pairs))
    kinds[first_special : first_special + count] = [
        TokenKind.UNKNOWN if content == unknown else TokenKind.CONTROL for content in specials
    ]
    cut = len(fields.get("prefix", "").encode())
    rows = ids.astype(np.uint32)
    packed = flat.Vocabulary.grown(tokens, behind, kind_numbers(kinds), rows, cut)
    assert packed is not None, "training made a vocabulary that contradicts itself"
    return TokenizerSpec.of_vocabulary(
        packed,
        unknown=None if unknown is None else first_special + list(specials).index(unknown),
        added_tokens=tuple(AddedToken(c, first_special + i) for i, c in enumerate(specials)),
        **fields,
    )


def cutting_of(spec: TokenizerSpec, *, by_line: bool) -> Cutting:
    """How a tokenizer cuts text; raises `UnsupportedError` if it cannot be extended."""
    for what, found in (
        ("normalizers", spec.normalizers or spec.prefix_space),
        ("byte fallback", spec.byte_fallback),
        ("stripping added tokens", any(t.lstrip or t.rstrip for t in spec.added_tokens)),
    ):
        if found:
            raise UnsupportedError(f"a tokenizer with {what} cannot be extended")
    contents = tuple(token.content for token in spec.added_tokens)
    return Cutting(spec.splits, contents, by_line)


def continued(spec: TokenizerSpec, pairs: Pairs) -> TokenizerSpec:
    """The spec with more merges, whose tokens get the ids behind its own."""
    tokens, cut = list(spec.tokens), len(spec.prefix.encode())
    merges = flat.pairs(pairs)
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right][cut:])
    return replace(
        spec,
        tokens=tuple(tokens),
        kinds=spec.kinds + (TokenKind.NORMAL,) * len(merges),
        merges=spec.merges + merges if spec.merge_rule == "pairs" else (),
    )
