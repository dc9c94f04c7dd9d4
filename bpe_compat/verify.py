"""`convert`: from format to format, with a proof that no id changed."""

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import converters, libraries
from .comparing import compare
from .errors import BPECompatError, LossyConversionError
from .flat import collector_paused
from .models import model_of
from .progress import Progress
from .ranks import missing_bytes
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

    A trial copy is written first. What it is read as must be the same tokenizer: an equal spec, or
    `compare` proves equal ids for all texts; what it can only search for a difference must give
    the same ids for every token and for `PROBES`. The library that the format is for, if it is
    installed (see `libraries.LIBRARIES`), must give the same ids for `PROBES`, every added token,
    and every token, or of large vocabularies some thousands all over them. Otherwise
    `BPECompatError` is raised and nothing written. None of this is tried if something was lost, or
    without `verify`. `options` are those of the format, as for `converters.write`. `progress` shows
    a bar on stderr; None means on a terminal only. Raises `LossyConversionError` for what `to`
    cannot hold, unless `allow_loss`.

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
    with tempfile.TemporaryDirectory() as folder, _library(to, verify=verify) as library:
        spec = converters.read(
            src, format=source_format, pattern=pattern, special_tokens=special_tokens
        )
        _model = model_of(spec)  # held, so that writing and comparing share it
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
            _prove(spec, trial, to, library, progress)
        converters.base.write_files({
            _moved(path, trial, Path(dst)): path.read_bytes() for path in files
        })  # fmt: skip
    return losses


def _moved(path: Path, trial: Path, dst: Path) -> Path:
    """Where a file of the trial copy belongs: inside a folder, or beside a file."""
    if path.is_relative_to(trial):
        return dst / path.relative_to(trial)
    return dst.with_name(path.name)


@contextlib.contextmanager
def _library(format: str, *, verify: bool) -> Iterator[libraries.Library | None]:
    """The library of a format, if there is one and it is wanted: it starts before the file is."""
    if not verify or libraries.installed(format) is None:
        yield None
        return
    import tempfile

    with (
        tempfile.TemporaryDirectory() as folder,
        libraries.Library(format, Path(folder)) as library,
    ):
        yield library


def _prove(
    source: TokenizerSpec,
    trial: Path,
    format: str,
    library: libraries.Library | None,
    progress: bool | None,
) -> None:
    """Raises `BPECompatError` if what was written is another tokenizer, to us or its library."""
    texts = _texts(source)
    asked = library is not None and _ask(library, source, trial, format, texts)
    written = converters.read(trial, format=format)
    tok = Tokenizer(source)
    if written != source:
        _prove_equal(tok, Tokenizer(written), progress)
    if library is not None and asked:
        for specials in _WAYS:
            expected = tok.encode_arrays(texts[specials], specials=specials)
            _compare_with_library(texts[specials], expected, library, specials)


_WAYS: tuple[Literal["text"], Literal["encode"]] = ("text", "encode")


def _prove_equal(a: Tokenizer, b: Tokenizer, progress: bool | None) -> None:
    """The same of two tokenizers of ours: by proof, or else by every token and the probes."""
    if a.spec.special_tokens != b.spec.special_tokens:
        raise BPECompatError("the special tokens came back with other ids")
    found = compare(a, b, most=_MOST_SEARCHED)
    if found.difference:
        raise BPECompatError(f"other ids came back: {found.reason}")
    decoded_alike = _decoded_alike(a.spec, b.spec)
    if found and decoded_alike:
        return
    texts = _encodable(a.spec, [*PROBES, *_together(_contents(a.spec, a.spec.vocab_size))])
    with Progress(progress, "comparing", len(_WAYS) * len(texts), "text") as bar:
        for specials in _WAYS:
            expected = a.encode_arrays(texts, specials=specials)
            _compare(texts, expected, b.encode_arrays(texts, specials=specials))
            if not decoded_alike:
                _compare_decoded(expected, a, b)
            bar.finish(len(texts))


_MOST_SEARCHED = 2_000
"""Texts of each kind among which a difference is looked for where there is no proof."""


def _ask(
    library: libraries.Library,
    spec: TokenizerSpec,
    trial: Path,
    format: str,
    texts: Mapping[str, list[str]],
) -> bool:
    """Asks the library for the ids of texts, while we go on; False if it would have none."""
    # subword-nmt keeps characters that have no token; without an unknown token they have no id.
    if format == "subword_nmt" and spec.unknown is None:
        return False
    told: dict[str, Any] = {}
    if format == "tiktoken":
        told["pattern"] = converters.tiktoken.pattern_of(spec)
    elif format == "gguf":
        told["metadata"] = converters.gguf.container.metadata(trial, lambda _: True)
    library.ask(trial, texts, **told)
    return True


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


def _decoded_alike(a: TokenizerSpec, b: TokenizerSpec) -> bool:
    """Whether all that decoding depends on is the same."""
    others = [(spec.decoder, spec.added_tokens) for spec in (a, b)]
    return others[0] == others[1] and a.vocabulary.same_tokens(b.vocabulary)


def _compare_decoded(encoded: TokenArrays, a: Tokenizer, b: Tokenizer) -> None:
    for start, end in itertools.pairwise(encoded.offsets.tolist()):
        ids = encoded.ids[start:end].tolist()
        if a.decode(ids) != b.decode(ids):
            raise BPECompatError(f"the ids {ids[:20]} … are decoded differently")


def _compare_with_library(
    texts: Sequence[str],
    expected: TokenArrays,
    library: libraries.Library,
    specials: Literal["text", "encode"],
) -> None:
    if error := library.error():
        raise BPECompatError(f"{library.package} cannot use what was written: {error}")
    found = library.ids(specials)
    if found is not None:
        _compare(texts, expected, TokenArrays(*found), f" in {library.package}")


def _texts(spec: TokenizerSpec) -> dict[str, list[str]]:
    """What the library is asked for, by whether special tokens are text or become their ids.

    Where they become ids, tokens that hold none of them are the same texts again.
    """
    added = _together([token.content for token in spec.added_tokens])
    probes = _encodable(spec, [*PROBES, *added])
    return {
        "text": [*probes, *_encodable(spec, _together(_contents(spec, _MOST_TOKENS)))],
        "encode": probes,
    }


_MOST_TOKENS = 10_000
"""How many tokens the library is asked for: reading text takes it longer than loading the file."""


def _encodable(spec: TokenizerSpec, texts: list[str]) -> list[str]:
    """The texts without characters that are an error because a byte of them has no token."""
    missing = set(missing_bytes(spec)) if spec.merge_rule == "ranks" else set()
    if not missing:
        return texts
    return ["".join(c for c in text if missing.isdisjoint(c.encode())) for text in texts]


def _contents(spec: TokenizerSpec, most: int) -> list[str]:
    """All tokens as text, or about so many all over them."""
    tokens = spec.vocabulary
    ids = np.flatnonzero(tokens.sizes())
    ids = ids[:: max(1, -(-len(ids) // max(1, most)))]
    return [tokens[id].decode("utf-8", "replace") for id in ids.tolist()]


def _together(tokens: Sequence[str]) -> list[str]:
    """A few hundred to a text, each after a line end so that most start a piece."""
    return ["\n".join(tokens[i : i + 500]) for i in range(0, len(tokens), 500)]
