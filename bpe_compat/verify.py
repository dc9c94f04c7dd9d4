"""`convert`: from format to format, with a proof that no id changed."""

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import converters, libraries
from .errors import BPECompatError, LossyConversionError
from .flat import collector_paused
from .models import model_of
from .progress import Progress
from .ranks import merges_of, missing_bytes
from .spec import TokenizerSpec
from .tokenizer import TokenArrays, Tokenizer

__all__ = ["PROBES", "convert"]

PROBES = (
    "",
    " ",
    "  \n\n \t x \r\n",
    "Hello, World! It's 2026; I'll've THEY'RE we'd 'Tis.",
    "1234567 3.14159265 2026-11-29 ½ Ⅷ ٣٤٥٦",
    "def f(x):\n    return x ** 2  # camelCase HTTPServer snake_case\n\n\n",
    "naïve café cafe\u0301 ÅÄÖ ßſ ǅ ʰ Ελληνικά Русский עברית العربية हिन्दी ไทย 日本語 한국어",
    "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 \u200b\u2060\ufeff\u00a0\u2028\u3000.",
    "\x00\x01\x1c\x7f\ue000\U000e0001\u0378",
    "<|endoftext|><s></s>[PAD]<unk>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 8,
)
"""Texts that tokenizers commonly disagree on."""


@collector_paused()
def convert(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    *,
    to: str,
    source_format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    allow_loss: bool = False,
    verify: bool = True,
    progress: bool | None = False,
    **options: Any,
) -> list[str]:
    """Reads a tokenizer in any readable format, writes it in another, and returns what was lost.

    A trial copy is written first. What it is read as must give the same ids on texts that
    tokenizers commonly disagree on, and for every token; and so must the library that the format
    is for, if it is installed (see `libraries.LIBRARIES`). Otherwise `BPECompatError` is raised
    and nothing written. That is not tried if something was lost, or without `verify`. `options`
    are those of the format, as for `converters.write`. `progress` shows a bar on stderr; None
    means on a terminal only. Raises `LossyConversionError` for what `to` cannot hold, unless
    `allow_loss`.

    >>> import tempfile, bpe_compat as bc
    >>> tok = bc.train(["low lower"], 258)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tok.save(f"{folder}/a")
    ...     lost = convert(f"{folder}/a", f"{folder}/b", to="gpt2")
    ...     bc.load(f"{folder}/b").spec == tok.spec, lost
    (True, [])
    """
    import tempfile

    converters.check_target(dst, to)
    spec = converters.read(
        src, format=source_format, pattern=pattern, special_tokens=special_tokens
    )
    _model = model_of(spec)  # held, so that writing and comparing share it
    with tempfile.TemporaryDirectory() as folder:
        name = Path(dst).name
        trial = Path(folder) / ("trial" if name in ("", "..") else name)
        losses: list[str] = []
        try:
            files = converters.write(spec, trial, format=to, **options)
        except LossyConversionError as error:
            if not allow_loss:
                raise
            losses = error.losses
            files = converters.write(spec, trial, format=to, allow_loss=True, **options)
        if verify and not losses:
            _prove(spec, trial, to, progress)
        converters.base.write_files({
            _moved(path, trial, Path(dst)): path.read_bytes() for path in files
        })  # fmt: skip
    return losses


def _moved(path: Path, trial: Path, dst: Path) -> Path:
    """Where a file of the trial copy belongs: inside a folder, or beside a file."""
    if path.is_relative_to(trial):
        return dst / path.relative_to(trial)
    return dst.with_name(path.name)


def _prove(source: TokenizerSpec, trial: Path, format: str, progress: bool | None) -> None:
    """Raises `BPECompatError` if what was written is another tokenizer, to us or its library."""
    probes = _encodable(source, [*PROBES, *_token_texts(source)])
    with _asked(source, trial, format, probes) as answer:
        written = converters.read(trial, format=format)
        if source.special_tokens != written.special_tokens:
            raise BPECompatError("the special tokens came back with other ids")
        a = Tokenizer(source)
        # With equal parts our ids are equal, too; of recovered merges only the library is a judge.
        equal = written == source or (answer is not None and _differ_in_rule(source, written))
        b = a if equal else Tokenizer(written)
        with Progress(progress, "comparing", 2 * len(probes), "text") as bar:
            for specials in _WAYS:
                expected = a.encode_arrays(probes, specials=specials)
                if b is not a:
                    _compare(probes, expected, b.encode_arrays(probes, specials=specials))
                    _compare_decoded(expected, a, b)
                if answer is not None:
                    _compare_with_library(probes, expected, answer, format, specials)
                bar.finish(len(probes))


