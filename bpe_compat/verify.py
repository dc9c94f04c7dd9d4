"""`convert`: from format to format, with a proof that no id changed."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import converters
from .errors import BPECompatError
from .progress import Progress
from .ranks import missing_bytes
from .spec import TokenizerSpec
from .tokenizer import Tokenizer

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


def convert(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    *,
    to: str,
    source_format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    allow_loss: bool = False,
    progress: bool | None = False,
) -> None:
    """Reads a tokenizer in any readable format and writes it in another.

    What a trial copy is read as must give the same ids on texts that tokenizers commonly disagree
    on, and for every token; otherwise `BPECompatError` is raised and nothing written. With
    `allow_loss` that is not checked. `progress` shows a bar on stderr; None means on a terminal
    only. Raises `LossyConversionError` for what `to` cannot hold.

    >>> import bpe_compat as bc
    >>> tok = bc.train(["low lower"], 258)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tok.save(f"{folder}/a")
    ...     convert(f"{folder}/a", f"{folder}/b", to="gpt2")
    ...     bc.load(f"{folder}/b").spec == tok.spec
    True
    """
    converters.check_target(dst, to)
    spec = converters.read(
        src, format=source_format, pattern=pattern, special_tokens=special_tokens
    )
    if not allow_loss:
        with tempfile.TemporaryDirectory() as folder:
            trial = Path(folder) / (Path(dst).name or "trial")
            converters.write(spec, trial, format=to)
            _compare(spec, converters.read(trial, format=to), progress)
    converters.write(spec, dst, format=to, allow_loss=allow_loss)


def _compare(source: TokenizerSpec, written: TokenizerSpec, progress: bool | None) -> None:
    """Raises `BPECompatError` for the first text on which two specs differ."""
    a, b = Tokenizer(source), Tokenizer(written)
    if source.special_tokens != written.special_tokens:
        raise BPECompatError("the special tokens came back with other ids")
    texts = _encodable(source, [*PROBES, *_token_texts(source)])
    with Progress(progress, "comparing", len(texts), "text") as bar:
        for text in texts:
            _compare_on(text, a, b)
            bar.finish(1)


def _compare_on(text: str, a: Tokenizer, b: Tokenizer) -> None:
    for specials in ("text", "encode"):
        ids = [t.encode_arrays([text], specials=specials).ids.tolist() for t in (a, b)]
        if ids[0] != ids[1]:
            raise BPECompatError(f"the text {text!r} became {ids[1]} instead of {ids[0]}")
    if a.decode(ids[0]) != b.decode(ids[1]):
        raise BPECompatError(f"the ids {ids[0]} of {text!r} are decoded differently")


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
