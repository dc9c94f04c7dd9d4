"""What every format module shares: the shape of a format, losses, safe files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import FormatError, LossyConversionError
from ..spec import TokenizerSpec

__all__ = ["Format", "Reader", "Writer", "read_bytes", "refuse_losses", "write_files"]


class Reader(Protocol):
    """Reads a file or folder; `pattern` and `special_tokens` fill in what the format lacks."""

    def __call__(
        self, path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
    ) -> TokenizerSpec: ...


class Writer(Protocol):
    """Writes a spec to a file or folder, refusing losses unless they are allowed.

    Returns the files it wrote.
    """

    def __call__(self, spec: TokenizerSpec, path: Path, *, allow_loss: bool) -> list[Path]: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, what it is, and how to recognise, read and write it.

    `detect` looks at a path that exists and must not raise; `folder` says what is written.
    """

    name: str
    description: str
    detect: "Detector"
    read: Reader
    write: Writer
    folder: bool = False


class Detector(Protocol):
    """Says whether a path holds a format, by content rather than by name."""

    def __call__(self, path: Path) -> bool: ...


def refuse_losses(format: str, losses: list[str], *, allow_loss: bool) -> None:
    """Raises `LossyConversionError` if something would be lost and nobody said that it may be."""
    if losses and not allow_loss:
        raise LossyConversionError(format, losses)


def read_bytes(path: Path) -> bytes:
    """The content of a file; a missing one is a `FormatError` that names it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise FormatError(f"{path}: is a folder, not a file") from None


def write_files(files: Mapping[Path, bytes]) -> list[Path]:
    """Writes files so that each is there whole or not at all, and none if writing one fails."""
    parts = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in files}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with parts[path].open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return list(files)