def _differ_in_rule(source: TokenizerSpec, written: TokenizerSpec) -> bool:
    """Whether ranks became the merges that are recovered from them, and all else is equal."""
    if source.merge_rule != "ranks" or written.merge_rule != "pairs":
        return False
    recovered = merges_of(source)
    rule = {"merge_rule", "merges", "ignore_merges"}
    names = [f.name for f in fields(source) if f.compare and f.name not in rule]
    return (
        all(getattr(source, name) == getattr(written, name) for name in names)
        and written.merges == recovered.merges
        and written.ignore_merges == recovered.ignore_merges
    )


_WAYS: tuple[Literal["text"], Literal["encode"]] = ("text", "encode")


@contextlib.contextmanager
def _asked(
    spec: TokenizerSpec, trial: Path, format: str, probes: Sequence[str]
) -> Iterator[libraries.Answer | None]:
    """Asks the library of the format, if there is one, while we read and compare ourselves."""
    # subword-nmt keeps characters that have no token; without an unknown token they have no id.
    silent = format == "subword_nmt" and spec.unknown is None
    if silent or libraries.installed(format) is None:
        yield None
        return
    question: dict[str, Any] = {}
    if format == "tiktoken":
        question["pattern"] = converters.tiktoken.pattern_of(spec)
    elif format == "gguf":
        question["metadata"] = converters.gguf.container.metadata(trial, lambda _: True)
    import tempfile

    with (
        tempfile.TemporaryDirectory() as folder,
        libraries.Answer(format, trial, question, probes, Path(folder)) as answer,
    ):
        yield answer


def _compare(
    texts: Sequence[str], expected: TokenArrays, found: TokenArrays, who: str = ""
) -> None:
    """Raises `BPECompatError` for the first text with other ids."""
    if np.array_equal(expected.ids, found.ids) and np.array_equal(expected.offsets, found.offsets):
        return
    for place, text in enumerate(texts):
        ids = [t.ids[t.offsets[place] : t.offsets[place + 1]].tolist() for t in (expected, found)]
        if ids[0] != ids[1]:
            shown = [_around_difference(*ids), _around_difference(*ids[::-1])]
            raise BPECompatError(
                f"the text {text[:80]!r} became {shown[1]} instead of {shown[0]}{who}"
            )


def _around_difference(ids: list[int], others: list[int]) -> str:
    """Some ids from a little before the first one in which two lists differ."""
    same = next((i for i, (a, b) in enumerate(zip(ids, others, strict=False)) if a != b), None)
    at = max(0, (min(len(ids), len(others)) if same is None else same) - 2)
    cut = ids[at : at + 8]
    return f"{'… ' * (at > 0)}{cut}{' …' * (at + 8 < len(ids))}"


def _compare_decoded(encoded: TokenArrays, a: Tokenizer, b: Tokenizer) -> None:
    if (a.spec.tokens, a.spec.kinds, a.spec.decoder, a.spec.added_tokens) == (
        b.spec.tokens, b.spec.kinds, b.spec.decoder, b.spec.added_tokens,
    ):  # fmt: skip
        return
    for start, end in itertools.pairwise(encoded.offsets.tolist()):
        ids = encoded.ids[start:end].tolist()
        if a.decode(ids) != b.decode(ids):
            raise BPECompatError(f"the ids {ids[:20]} … are decoded differently")


def _compare_with_library(
    texts: Sequence[str],
    expected: TokenArrays,
    answer: libraries.Answer,
    format: str,
    specials: Literal["text", "encode"],
) -> None:
    package = libraries.LIBRARIES[format][0]
    if error := answer.error():
        raise BPECompatError(f"{package} cannot use what was written: {error}")
    found = answer.ids(specials)
    if found is not None:
        _compare(texts, expected, TokenArrays(*found), f" in {package}")


def _encodable(spec: TokenizerSpec, texts: list[str]) -> list[str]:
    """The texts without characters that are an error because a byte of them has no token."""
    missing = set(missing_bytes(spec)) if spec.merge_rule == "ranks" else set()
    if not missing:
        return texts
    return ["".join(c for c in text if missing.isdisjoint(c.encode())) for text in texts]


def _token_texts(spec: TokenizerSpec) -> list[str]:
    """All tokens, a few hundred to a text, each after a line end so that most start a piece."""
    tokens = [token.decode("utf-8", "replace") for token in spec.tokens if token]
    return ["\n".join(tokens[i : i + 500]) for i in range(0, len(tokens), 500)]
