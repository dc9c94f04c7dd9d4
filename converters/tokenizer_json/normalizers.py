"""The section `normalizer`."""

from typing import Any, get_args

from ...dialects import escape, from_oniguruma, to_oniguruma
from ...spec import Normalizer
from ..json_tree import Node

__all__ = ["losses", "read", "read_pattern", "write", "write_pattern"]

_FORMS = {"NFC": "nfc", "NFD": "nfd", "NFKC": "nfkc", "NFKD": "nfkd"}
_SIMPLE: dict[str, Any] = {**_FORMS, "Lowercase": "lowercase", "StripAccents": "strip_accents"}
assert set(_SIMPLE.values()) < set(get_args(Normalizer.__annotations__["kind"]))


def read(node: Node | None) -> tuple[Normalizer, ...]:
    """The steps of a normalizer."""
    if node is None:
        return ()
    kind = node.get("type", str)
    if kind in _SIMPLE:
        node.only("type")
        return (Normalizer(_SIMPLE[kind]),)
    match kind:
        case "Sequence":
            node.only("type", "normalizers")
            return tuple(step for child in node.children("normalizers") for step in read(child))
        case "Strip":
            node.only("type", "strip_left", "strip_right")
            left, right = node.get("strip_left", bool, True), node.get("strip_right", bool, True)
            return (Normalizer("strip", left=left, right=right),)
        case "Prepend":
            node.only("type", "prepend")
            return (Normalizer("prepend", content=node.get("prepend", str)),)
        case "Replace":
            node.only("type", "pattern", "content")
            content = node.get("content", str)
            return (Normalizer("replace", pattern=read_pattern(node), content=content),)
    raise node.unsupported(f"the normalizer {kind}")


def write(steps: tuple[Normalizer, ...]) -> dict[str, Any] | None:
    """The section for some steps."""
    if not steps:
        return None
    written = [_write_step(step) for step in steps]
    return written[0] if len(written) == 1 else {"type": "Sequence", "normalizers": written}


def losses(steps: tuple[Normalizer, ...]) -> list[str]:
    """What the section cannot hold: tokenizers applies compiled rules to grapheme clusters."""
    if any(step.kind == "charsmap" for step in steps):
        return ["SentencePiece's compiled normalization rules"]
    return []


def _write_step(step: Normalizer) -> dict[str, Any]:
    for name, kind in _SIMPLE.items():
        if step.kind == kind:
            return {"type": name}
    match step.kind:
        case "strip":
            return {"type": "Strip", "strip_left": step.left, "strip_right": step.right}
        case "prepend":
            return {"type": "Prepend", "prepend": step.content}
        case "charsmap":
            return {"type": "Precompiled", "precompiled_charsmap": step.content}
        case _:
            pattern = write_pattern(step.pattern)
            return {"type": "Replace", "pattern": pattern, "content": step.content}


def read_pattern(node: Node) -> str:
    """The `pattern` of a node, `{"String": ...}` or `{"Regex": ...}`, as a regex of a spec."""
    pattern = node.child("pattern")
    pattern.only("String", "Regex")
    if "String" in pattern.value:
        return escape(pattern.get("String", str))
    return from_oniguruma(pattern.get("Regex", str))


def write_pattern(pattern: str) -> dict[str, str]:
    """The other way round."""
    if pattern and escape(pattern) == pattern:
        return {"String": pattern}
    return {"Regex": to_oniguruma(pattern)}
