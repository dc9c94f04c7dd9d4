"""The wire format of Protocol Buffers: as much of it as a SentencePiece model needs.

A message is a list of fields: a number, a wire type, and a varint, 4 or 8 bytes, or as many bytes
as a varint says. Source: protobuf.dev, "Encoding".
"""

import struct
from collections.abc import Iterator

from ..errors import FormatError

__all__ = ["Fields", "fields", "floats", "length", "varint"]

Value = int | bytes
_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5


def fields(data: bytes, where: str) -> Iterator["Field"]:
    """The fields of a message, in their order.

    >>> [(number, value) for number, value, _ in fields(b"\\x08\\x96\\x01\\x12\\x01a", "x")]
    [(1, 150), (2, b'a')]
    """
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at, where)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise FormatError(f"{where}: byte {at - 1}: a field has the number 0")
        value: Value
        if wire == _VARINT:
            value, at = _varint(data, at, where)
            yield number, value, at
            continue
        if wire == _LENGTH:
            size, at = _varint(data, at, where)
        elif wire in (_EIGHT, _FOUR):
            size = 8 if wire == _EIGHT else 4
        else:
            raise FormatError(f"{where}: byte {at - 1}: field {number} has the wire type {wire}")
        if size > end - at:
            raise FormatError(
                f"{where}: byte {at}: field {number} has {size} bytes, but {end - at} are left"
            )
        yield number, data[at : at + size], at
        at += size


Field = tuple[int, Value, int]
"""Number, value, and where the value starts."""


def _varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise FormatError(f"{where}: byte {at}: a number that does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7


class Fields:
    """The fields of a small message by their number; of repeated ones the last counts."""

    def __init__(self, data: bytes, where: str) -> None:
        self.where = where
        self._values: dict[int, Value] = {n: value for n, value, _ in fields(data, where)}

    def number(self, number: int, default: int) -> int:
        """A signed integer, an enumeration or a truth value."""
        value = self._values.get(number, default)
        if not isinstance(value, int):
            raise FormatError(f"{self.where}: field {number} must be a number, not {value[:20]!r}")
        return value - (1 << 64) if value >> 63 and number in self._values else value

    def bytes(self, number: int) -> bytes:
        """A byte string; empty if it is not there."""
        value = self._values.get(number, b"")
        if isinstance(value, int):
            raise FormatError(f"{self.where}: field {number} must be bytes, not {value}")
        return value

    def text(self, number: int, default: str = "") -> str:
        """A string of UTF-8."""
        if number not in self._values:
            return default
        try:
            return self.bytes(number).decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.where}: field {number}: {error}") from error

    def float(self, number: int) -> float:
        """A number of 4 bytes; 0 if it is not there."""
        value = self.bytes(number) or b"\0\0\0\0"
        if len(value) != 4:
            raise FormatError(f"{self.where}: field {number} must have 4 bytes")
        found: float = struct.unpack("<f", value)[0]
        return found


def varint(number: int, value: int) -> bytes:
    """A field with an integer.

    >>> varint(1, 150).hex()
    '089601'
    """
    return _encoded(number << 3 | _VARINT) + _encoded(value & (1 << 64) - 1)


def length(number: int, value: bytes) -> bytes:
    """A field with bytes, a string or a message."""
    return _encoded(number << 3 | _LENGTH) + _encoded(len(value)) + value


def floats(number: int, value: float) -> bytes:
    """A field with a number of 4 bytes."""
    return _encoded(number << 3 | _FOUR) + struct.pack("<f", value)


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
