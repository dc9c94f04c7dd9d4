"""How a spec is run natively: its scanner, and what comes before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from . import _core, dialects, patterns
from .spec import Behavior, Normalizer, Split, TokenizerSpec

__all__ = ["Plan", "native_plan"]

_BEHAVIORS = get_args(Behavior)
_KINDS = (
    "nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip", "strip_accents", "prepend", "replace",
)  # fmt: skip

_Step = tuple[_core.Regex, int, bool, bool]
_Rewriting = tuple[int, bool, bool, str, str, _core.Regex | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """The scanner, by name or made from a regex; and the steps before it, if there are any."""

    scan: str | _core.Scan
    preparation: _core.Preparation | None
    generic: bool
    """Whether a split is made by the generic matcher."""


def native_plan(spec: TokenizerSpec) -> Plan | None:
    """How to run a spec without Python; None if the native matcher cannot run all its regexes."""
    normalizers = _normalizers(spec.normalizers)
    splits = [s for s in spec.splits if not _never_matches(s, spec.normalizers)]
    found = _scan(spec, tuple(splits))
    if normalizers is None or found is None:
        return None
    scan, steps = found
    preparation = None
    if normalizers or spec.prefix_space or steps:
        preparation = _core.Preparation(normalizers, spec.prefix_space, steps)
    return Plan(scan, preparation, bool(steps) or (bool(splits) and not isinstance(scan, str)))


def _scan(
    spec: TokenizerSpec, splits: tuple[Split, ...]
) -> tuple[str | _core.Scan, list[_Step]] | None:
    """The scanner, and the split steps that come before it."""
    name = patterns.scanner_of(splits)
    if name is not None:
        return name, []
    steps: list[_Step] = []
    for split in splits:
        regex = dialects.compiled(split.pattern)
        if regex is None:
            return None
        steps.append((regex, _BEHAVIORS.index(split.behavior), split.invert, split.mapped))
    if len(steps) == 1 and splits[0].behavior != "removed":
        return _core.step_scan(steps[0]), []
    return "none", steps


def _normalizers(steps: Sequence[Normalizer]) -> list[_Rewriting] | None:
    found: list[_Rewriting] = []
    for step in steps:
        if step.kind not in _KINDS:
            return None
        pattern, regex = "", None
        if step.kind == "replace":
            pattern = dialects.literal(step.pattern) or ""
            regex = None if pattern else dialects.compiled(step.pattern)
            if not pattern and regex is None:
                return None
        number = _KINDS.index(step.kind)
        found.append((number, step.left, step.right, pattern, step.content, regex))
    return found


def _never_matches(split: Split, normalizers: Sequence[Normalizer]) -> bool:
    """Whether a split looks for a text that the normalizers leave nowhere, and keeps all text.

    A replacement leaves none if it puts something there that shares no character with it; what
    comes later must not bring it back.
    """
    if split.mapped or split.invert or all(step.kind != "replace" for step in normalizers):
        return False
    text = dialects.literal(split.pattern)
    if not text:
        return False
    gone = False
    for step in normalizers:
        harmless = bool(step.content) and not set(step.content) & set(text)
        if step.kind == "replace":
            literal = dialects.literal(step.pattern)
            gone = harmless and (gone or literal == text) and literal is not None
        else:
            gone = gone and step.kind == "prepend" and harmless
    return gone
