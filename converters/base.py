"""What every format module shares: the shape of a format, losses, safe files."""

import os
from collections.abc import Callable, Mapping
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


Writer = Callable[..., list[Path]]
"""Writes what a format can hold of a spec to a path, with options; returns the files it wrote."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, what it is, and how to recognise, read and write it.

    `detect` tells by the content of a path that exists; `losses` lists what writing a spec would
    lose, a few words each; `folder` says whether a folder is written or a file.
    """

    name: str
    description: str
    detect: Callable[[Path], bool]
    read: Reader
    losses: Callable[[TokenizerSpec], list[str]]
    write: Writer
    folder: bool = False

    def check_target(self, path: Path) -> None:
        """Refuses to write a folder over a file, or a file over a folder."""
        if path.is_file() and self.folder:
            raise FormatError(f"{path}: is a file; the format {self.name} is a folder")
        if path.is_dir() and not self.folder:
            raise FormatError(f"{path}: is a folder; the format {self.name} is a file")


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
