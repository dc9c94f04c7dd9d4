"""The section `decoder`."""

from typing import Any

from ...spec import DecoderStep, TokenizerSpec
from ..json_tree import Node

__all__ = ["losses", "read", "write"]

_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
_JOIN = (DecoderStep("join", content=" "),)  # what tokenizers does without a decoder


def read(node: Node | None, *, byte_level: bool) -> tuple[DecoderStep, ...]:
    """The steps of a decoder; none are needed where tokens are bytes.

    A file without a decoder joins tokens by spaces, but tokens spelled in bytes always decode as
    bytes: a missing decoder is an oversight there.
    """
    if node is None:
        return () if byte_level else _JOIN
    steps = _steps(node)
    if not byte_level:
        return steps
    if steps != (DecoderStep("byte_level"),):
        raise node.unsupported(f"the decoder {node.value['type']} with the pre-tokenizer ByteLevel")
    return ()


def _steps(node: Node) -> tuple[DecoderStep, ...]:
    kind = node.get("type", str)
    match kind:
        case "Sequence":
            node.only("type", "decoders")
            return tuple(step for child in node.children("decoders") for step in _steps(child))
        case "ByteLevel":
            node.only("type", "add_prefix_space", "trim_offsets", "use_regex")
            return (DecoderStep("byte_level"),)
        case "ByteFallback":
            node.only("type")
            return (DecoderStep("byte_fallback"),)
        case "Fuse":
            node.only("type")
            return (DecoderStep("fuse"),)
        case "Replace":
            node.only("type", "pattern", "content")
            pattern = node.child("pattern")
            if "String" not in pattern.value:
                raise pattern.unsupported("a regex in a decoder")
            content = node.get("content", str)
            return (DecoderStep("replace", pattern.get("String", str), content),)
        case "Strip":
            node.only("type", "content", "start", "stop")
            start, stop = node.get("start", int), node.get("stop", int)
            return (DecoderStep("strip", "", node.get("content", str), start, stop),)
        case "BPEDecoder":
            node.only("type", "suffix")
            return (DecoderStep("suffix", content=node.get("suffix", str, "</w>")),)
        case "Metaspace":
            node.only(
                "type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"
            )
            scheme = node.get("prepend_scheme", str, "always")
            drop = scheme != "never" and node.get("add_prefix_space", bool, True)
            content = node.get("replacement", str, "▁")
            return (DecoderStep("metaspace", content=content, start=int(drop)),)
    raise node.unsupported(f"the decoder {kind}")


def write(steps: tuple[DecoderStep, ...], *, byte_level: bool) -> dict[str, Any] | None:
    """The section for some steps."""
    if byte_level:
        return _BYTE_LEVEL
    if steps == _JOIN:
        return None
    written = [_write_step(step) for step in steps or (DecoderStep("fuse"),)]
    return written[0] if len(written) == 1 else {"type": "Sequence", "decoders": written}


def _write_step(step: DecoderStep) -> dict[str, Any]:
    match step.kind:
        case "byte_level":
            return _BYTE_LEVEL
        case "byte_fallback":
            return {"type": "ByteFallback"}
        case "replace":
            return {"type": "Replace", "pattern": {"String": step.pattern}, "content": step.content}
        case "strip":
            return {
                "type": "Strip",
                "content": step.content,
                "start": step.start,
                "stop": step.stop,
            }
        case "suffix":
            return {"type": "BPEDecoder", "suffix": step.content}
        case "metaspace":
            scheme = "always" if step.start else "never"
            return {"type": "Metaspace", "replacement": step.content, "prepend_scheme": scheme,
                    "split": True}  # fmt: skip
        case _:
            return {"type": "Fuse"}


def losses(spec: TokenizerSpec) -> list[str]:
    """What the section cannot hold."""
    if spec.byte_level and spec.decoder:
        return ["a decoder of tokens that are bytes"]
    if spec.decoder != _JOIN and any(step.kind == "join" for step in spec.decoder):
        return ["a decoder that puts something between tokens"]
    return []
