"""Normalizers and split steps in Python, for specs that have no native scanner.

Slow and plain: `tests` use it as a second opinion on the native scanners, too.
"""

import functools
import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from . import charsmap, dialects
from .bytelevel import from_characters, to_characters
from .spec import Behavior, Normalizer, Split

__all__ = ["Piece", "byte_splitter", "normalizer", "prefixed", "splitter", "to_bytes"]

Piece = tuple[str, int, int]
"""A piece and where it starts and ends in its text, in characters."""


def normalizer(steps: tuple[Normalizer, ...]) -> Callable[[str], str]:
    """A function that applies these steps in turn."""
    functions = [_normalizer_step(step) for step in steps]
    return lambda text: functools.reduce(lambda t, f: f(t), functions, text)


def prefixed(text: str, *, prefix_space: bool) -> str:
    """The text with a space in front, if the tokenizer wants one and there is none."""
    return f" {text}" if prefix_space and text and not text.startswith(" ") else text


def _normalizer_step(step: Normalizer) -> Callable[[str], str]:
    match step.kind:
        case "nfc" | "nfd" | "nfkc" | "nfkd":
            form = step.kind.upper()
            return lambda text: unicodedata.normalize(form, text)  # type: ignore[arg-type]
        case "lowercase":  # each character alone: no final sigma
            return lambda text: "".join(c.lower() for c in text)
        case "strip_accents":
            return lambda text: "".join(c for c in text if unicodedata.category(c)[0] != "M")
        case "strip":
            import regex

            ends = ([r"\A\s+"] if step.left else []) + ([r"\s+\Z"] if step.right else [])
            return lambda text: regex.sub("|".join(ends), "", text) if ends else text
        case "prepend":
            return lambda text: step.content + text if text else text
        case "charsmap":
            return charsmap.replacer(step.content)
        case "replace":
            pattern = dialects.matcher(step.pattern)
            return lambda text: _replaced(pattern, step.content, text)


def _replaced(pattern: dialects.Matcher, content: str, text: str) -> str:
    out: list[str] = []
    last = 0
    for start, end in pattern.spans(text):
        out += (text[last:start], content)
        last = end
    return "".join((*out, text[last:]))


def splitter(splits: tuple[Split, ...]) -> Callable[[str], list[Piece]]:
    """A function that cuts a text into pieces by these steps, each on the pieces of the last."""
    steps = [_splitter_step(split) for split in splits]
    mapped = next((i for i, split in enumerate(splits) if split.mapped), len(steps))

    def pieces(text: str) -> list[Piece]:
        found = [(text, 0, len(text))] if text else []
        for step in steps[:mapped]:
            found = [
                (piece[a:b], start + a, start + b)
                for piece, start, _ in found
                for a, b in step(piece)
            ]
        if mapped < len(steps):
            found = [part for piece in found for part in _split_bytes(piece, steps[mapped:])]
        return found

    return pieces


def byte_splitter(splits: tuple[Split, ...]) -> Callable[[str], list[tuple[int, int]]]:
    """The same, as the ranges of bytes (begin, end) of the pieces in the text's UTF-8."""
    mapped = next((i for i, split in enumerate(splits) if split.mapped), len(splits))
    in_characters = splitter(splits[:mapped])
    steps = [_splitter_step(split) for split in splits[mapped:]]

    def ranges(text: str) -> list[tuple[int, int]]:
        found = [(start, end) for _, start, end in in_characters(text)]
        if not text.isascii():
            begins = [0, *itertools.accumulate(len(character.encode()) for character in text)]
            found = [(begins[start], begins[end]) for start, end in found]
        if not steps:
            return found
        spelled = to_characters(text.encode())
        for step in steps:
            found = [(a + x, a + y) for a, b in found for x, y in step(spelled[a:b])]
        return found

    return ranges


def to_bytes(piece: str) -> bytes:
    """The bytes of a piece, which are surrogate escapes in it where they are no UTF-8."""
    return piece.encode("utf-8", "surrogateescape")


_Step = Callable[[str], list[tuple[int, int]]]


def _split_bytes(piece: Piece, steps: list[_Step]) -> Iterator[Piece]:
    """Steps that see the bytes of a piece, each as its GPT-2 character.

    The pieces are handed on as strings of surrogate escapes where they are no UTF-8.
    """
    text, start, _ = piece
    spelled = to_characters(to_bytes(text))
    parts = [(0, len(spelled))]
    for step in steps:
        parts = [(a + x, a + y) for a, b in parts for x, y in step(spelled[a:b])]
    # The character that each byte belongs to.
    character = [i for i, c in enumerate(text) for _ in range(len(to_bytes(c)))]
    for a, b in parts:
        part = from_characters(spelled[a:b]) or b""
        yield (
            part.decode("utf-8", "surrogateescape"),
            start + character[a],
            start + character[b - 1] + 1,
        )


def _splitter_step(split: Split) -> _Step:
    pattern = dialects.matcher(split.pattern)

    def step(text: str) -> list[tuple[int, int]]:
        parts: list[tuple[int, int, bool]] = []
        last = 0
        for start, end in pattern.spans(text):
            if start > last:
                parts.append((last, start, split.invert))
            parts.append((start, end, not split.invert))
            last = end
        if last < len(text):
            parts.append((last, len(text), split.invert))
        return [(a, b) for a, b in _arrange(parts, split.behavior) if a < b]

    return step


def _arrange(parts: list[tuple[int, int, bool]], behavior: Behavior) -> Iterable[tuple[int, int]]:
    """What tokenizers' SplitDelimiterBehavior makes of matches and the text between them."""
    if behavior == "isolated":
        return [(a, b) for a, b, _ in parts]
    if behavior == "removed":
        return [(a, b) for a, b, matched in parts if not matched]
    arranged: list[list[int]] = []
    previous = False
    backwards = behavior == "merged_with_next"
    for a, b, matched in reversed(parts) if backwards else parts:
        joins = matched == previous if behavior == "contiguous" else matched and not previous
        if joins and arranged:
            arranged[-1][0 if backwards else 1] = a if backwards else b
        else:
            arranged.append([a, b])
        previous = matched
    return [(a, b) for a, b in (reversed(arranged) if backwards else arranged)]
