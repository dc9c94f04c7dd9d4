"""JSON that somebody else wrote: access that names the place of what is wrong."""

import json
import re
from collections.abc import ItemsView, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import flat
from ..errors import FormatError, UnsupportedError
from ..spec import check_text
from .base import read_array, read_bytes

__all__ = ["Node", "PackedMerges", "PackedVocab", "load", "load_model", "looks_like", "parse"]

T = TypeVar("T")
_MISSING: Any = object()
_BOM = b"\xef\xbb\xbf"
_SURROGATE = rb"\\u[dD][89a-fA-F]"


class Node:
    """A JSON object and its path in the file."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{path}: must be an object, not {_named(value)}")
        self.value: dict[str, Any] = value
        self.path = path

    def get(self, key: str, kind: type[T], default: Any = _MISSING) -> T:
        """The value of a key, of this type; null counts as missing if there is a default."""
        value: Any = self.value.get(key)
        if value is None and default is not _MISSING:
            return default  # type: ignore[no-any-return]
        if key not in self.value:
            raise FormatError(f"{self.path}: {key!r} is missing")
        if not _is(value, kind):
            raise FormatError(
                f"{self.path}.{key}: must be {_NAMES.get(kind, kind.__name__)}, not {_named(value)}"
            )
        return value  # type: ignore[no-any-return]

    def items(self, key: str, kind: type[T]) -> list[T]:
        """The list at a key, all of its items of this type."""
        values = self.get(key, list)
        for index, value in enumerate(values):
            if not _is(value, kind):
                name = _NAMES.get(kind, kind.__name__)
                raise FormatError(
                    f"{self.path}.{key}[{index}]: must be {name}, not {_named(value)}"
                )
        return values

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
    """The object in some JSON text; a byte order mark is accepted, half a surrogate pair is not.

    >>> parse(b'{"a": 5}', "x.json").get("a", str)
    Traceback (most recent call last):
    bpe_compat.errors.FormatError: x.json.a: must be a string, not an integer
    """
    try:
        # json.loads would let bytes pass that are half a surrogate pair.
        value = json.loads(data.removeprefix(_BOM).decode())
        if re.search(_SURROGATE, data):
            _check_strings(value, name)
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}: line {error.lineno}: {error.msg}") from error
    except RecursionError:
        raise FormatError(f"{name}: nested too deeply") from None
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name}: {error}") from error  # an integer of thousands of digits
    return Node(value, name)


def _check_strings(value: Any, path: str) -> None:
    """Raises `FormatError` for a string with half a surrogate pair, which is no text."""
    if isinstance(value, str):
        try:
            check_text(value)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_strings(key, path)
            _check_strings(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_strings(item, f"{path}[{index}]")


def looks_like(path: Path, hint: bytes) -> bool:
    """Whether a file is a JSON object with this near its begin."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and bool(re.search(hint, head))


def load(path: Path) -> Node:
    """The object in a JSON file."""
    return parse(read_bytes(path), path.name)


class PackedVocab(Mapping[str, int]):
    """Strings and their ids as they were read; a dict of them is made when it is asked for."""

    def __init__(self, strings: flat.StringIds) -> None:
        self.strings = strings

    def __len__(self) -> int:
        return len(self.strings)

    def __getitem__(self, string: str) -> int:
        id = self.strings.find(string)
        if id is None:
            raise KeyError(string)
        return id

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings.to_dict())

    def items(self) -> ItemsView[str, int]:
        """All of them."""
        return self.strings.to_dict().items()


class PackedMerges(list[Any]):
    """A list of merges, empty here, of which only the ids of the strings are kept."""

    def __init__(self, rows: npt.NDArray[np.uint32]) -> None:
        self.rows = rows


def load_model(path: Path) -> Node:
    """The object in a tokenizer.json; its model may have `PackedVocab` and `PackedMerges`.

    They are most of the file, and most of the time that reading it would take.
    """
    data = read_array(path).data
    if data[: len(_BOM)] == _BOM:
        data = data[len(_BOM) :]
    model = flat.find_model(data)
    if model is None:
        return parse(bytes(data), path.name)
    vocab, merges = model.vocab, model.merges
    parts = (data[: vocab.begin], b"{}", data[vocab.end : merges.begin], b"[]", data[merges.end :])
    try:
        node = parse(b"".join(parts), path.name)
    except FormatError:
        return parse(bytes(data), path.name)  # whose lines are those of the file
    found = node.value["model"]
    if found.get("continuing_subword_prefix"):  # merges do not just join their halves
        return parse(bytes(data), path.name)
    found["vocab"], found["merges"] = PackedVocab(model.strings), PackedMerges(model.rows())
    return node


_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "an integer",
    bool: "true or false",
}


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _named(value: Any) -> str:
    return "null" if value is None else _NAMES.get(type(value), type(value).__name__)
