"""Text that remembers which characters of its source each of its characters stands for.

Follows `NormalizedString` of tokenizers 0.23 (source: tokenizer/normalizer.rs), except that a
character that NFC or NFKC composes of several stands for all of them, and not only for the first.
"""

import functools
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from . import charsmap, dialects
from .spec import Normalizer

__all__ = ["Aligned", "aligner"]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A text; its character i stands for `starts[i]` to `ends[i]` of the source."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str, start: int = 0) -> "Aligned":
        """A part of the source itself, which begins there."""
        end = start + len(text)
        return cls(text, range(start, end), range(start + 1, end + 1))

    def part(self, begin: int, end: int) -> "Aligned":
        """Some of its characters."""
        return Aligned(self.text[begin:end], self.starts[begin:end], self.ends[begin:end])

    def prepended(self, content: str) -> "Aligned":
        """With a text in front that stands for the same as the first character."""
        if not self.text:
            return self
        more = len(content)
        return Aligned(
            content + self.text,
            [self.starts[0]] * more + list(self.starts),
            [self.ends[0]] * more + list(self.ends),
        )


Step = Callable[[Aligned], Aligned]


def aligner(steps: tuple[Normalizer, ...]) -> Step:
    """A function that applies these steps in turn; its texts are those of `pipeline.normalizer`."""
    functions = [_step(step) for step in steps]
    return lambda aligned: functools.reduce(lambda a, f: f(a), functions, aligned)


def _step(step: Normalizer) -> Step:
    match step.kind:
        case "nfc" | "nfd" | "nfkc" | "nfkd":
            return functools.partial(_normalized, step.kind.upper())
        case "lowercase":
            return lambda aligned: _mapped(aligned, str.lower)
        case "strip_accents":
            return lambda aligned: _mapped(
                aligned, lambda c: "" if unicodedata.category(c)[0] == "M" else c
            )
        case "strip":
            return functools.partial(_stripped, step.left, step.right)
        case "prepend":
            return lambda aligned: aligned.prepended(step.content)
        case "replace":
            return functools.partial(_replaced, dialects.matcher(step.pattern), step.content)
        case "charsmap":
            return functools.partial(_rewritten, charsmap.finder(step.content))


class _Builder:
    """Collects characters and what they stand for."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, text: str, start: int, end: int) -> None:
        self.texts.append(text)
        self.starts += [start] * len(text)
        self.ends += [end] * len(text)

    def copy(self, aligned: Aligned, begin: int, end: int) -> None:
        self.texts.append(aligned.text[begin:end])
        self.starts += aligned.starts[begin:end]
        self.ends += aligned.ends[begin:end]

    def built(self) -> Aligned:
        return Aligned("".join(self.texts), self.starts, self.ends)


def _mapped(aligned: Aligned, function: Callable[[str], str]) -> Aligned:
    made = _Builder()
    for character, start, end in zip(aligned.text, aligned.starts, aligned.ends, strict=True):
        made.add(function(character), start, end)
    return made.built()


def _stripped(left: bool, right: bool, aligned: Aligned) -> Aligned:
    import regex

    text = aligned.text
    begin, end = 0, len(text)
    if left and (space := regex.match(r"\s+", text)):
        begin = space.end()
    if right and begin < end and (space := regex.search(r"\s+\Z", text)):
        end = space.start()
    return aligned.part(begin, end)


def _replaced(pattern: dialects.Matcher, content: str, aligned: Aligned) -> Aligned:
    """What is put in stands for the last character of what it replaces."""
    made = _Builder()
    last = 0
    for begin, stop in pattern.spans(aligned.text):
        made.copy(aligned, last, begin)
        last = stop
        start, end = (aligned.starts[last - 1], aligned.ends[last - 1]) if last else (0, 0)
        made.add(content, start, end)
    made.copy(aligned, last, len(aligned.text))
    return made.built()


def _rewritten(find: Callable[[str], Iterator[tuple[int, int, str]]], aligned: Aligned) -> Aligned:
    """What is put in stands for all that it replaces."""
    made = _Builder()
    last = 0
    for begin, end, becomes in find(aligned.text):
        made.copy(aligned, last, begin)
        made.add(becomes, aligned.starts[begin], aligned.ends[end - 1])
        last = end
    made.copy(aligned, last, len(aligned.text))
    return made.built()


# Normalization forms


def _normalized(form: str, aligned: Aligned) -> Aligned:
    import regex

    text = aligned.text
    if unicodedata.is_normalized(form, text):  # type: ignore[arg-type]
        return aligned
    made = _Builder()
    # No form looks beyond a grapheme cluster.
    for cluster in regex.finditer(r"\X", text):
        begin, end = cluster.span()
        if unicodedata.is_normalized(form, cluster[0]):  # type: ignore[arg-type]
            made.copy(aligned, begin, end)
            continue
        at = begin
        for character, change in _changes(cluster[0], form):
            first = at - 1 if change > 0 else at
            at += max(0, 1 - change)
            made.add(character, aligned.starts[first], aligned.ends[max(first, at - 1)])
    return made.built()


def _changes(text: str, form: str) -> list[tuple[str, int]]:
    """The normalized text, with how many characters of the source each one takes.

    A change of 1 is one more for the same character, 0 takes one, -n takes n more.
    """
    decomposed: list[tuple[str, int]] = []
    for character in text:
        parts = unicodedata.normalize("NFKD" if "K" in form else "NFD", character)
        decomposed += [(part, int(i > 0)) for i, part in enumerate(parts)]
    ordered = _ordered(decomposed)
    return ordered if form.endswith("D") else _composed(ordered)


def _ordered(parts: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Runs of combining characters in the order of their classes."""
    ordered: list[tuple[str, int]] = []
    begin = 0
    for at in range(len(parts) + 1):
        if at == len(parts) or not unicodedata.combining(parts[at][0]):
            ordered += sorted(parts[begin:at], key=lambda part: unicodedata.combining(part[0]))
            begin = at
    return ordered


def _composed(parts: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Canonical composition (Unicode, section 3.11), with the changes added up."""
    composed: list[tuple[str, int]] = []
    starter = -1  # its place
    last_class = -1  # of what follows the starter
    for character, change in parts:
        combining = unicodedata.combining(character)
        if starter >= 0 and last_class < max(combining, 1):
            whole = unicodedata.normalize("NFC", composed[starter][0] + character)
            if len(whole) == 1 and (combining or last_class < 0):
                composed[starter] = (whole, composed[starter][1] + change - 1)
                continue
        if combining:
            last_class = combining
        else:
            starter, last_class = len(composed), -1
        composed.append((character, change))
    return composed
