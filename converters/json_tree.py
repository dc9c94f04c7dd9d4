"""JSON that somebody else wrote: access that names the place of what is wrong."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from ..errors import FormatError, UnsupportedError
from .base import read_bytes

__all__ = ["Node", "load", "parse"]

T = TypeVar("T")
_MISSING: Any = object()


class Node:
    """A JSON object and its path in the file."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{path}: must be an object, not {_named(value)}")
        self.value: dict[str, Any] = value
        self.path = path

    def get(self, key: str, kind: type[T], default: Any = _MISSING) -> T:
        """The value of a key, of this type; null counts as missing if there is a default."""
        value = self.value.get(key)
        if value is None and default is not _MISSING:
            return default  # type: ignore[no-any-return]
        if key not in self.value:
            raise FormatError(f"{self.path}: {key!r} is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise FormatError(
                f"{self.path}.{key}: must be {_NAMES.get(kind, kind.__name__)}, not {_named(value)}"
            )
        return value

    def child(self, key: str) -> "Node":
        """The object at a key."""
        return Node(self.get(key, dict), f"{self.path}.{key}")

    def optional(self, key: str) -> "Node | None":
        """The object at a key, or None if it is missing or null."""
        return None if self.value.get(key) is None else self.child(key)

    def children(self, key: str) -> Iterator["Node"]:
        """The objects of the list at a key."""
        for index, value in enumerate(self.get(key, list)):
            yield Node(value, f"{self.path}.{key}[{index}]")

    def only(self, *known: str) -> None:
        """Refuses keys that nobody would look at."""
        unknown = sorted(set(self.value) - set(known))
        if unknown:
            raise UnsupportedError(f"{self.path}: the key {unknown[0]!r} is not known")

    def error(self, message: str) -> FormatError:
        """An error about this place."""
        return FormatError(f"{self.path}: {message}")

    def unsupported(self, what: str) -> UnsupportedError:
        """An error about something that a spec cannot express."""
        return UnsupportedError(f"{self.path}: {what} is not supported")


def parse(data: bytes, name: str) -> Node:
    """The object in some JSON text; a byte order mark is accepted."""
    try:
        return Node(json.loads(data.removeprefix(b"\xef\xbb\xbf")), name)
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}: line {error.lineno}: {error.msg}") from error
    except RecursionError:
        raise FormatError(f"{name}: nested too deeply") from None


def load(path: Path) -> Node:
    """The object in a JSON file."""
    return parse(read_bytes(path), path.name)


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "an integer",
    bool: "true or false",
}


def _named(value: Any) -> str:
    return "null" if value is None else _NAMES.get(type(value), type(value).__name__)
