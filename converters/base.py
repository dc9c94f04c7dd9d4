"""What every format module shares: the shape of a format, losses, ids, safe files."""

import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..atomic import replaced
from ..errors import FormatError, LossyConversionError, UnsupportedError
from ..spec import TokenizerSpec, check_text

__all__ = [
    "Format",
    "Part",
    "Reader",
    "Writer",
    "checked_special_tokens",
    "flag_losses",
    "id_limit",
    "plain_losses",
    "read_array",
    "read_bytes",
    "read_text",
    "refuse_losses",
    "require",
    "write_files",
]


T = TypeVar("T")


class Reader(Protocol):
    """Reads a file or folder; `pattern` and `special_tokens` fill in what the format lacks."""

    def __call__(
        self, path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
    ) -> TokenizerSpec: ...


Writer = Callable[..., list[Path]]
"""Writes what a format can hold of a spec to a path, with options; returns the files it wrote."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, what it is, and how to recognise, read and write it.

    `detect` tells by the content of a path that exists; `losses` lists what writing a spec would
    lose, a few words each, and raises `UnsupportedError` if nothing would be left of it; `write` is
    None for what can only be read; `folder` says whether a folder is written or a file.
    """

    name: str
    description: str
    detect: Callable[[Path], bool]
    read: Reader
    losses: Callable[[TokenizerSpec], list[str]] = lambda _: []
    write: Writer | None = None
    folder: bool = False

    def check_target(self, path: Path) -> None:
        """Refuses to write what can only be read, a folder over a file, or a file over a folder."""
        if self.write is None:
            raise UnsupportedError(f"{path}: the format {self.name} can only be read")
        if path.is_file() and self.folder:
            raise FormatError(f"{path}: is a file; the format {self.name} is a folder")
        if path.is_dir() and not self.folder:
            raise FormatError(f"{path}: is a folder; the format {self.name} is a file")


def refuse_losses(format: str, losses: list[str], *, allow_loss: bool) -> None:
    """Raises `LossyConversionError` if something would be lost and nobody said that it may be."""
    if losses and not allow_loss:
        raise LossyConversionError(format, losses)


Part = Literal["normalizers", "template", "prefix_space", "unknown", "affixes", "decoder"]


def plain_losses(spec: TokenizerSpec, *held: Part) -> list[str]:
    """What formats lack that hold tokens and a split, and of the rest these parts alone."""
    normalizers = ", ".join(step.kind for step in spec.normalizers)
    decoder = ", ".join(step.kind for step in spec.decoder)
    found: dict[Part, tuple[str, Any]] = {
        "normalizers": (f"the normalizers {normalizers}", spec.normalizers),
        "template": ("the template around a text", spec.template),
        "prefix_space": ("a space in front of the text", spec.prefix_space),
        "unknown": ("an unknown token", spec.unknown is not None),
        "affixes": ("a prefix or suffix of tokens", spec.prefix or spec.suffix),
        "decoder": (f"the decoder {decoder}", spec.decoder),
    }
    return [loss for part, (loss, there) in found.items() if there and part not in held]


def flag_losses(spec: TokenizerSpec) -> list[str]:
    """What formats lack that know of an added token its text and id, and nothing else."""
    found = []
    for token in spec.added_tokens:
        if token.lstrip or token.rstrip or token.single_word or not token.special:
            found.append(f"the flags of the added token {token.content!r}")
        if spec.tokens[token.id] != token.content.encode():
            found.append(
                f"the text {spec.tokens[token.id]!r} that the added token {token.content!r} is "
                "decoded to"
            )
    if len({token.normalized for token in spec.added_tokens}) > 1:
        found.append("added tokens that are looked for before others")
    return found


def id_limit(count: int) -> int:
    """The greatest id that a file with so many tokens may use.

    Real vocabularies have gaps of some thousands; a file of a hundred bytes that names an id in the
    billions must not fill the memory.
    """
    return count + (1 << 20)


def checked_special_tokens(tokens: Mapping[str, int], count: int) -> dict[str, int]:
    """Special tokens that a caller gave for a vocabulary of `count` tokens."""
    for content, id in tokens.items():
        if not isinstance(content, str) or not content:
            raise FormatError(f"the special token {content!r} must be a string with content")
        check_text(content)
        if isinstance(id, bool) or not hasattr(id, "__index__"):
            raise FormatError(f"the id of the special token {content!r} is {id!r}, no integer")
        if not 0 <= id <= id_limit(count + len(tokens)):
            raise FormatError(f"the special token {content!r} has the id {id}: out of range")
    return {content: int(id) for content, id in tokens.items()}


def read_bytes(path: Path) -> bytes:
    """The content of a file; a missing one is a `FormatError` that names it."""
    return _read(path, Path.read_bytes)


def read_array(path: Path) -> npt.NDArray[np.uint8]:
    """The same for a large file: NumPy has huge pages, which are written faster."""

    def read(path: Path) -> npt.NDArray[np.uint8]:
        with path.open("rb", buffering=0) as file:
            data = np.empty(os.fstat(file.fileno()).st_size, np.uint8)
            filled = 0
            while filled < len(data) and (more := file.readinto(data.data[filled:])):
                filled += more
        return data[:filled]

    return _read(path, read)


def _read(path: Path, read: Callable[[Path], T]) -> T:
    try:
        return read(path)
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: is a folder, not a file") from None


def read_text(path: Path) -> str:
    """The same for UTF-8; a byte order mark is dropped."""
    try:
        return read_bytes(path).removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name}: byte {error.start} is not UTF-8") from error


def write_files(files: Mapping[Path, bytes | memoryview]) -> list[Path]:
    """Writes files so that each is there whole or not at all, and none if writing one fails."""
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(*files) as parts:
        for part, content in zip(parts, files.values(), strict=True):
            part.write(content)
    return list(files)


def require(package: str) -> None:
    """Raises `ModuleNotFoundError` that says what to do if an optional package is not there."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(
            f"this needs the package {package}: pip install {package}", name=package
        )
