"""Tokenizers with names, for `tiktoken.get_encoding`: a file that lists where they are.

It is `bpe_compat/registry.json` in the user's data folder (`$XDG_DATA_HOME`, or `~/.local/share`),
or the file that the environment variable `BPE_COMPAT_REGISTRY` names:

    {"mine": {"path": "/home/me/tokenizer", "pattern": "gpt2", "special_tokens": {"<s>": 300}}}

The package `tiktoken_ext` holds the plug-in that tells tiktoken of them.
"""

import os
from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import Any

from .converters import json_tree
from .converters.base import require, write_files
from .converters.json_tree import Node
from .errors import FormatError
from .tokenizer import Tokenizer, load

__all__ = ["VARIABLE", "find", "names", "names_of_tiktoken", "register", "registry_file", "remove"]

VARIABLE = "BPE_COMPAT_REGISTRY"
_KEYS = ("path", "format", "pattern", "special_tokens")


def registry_file() -> Path:
    """The file with the names, which need not be there."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    # The standard says that a relative path is to be ignored.
    folder = Path(data) if data and Path(data).is_absolute() else Path.home() / ".local" / "share"
    return folder / "bpe_compat" / "registry.json"


def names() -> dict[str, Path]:
    """The registered names, in their order, and the path of each.

    Raises `FormatError` if the registry is broken.
    """
    tree = _read()
    return {name: Path(tree.child(name).get("path", str)) for name in sorted(tree.value)}


def register(
    name: str,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Gives a name to the tokenizer in a file or folder, and returns the tokenizer.

    The other arguments are those of `load`. Raises `FormatError` for a name that tiktoken has
    already, and `LossyConversionError` for what a `tiktoken.Encoding` cannot do. A name may be
    given anew.

    >>> import tempfile, bpe_compat as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.environ["BPE_COMPAT_REGISTRY"] = f"{folder}/registry.json"
    ...     bc.train(["low lower"], 258).save(f"{folder}/low.tiktoken", format="tiktoken")
    ...     _ = register("low", f"{folder}/low.tiktoken")
    ...     find("low").encode("low"), [*names()]
    ...     del os.environ["BPE_COMPAT_REGISTRY"]
    ([108, 256], ['low'])
    """
    if not name or name != name.strip() or not name.isprintable():
        raise FormatError(f"{name!r} is no name: it is empty, or has white space at its ends")
    require("tiktoken")
    if name in names_of_tiktoken():
        raise FormatError(f"tiktoken has an encoding {name!r} already; choose another name")
    whole = Path(path).absolute()
    options = {"format": format, "pattern": pattern, "special_tokens": special_tokens}
    tokenizer = load(whole, **options)  # type: ignore[arg-type]
    tokenizer.to_tiktoken()
    given = {key: value for key, value in options.items() if value is not None}
    entries = _read().value
    entries[name] = {"path": str(whole), **given}
    _write(entries)
    return tokenizer


def remove(name: str) -> None:
    """Forgets a name; raises `FormatError` if there is none such."""
    entries = _read().value
    _entry(name)
    del entries[name]
    _write(entries)


def find(name: str) -> Tokenizer:
    """The tokenizer with a registered name.

    Raises `FormatError` for an unknown name, and if the file is no longer where it was.
    """
    entry = _entry(name)
    path = Path(entry.get("path", str))
    if not path.exists():
        raise FormatError(
            f"{path}, which was registered as {name!r}, is not there any more; run "
            f"`bpe-compat register {name} PATH` with its new place"
        )
    return load(
        path,
        format=entry.get("format", str, None),
        pattern=entry.get("pattern", str, None),
        special_tokens=entry.get("special_tokens", dict, None),
    )


def _entry(name: str) -> Node:
    tree = _read()
    if name not in tree.value:
        known = ", ".join(tree.value) or "none"
        raise FormatError(f"no tokenizer is registered as {name!r}; known: {known} ({tree.path})")
    entry = tree.child(name)
    entry.only(*_KEYS)
    return entry


def _read() -> Node:
    path = registry_file()
    if not path.is_file():
        return Node({}, str(path))
    return Node(json_tree.load(path).value, str(path))


def _write(entries: Mapping[str, Any]) -> None:
    text = dumps(entries, ensure_ascii=False, indent=2, sort_keys=True)
    write_files({registry_file(): text.encode() + b"\n"})


def names_of_tiktoken() -> set[str]:
    """The names that its own plug-in has; those of others cannot be known before all are loaded."""
    import tiktoken_ext.openai_public as openai_public

    return set(openai_public.ENCODING_CONSTRUCTORS)
