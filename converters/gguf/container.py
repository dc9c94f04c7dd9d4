"""The metadata of a GGUF file: keys and values in front of the tensors.

Source: `docs/gguf.md` of ggml. Versions 2 and 3, little endian; a value is a number, a truth value,
a string or an array of one of these. Only what was asked for is made into Python objects, and the
file is mapped, not read: behind the metadata there may be gigabytes of tensors.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError, UnsupportedError

__all__ = ["MAGIC", "Value", "metadata", "written"]

MAGIC = b"GGUF"
_STRING, _ARRAY, _BOOL = 8, 9, 7
_NUMBERS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "|b1", 10: "<u8",
    11: "<i8", 12: "<f8",
}  # fmt: skip
_UINT32, _INT32, _FLOAT32 = 4, 5, 6

Value = str | int | float | bool | list[str] | list[int] | list[float]


def metadata(path: Path, wanted: Callable[[str], bool]) -> dict[str, Any]:
    """The values of the wanted keys."""
    with path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise FormatError(f"{path.name}: the file is empty") from None
        with data:
            return _Reader(data, path.name).read(wanted)


class _Reader:
    """A place in the file; every length is compared with what is left of it."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self.data, self.name, self.at = data, name, 0

    def read(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        if self.take(4) != MAGIC:
            raise FormatError(f"{self.name}: does not begin with GGUF")
        version = self.number(_UINT32)
        if version not in (2, 3):
            swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
            what = "a big-endian file" if swapped in (2, 3) else f"version {version}"
            raise UnsupportedError(f"{self.name}: {what} of GGUF is not supported")
        self.take(8)  # how many tensors there are
        count = self.count(13)  # at least: the length of a key, a type, one byte
        values = {}
        for _ in range(count):
            key = self.string()
            kind = self.number(_UINT32)
            keep = wanted(key)
            value = self.value(kind, keep, nested=0)
            if keep:
                if key in values:
                    raise self.error(f"the key {key!r} is there twice")
                values[key] = value
        return values

    def error(self, message: str) -> FormatError:
        return FormatError(f"{self.name}: byte {self.at}: {message}")

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise self.error(f"{size} bytes are missing of {len(self.data) - self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, kind: int) -> Any:
        dtype = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0].item()

    def count(self, size: int) -> int:
        """A number of items of at least `size` bytes each."""
        (count,) = struct.unpack("<Q", self.take(8))
        if count * size > len(self.data) - self.at:
            raise self.error(f"{count} items do not fit into what is left of the file")
        return int(count)

    def string(self) -> str:
        raw = self.take(self.count(1))
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise self.error(f"a string is not UTF-8: {error}") from None

    def value(self, kind: int, keep: bool, nested: int) -> Any:
        if kind in _NUMBERS:
            return self.number(kind)
        if kind == _STRING:
            return self.string() if keep else self.take(self.count(1))
        if kind == _ARRAY and nested < 4:
            return self.array(keep, nested)
        raise self.error(f"a value has the type {kind}")

    def array(self, keep: bool, nested: int) -> Any:
        kind = self.number(_UINT32)
        if kind in _NUMBERS:
            dtype = np.dtype(_NUMBERS[kind])
            raw = self.take(self.count(dtype.itemsize) * dtype.itemsize)
            return np.frombuffer(raw, dtype).tolist() if keep else None
        count = self.count(8)
        if kind == _STRING:
            return self.strings(count)
        return (
            [self.value(kind, keep, nested + 1) for _ in range(count)]
            if kind == _ARRAY
            else (self.value(kind, keep, nested))
        )

    def strings(self, count: int) -> list[str]:
        data, at, end = self.data, self.at, len(self.data)
        found = []
        for place in range(count):
            if at + 8 > end:
                raise self.error(f"string {place} of an array is missing")
            size = int.from_bytes(data[at : at + 8], "little")
            at += 8 + size
            if at > end:
                raise self.error(f"string {place} of an array has {size} bytes: too many")
            try:
                found.append(data[at - size : at].decode())
            except UnicodeDecodeError as error:
                raise self.error(f"string {place} of an array is not UTF-8: {error}") from None
        self.at = at
        return found


def written(values: Mapping[str, Value]) -> bytes:
    """A file with these values and no tensors."""
    parts = [MAGIC, struct.pack("<IQQ", 3, 0, len(values))]
    for key, value in values.items():
        parts += [_string(key), *_value(value)]
    return b"".join(parts)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> list[bytes]:
    if isinstance(value, str):
        return [struct.pack("<I", _STRING), _string(value)]
    if isinstance(value, bool):
        return [struct.pack("<IB", _BOOL, value)]
    if isinstance(value, int):
        return [struct.pack("<II", _UINT32, value)]
    if isinstance(value, float):
        return [struct.pack("<If", _FLOAT32, value)]
    kind = {str: _STRING, int: _INT32, float: _FLOAT32}[type(value[0])] if value else _STRING
    head = struct.pack("<IIQ", _ARRAY, kind, len(value))
    if kind == _STRING:
        return [head, *(_string(str(item)) for item in value)]
    return [head, np.array(value, _NUMBERS[kind]).tobytes()]
