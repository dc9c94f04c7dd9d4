"""llama2.c's tokenizer.bin: the scores and strings of a Llama model, without their types.

The file is the length of the longest string (4 bytes), then for each id its score (4 bytes), its
length (4 bytes) and itself, with spaces for `▁`. Its encoder (`run.c`) takes the first three ids
for the unknown, first and last token and the next 256 for the bytes. It can only be read.
"""

import math
import struct
from collections.abc import Mapping
from pathlib import Path

from ..errors import FormatError
from ..spec import TokenizerSpec
from .base import Format, read_bytes
from .pieces import BYTE, CONTROL, NORMAL, UNKNOWN, Pieces, normalizers_of, spec_of

__all__ = ["FORMAT", "read"]

_FIRST = ("<unk>", "\n<s>\n", "\n</s>\n")
_NAMES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
_START = struct.pack("<fi", 0.0, 5) + b"<unk>"


def detect(path: Path) -> bool:
    """Whether the first string is the unknown token, behind a small number."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        head = file.read(4 + len(_START))
    return head[4:] == _START and head[2:4] == b"\0\0"


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads such a file."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a tokenizer.bin has no split, and holds its special tokens")
    data, name = read_bytes(path), path.name
    strings: list[str] = []
    scores: list[float] = []
    at = 4
    while at < len(data):
        if at + 8 > len(data):
            raise FormatError(f"{name}: byte {at}: token {len(strings)} is cut off")
        score, size = struct.unpack_from("<fi", data, at)
        at += 8 + size
        if size < 0 or at > len(data) or not math.isfinite(score):
            raise FormatError(
                f"{name}: token {len(strings)} has {size} bytes and the score {score}"
            )
        try:
            strings.append(data[at - size : at].decode().replace(" ", "▁"))
        except UnicodeDecodeError as error:
            raise FormatError(f"{name}: token {len(strings)} is not UTF-8: {error}") from None
        scores.append(score)
    if tuple(strings[:3]) != _FIRST or strings[3:259] != _NAMES[3:]:
        raise FormatError(f"{name}: the first ids are not <unk>, <s>, </s> and the 256 bytes")
    strings[:3] = _NAMES[:3]
    types = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * (len(strings) - 259)
    steps = normalizers_of(prefix=True, tidy=False)
    pieces = Pieces(strings, scores, types)
    return spec_of(pieces, name, byte_fallback=True, normalizers=steps)


FORMAT = Format("llama2c", "llama2.c's tokenizer.bin (read only)", detect, read)
