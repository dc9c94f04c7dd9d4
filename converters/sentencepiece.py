"""SentencePiece's .model, alone or in a folder of transformers that has no tokenizer.json.

What the pieces mean is in `pieces.py`, what the file says in `piece_model.py`, and what a folder
says besides in `model_folder.py`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FormatError
from ..spec import TokenizerSpec
from . import model_folder, piece_model
from .base import Format, refuse_losses, require, write_files
from .pieces import losses

if TYPE_CHECKING:
    import sentencepiece

__all__ = ["FORMAT", "live", "read", "write"]


def detect(path: Path) -> bool:
    """Whether a file begins with a piece, as models do, or a folder has such a file."""
    if path.is_dir():
        return model_folder.model_in(path) is not None
    return piece_model.looks_like(path)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a model or a folder."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a SentencePiece model holds its own splits and special tokens")
    return model_folder.read(path) if path.is_dir() else piece_model.parse(path).spec()


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes a model."""
    return write_files({path: piece_model.written(spec)})


def live(spec: TokenizerSpec, *, allow_loss: bool) -> "sentencepiece.SentencePieceProcessor":
    """A `sentencepiece.SentencePieceProcessor`, not by way of a file."""
    require("sentencepiece")
    import sentencepiece

    refuse_losses("sentencepiece", losses(spec), allow_loss=allow_loss)
    return sentencepiece.SentencePieceProcessor(model_proto=piece_model.written(spec))


FORMAT = Format("sentencepiece", "SentencePiece's .model of BPE", detect, read, losses, write)
