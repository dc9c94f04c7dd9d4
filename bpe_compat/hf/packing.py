"""A spec as a few large values, for pickles and for the fingerprints of `datasets`.

`datasets` hashes a tokenizer with a pickler written in Python, at microseconds per object: a spec
of a hundred thousand objects would cost it seconds on every call of `map`.
"""

import json
from dataclasses import asdict, fields
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..spec import AddedToken, TokenizerSpec, TokenKind

__all__ = ["packed", "unpacked"]

_KINDS = list(TokenKind)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
_PACKED = ("tokens", "kinds", "merges", "added_tokens")


def packed(spec: TokenizerSpec) -> tuple[Any, ...]:
    """The content of a spec; equal specs give equal values."""
    rest = {f.name: getattr(spec, f.name) for f in fields(spec) if f.name not in _PACKED}
    return (
        b"".join(spec.tokens),
        np.fromiter(map(len, spec.tokens), np.uint32, len(spec.tokens)).tobytes(),
        bytes(map(_NUMBERS.__getitem__, spec.kinds)),
        np.array(spec.merges, np.uint32).tobytes(),
        json.dumps([asdict(token) for token in spec.added_tokens]),
        rest,
    )


def unpacked(
    tokens: bytes, lengths: bytes, kinds: bytes, merges: bytes, added: str, rest: dict[str, Any]
) -> TokenizerSpec:
    """The spec of such values."""
    ends = accumulate(np.frombuffer(lengths, np.uint32).tolist(), initial=0)
    return TokenizerSpec(
        tokens=tuple(tokens[begin:end] for begin, end in pairwise(ends)),
        kinds=tuple(_KINDS[number] for number in kinds),
        merges=tuple(map(tuple, np.frombuffer(merges, np.uint32).reshape(-1, 2).tolist())),  # type: ignore[arg-type]
        added_tokens=tuple(AddedToken(**token) for token in json.loads(added)),
        **rest,
    )
