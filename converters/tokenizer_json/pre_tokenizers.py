"""The section `pre_tokenizer`: how text is split, and whether tokens are spelled in bytes."""

from dataclasses import dataclass, replace
from typing import Any

from ...dialects import escape, to_oniguruma
from ...patterns import PATTERNS, PUNCTUATION, named, scanner_of
from ...spec import Behavior, Split, TokenizerSpec
from ..json_tree import Node
from .normalizers import read_pattern

__all__ = ["PreTokenizer", "losses", "read", "takes_prefix_space", "write"]

_BEHAVIORS: dict[str, Behavior] = {
    "Isolated": "isolated",
    "Removed": "removed",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
_NAMED = {
    "Whitespace": Split(r"\w+|[^\w\s]+", "removed", invert=True),
    "WhitespaceSplit": Split(r"\s", "removed"),
}
_BEHAVIOR_NAMES = {behavior: name for name, behavior in _BEHAVIORS.items()}


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """What the section says: the splits, a space in front of the text, tokens spelled in bytes."""

    splits: tuple[Split, ...] = ()
    prefix_space: bool = False
    byte_level: bool = False

    def then(self, other: "PreTokenizer", node: Node) -> "PreTokenizer":
        """This one followed by another."""
        if other.byte_level and self.byte_level:
            raise node.unsupported("more than one ByteLevel")
        if other.prefix_space and self.splits:
            raise node.unsupported("add_prefix_space after another split")
        later = other.splits
        if self.byte_level:  # what follows sees the characters that stand for bytes
            later = tuple(replace(split, mapped=True) for split in later)
        return PreTokenizer(
            self.splits + later,
            self.prefix_space or other.prefix_space,
            self.byte_level or other.byte_level,
        )


def read(node: Node | None) -> PreTokenizer:
    """What a pre-tokenizer does."""
    if node is None:
        return PreTokenizer()
    kind = node.get("type", str)
    if kind == "Sequence":
        node.only("type", "pretokenizers")
        whole = PreTokenizer()
        for child in node.children("pretokenizers"):
            whole = whole.then(read(child), child)
        return whole
    if kind == "ByteLevel":
        node.only("type", "add_prefix_space", "trim_offsets", "use_regex")
        splits = PATTERNS["gpt2"].splits if node.get("use_regex", bool, True) else ()
        return PreTokenizer(splits, node.get("add_prefix_space", bool, True), byte_level=True)
    return PreTokenizer(_splits(node, kind))


def _splits(node: Node, kind: str) -> tuple[Split, ...]:
    match kind:
        case "Split":
            node.only("type", "pattern", "behavior", "invert")
            return _canonical(_read_split(node))
        case "Digits":
            node.only("type", "individual_digits")
            individual = node.get("individual_digits", bool, False)
            return (Split(r"\p{N}", "isolated" if individual else "contiguous"),)
        case "Punctuation":
            node.only("type", "behavior")
            return (Split(PUNCTUATION, _behavior(node, "Isolated")),)
        case "Whitespace" | "WhitespaceSplit":
            node.only("type")
            return (_NAMED[kind],)
        case "BertPreTokenizer":
            node.only("type")
            return (Split(r"\s", "removed"), Split(PUNCTUATION, "isolated"))
        case "CharDelimiterSplit":
            node.only("type", "delimiter")
            return (Split(escape(node.get("delimiter", str)), "removed"),)
    raise node.unsupported(f"the pre-tokenizer {kind}")


def _behavior(node: Node, default: str) -> Behavior:
    name = node.get("behavior", str, default)
    if name not in _BEHAVIORS:
        raise node.error(f"the behavior {name!r} is none of {', '.join(_BEHAVIORS)}")
    return _BEHAVIORS[name]


def _read_split(node: Node) -> Split:
    behavior = _behavior(node, "Isolated")
    invert = node.get("invert", bool, False)
    regex = node.child("pattern").value.get("Regex")
    known = named(regex, "oniguruma") if isinstance(regex, str) else None
    return Split(known.text if known else read_pattern(node), behavior, invert)


def _canonical(split: Split) -> tuple[Split, ...]:
    """A named pattern makes the same pieces whether its matches are isolated or alone are kept."""
    scanner = scanner_of((split,))
    return PATTERNS[scanner].splits if scanner else (split,)


def write(spec: TokenizerSpec) -> dict[str, Any] | None:
    """The section for a spec."""
    steps = [_write_split(split) for split in _own_splits(spec)]
    if spec.byte_level:
        steps.append({
            "type": "ByteLevel",
            "add_prefix_space": spec.prefix_space,
            "trim_offsets": True,
            "use_regex": _uses_own_regex(spec),
        })  # fmt: skip
    steps += [_write_split(split) for split in spec.splits if split.mapped]
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps}


def takes_prefix_space(spec: TokenizerSpec) -> bool:
    """Whether ByteLevel is the first step, so that a space can be put in front of the text."""
    return spec.byte_level and not _own_splits(spec)


def losses(spec: TokenizerSpec) -> list[str]:
    """What the section cannot hold."""
    if spec.prefix_space and not takes_prefix_space(spec):
        return ["a space in front of the text together with this split pattern"]
    return []


def _uses_own_regex(spec: TokenizerSpec) -> bool:
    """Whether ByteLevel's own regex makes the last split before it."""
    unmapped = [split for split in spec.splits if not split.mapped]
    return spec.byte_level and unmapped[-1:] == list(PATTERNS["gpt2"].splits)


def _own_splits(spec: TokenizerSpec) -> list[Split]:
    """The splits that stand before ByteLevel as steps of their own."""
    unmapped = [split for split in spec.splits if not split.mapped]
    return unmapped[:-1] if _uses_own_regex(spec) else unmapped


def _write_split(split: Split) -> dict[str, Any]:
    for name, step in _NAMED.items():
        if step == replace(split, mapped=False):
            return {"type": name}
    known = named(split.pattern)
    return {
        "type": "Split",
        "pattern": {"Regex": known.oniguruma if known else to_oniguruma(split.pattern)},
        "behavior": _BEHAVIOR_NAMES[split.behavior],
        "invert": split.invert,
    }
