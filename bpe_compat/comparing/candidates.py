"""Texts on which two tokenizers may differ, in stages: what is likely and short comes first."""

import itertools
import random
from collections.abc import Iterable, Iterator

from ..spec import TokenizerSpec
from .normal_form import Merging, NormalForm

__all__ = ["Stage", "code_points", "short_texts", "stages"]

Stage = tuple[str, Iterable[str]]
"""What the texts of a stage are, and the texts."""

Specs = tuple[TokenizerSpec, TokenizerSpec]

_MOST_PIECES = 3000
_MOST_ADDED = 300


def short_texts(alphabet: str, length: int, most: int) -> Iterator[str]:
    """All texts of this length over the first characters of an alphabet, as many as allowed."""
    size = len(alphabet)
    while size**length > most:
        size -= 1
    return map("".join, itertools.product(alphabet[:size], repeat=length))


def stages(
    specs: Specs, forms: tuple[NormalForm, NormalForm], pieces: Iterable[bytes], alphabet: str,
    most: int,
) -> Iterator[Stage]:  # fmt: skip
    """The stages of a search, of about `most` texts each.

    `pieces` are bytes that are known to be merged differently.
    """
    yield "texts of 1 and 2 characters", itertools.chain(alphabet, short_texts(alphabet, 2, most))
    contexts = alphabet[: max(4, min(len(alphabet), most // 50_000))]
    yield "added tokens, alone and beside others", _around_added_tokens(specs, alphabet[:12])
    merged = itertools.chain(pieces, _differing_pieces(specs, forms))
    found = _texts_of(itertools.islice(merged, _MOST_PIECES))
    yield "tokens and merges of one only", _in_contexts(found, alphabet[:20])
    yield "texts of 3 characters", short_texts(alphabet, 3, most)
    yield "tokens", list(dict.fromkeys(itertools.islice(_token_texts(specs), most)))
    yield "characters", map(chr, code_points(4 * most))
    for length in (4, 5, 6, 8):
        yield f"texts of {length} characters", short_texts(alphabet, length, most)
    few = itertools.islice(_token_texts(specs), most // (2 * len(contexts)))
    yield "tokens beside a character", _in_contexts(few, contexts)
    yield "rows of tokens", _rows_of_tokens(specs, most // 4)


def code_points(most: int) -> Iterator[int]:
    """The first characters of all, by number."""
    return itertools.islice(itertools.chain(range(0xD800), range(0xE000, 0x110000)), most)


def _in_contexts(texts: Iterable[str], contexts: str) -> Iterator[str]:
    for text in texts:
        yield text
        for character in contexts:
            yield character + text
            yield text + character


def _around_added_tokens(specs: Specs, contexts: str) -> Iterator[str]:
    contents = [{token.content: token for token in spec.added_tokens} for spec in specs]
    every = sorted({*contents[0], *contents[1]}, key=lambda c: (len(c), c))
    differing = [c for c in every if contents[0].get(c) != contents[1].get(c)]
    chosen = list(dict.fromkeys([*differing, *every]))[:_MOST_ADDED]
    yield from chosen
    for content in chosen:
        yield from (content[:-1], content[1:], content.lower(), content.upper(), content * 2)
        for left, right in itertools.product(["", *contexts], repeat=2):
            yield left + content + right
            yield left * 2 + content + right * 2
    few = chosen[:30]
    for one, two in itertools.product(few, few):
        yield one + two
        yield f"{one} {two}"


def _differing_pieces(specs: Specs, forms: tuple[NormalForm, NormalForm]) -> Iterator[bytes]:
    """The bytes of tokens that only one of two tokenizers has, or makes in this way."""
    known = [spec.normal_ids() for spec in specs]
    both = known[0].items() ^ known[1].items()
    yield from sorted({token for token, _ in both}, key=lambda token: (len(token), token))
    merged = [_made(spec, form.merging) for spec, form in zip(specs, forms, strict=True)]
    both = merged[0].items() ^ merged[1].items()
    yield from sorted({token for token, _ in both}, key=lambda token: (len(token), token))
    for one, other in (forms, forms[::-1]):
        yield from sorted(one.merging.whole.keys() - other.merging.whole.keys(), key=len)


def _made(spec: TokenizerSpec, merging: Merging) -> dict[bytes, int]:
    """Each token that merges make, and the length of its left part."""
    tokens = spec.tokens
    kept = merging.rows[(merging.rows < len(tokens)).all(axis=1)]
    return {tokens[made]: len(tokens[left]) for left, _, made in kept.tolist()}


def _texts_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """The pieces as texts; of one that starts or ends inside a character, some that hold it."""
    for piece in dict.fromkeys(pieces):
        try:
            yield piece.decode()
        except UnicodeDecodeError:
            yield from _completed(piece)


_HEADS = (b"", b"\xc3", b"\xd0", b"\xe2", b"\xe4", b"\xea", b"\xe2\x80", b"\xe4\xb8", b"\xf0\x9f",
          b"\xf0\x9f\x98", b"\xf0\xa0")  # fmt: skip
_TAILS = (b"", b"\x80", b"\xa0", b"\xbf", b"\x80\x80", b"\xa0\x80", b"\x80\x80\x80",
          b"\xa0\x80\x80")  # fmt: skip


def _completed(piece: bytes) -> Iterator[str]:
    for head, tail in itertools.product(_HEADS, _TAILS):
        try:
            yield (head + piece + tail).decode()
        except UnicodeDecodeError:
            continue


def _token_texts(specs: Specs) -> Iterator[str]:
    """The tokens of both by turns, shorter ids first; those that are no text are left out."""
    for pair in itertools.zip_longest(*(spec.tokens for spec in specs)):
        for token in dict.fromkeys(pair):
            if token:
                try:
                    yield token.decode()
                except UnicodeDecodeError:
                    continue


def _rows_of_tokens(specs: Specs, count: int) -> Iterator[str]:
    """Two to six tokens in a row, the same ones in every search."""
    tokens = list(dict.fromkeys(_token_texts(specs)))
    choose = random.Random(0)
    for _ in range(count if tokens else 0):
        yield "".join(choose.choices(tokens, k=choose.randint(2, 6)))
