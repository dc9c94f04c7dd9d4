"""Readers and writers of tokenizer files around one model, `TokenizerSpec`.

A format is one module here with a `FORMAT`; `FORMATS` lists them all. Nothing is dropped in
silence: what a file says and a spec cannot is an `UnsupportedError`, what a spec says and a format
cannot a `LossyConversionError`.
"""

import os
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from ..flat import collector_paused
from ..spec import TokenizerSpec
from .base import Format, refuse_losses

if TYPE_CHECKING:
    from . import (
        clip,
        gguf,
        gpt2,
        huggingface,
        js_tiktoken,
        llama2c,
        minbpe,
        not_bpe,
        sentencepiece,
        subword_nmt,
        tekken,
        tiktoken,
    )

__all__ = [
    "FORMATS",
    "Format",
    "check_target",
    "clip",
    "detect",
    "gguf",
    "gpt2",
    "huggingface",
    "js_tiktoken",
    "llama2c",
    "minbpe",
    "not_bpe",
    "read",
    "sentencepiece",
    "subword_nmt",
    "tekken",
    "tiktoken",
    "write",
]


class _Formats(MutableMapping[str, Format]):
    """Imports the module of a format when it is first looked at."""

    def __init__(self, *names: str) -> None:
        self._formats: dict[str, Format | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Format:
        format = self._formats[name]
        if format is None:
            format = self._formats[name] = import_module(f".{name}", __name__).FORMAT
        return format

    def __setitem__(self, name: str, format: Format) -> None:
        self._formats[name] = format

    def __delitem__(self, name: str) -> None:
        del self._formats[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


FORMATS = _Formats(
    "huggingface", "gpt2", "gguf", "js_tiktoken", "tekken", "minbpe", "clip", "llama2c", "not_bpe",
    "tiktoken", "sentencepiece", "subword_nmt",
)  # fmt: skip
"""Every format by its name, which is that of its module; `detect` tries them in this order."""


def __getattr__(name: str) -> Any:
    if name not in FORMATS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format of a file or folder, told by its content.

    Raises `FormatError` if it is none that is known.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ranks"
    ...     _ = path.write_bytes(b"YQ== 0")
    ...     detect(path)
    'tiktoken'
    """
    path = Path(path)
    if not path.exists():
        raise FormatError(f"{path}: no such file or folder")
    for format in FORMATS.values():
        if format.detect(path):
            return format.name
    raise FormatError(f"{path}: in none of the formats {', '.join(FORMATS)}; pass format=")


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> TokenizerSpec:
    """The spec in a file or folder.

    `pattern` and `special_tokens` are for formats that do not hold them. Raises `FormatError` if
    the content is not what its format says, and `UnsupportedError` for what a spec cannot express.

    >>> import tempfile
    >>> spec = TokenizerSpec((b"a", b"b", b"ab"), merges=((0, 1),), byte_level=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(spec, folder, format="huggingface")
    ...     read(folder).merges
    ((0, 1),)
    """
    chosen = _format(format or detect(path))
    with collector_paused():
        return chosen.read(Path(path), pattern, special_tokens)


def write(
    spec: TokenizerSpec,
    path: str | os.PathLike[str],
    *,
    format: str,
    allow_loss: bool = False,
    **options: Any,
) -> list[Path]:
    """Writes a spec to a file or folder, whole or not at all, and returns the files written.

    `options` are those of the format (`plugin` of huggingface). Raises `LossyConversionError`
    naming each loss, unless `allow_loss`, and `UnsupportedError` if the format can hold nothing of
    this tokenizer or is only read.

    >>> import tempfile
    >>> spec = TokenizerSpec((b"a", b"b", b"ab"), merges=((0, 1),), byte_level=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in write(spec, folder, format="huggingface"))
    ['tokenizer.json', 'tokenizer_config.json']
    """
    chosen = _format(format)
    check_target(path, format)
    assert chosen.write is not None  # check_target refuses the others
    with collector_paused():
        refuse_losses(format, chosen.losses(spec), allow_loss=allow_loss)
        return chosen.write(spec, Path(path), **options)


def check_target(path: str | os.PathLike[str], format: str) -> None:
    """Raises an error if a folder would be written over a file or the other way round.

    It is a `FormatError`, or `UnsupportedError` for a format that can only be read.
    """
    _format(format).check_target(Path(path))


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise FormatError(f"no format is named {name!r}; known: {', '.join(FORMATS)}")
    return FORMATS[name]
