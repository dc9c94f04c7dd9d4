"""What there is to know about a tokenizer, in a few lines: `bpe-compat inspect`."""

from collections.abc import Iterator

from . import converters, patterns
from .errors import UnsupportedError
from .plan import Plan, native_plan
from .ranks import missing_bytes
from .spec import TokenizerSpec, TokenKind

__all__ = ["summary"]

_SHOWN = 8


def summary(spec: TokenizerSpec) -> str:
    """Family, sizes, split, special tokens, oddities, and what each format would lose.

    >>> print(summary(TokenizerSpec(tokens=(b"a", b"b", b"ab"), merges=((0, 1),))).splitlines()[1])
    ids             3 (3 in use, 3 of them the model's)
    """
    rows = [*_sizes(spec), *_text(spec), *_oddities(spec), *_formats(spec)]
    return "\n".join(f"{name:<15} {value}".rstrip() for name, value in rows)


_Rows = Iterator[tuple[str, str]]


def _sizes(spec: TokenizerSpec) -> _Rows:
    in_use, base = spec.token_count, spec.base_count
    yield "family", _family(spec)
    yield "ids", f"{spec.vocab_size} ({in_use} in use, {base} of them the model's)"
    if spec.merge_rule == "ranks":
        yield "merges", "any pair whose concatenation is a token, lowest id first"
    else:
        yield "merges", f"{len(spec.merges)} listed pairs"
    yield (
        "ignore_merges",
        "yes: a piece that is a token is that token" if spec.ignore_merges else "no",
    )


def _family(spec: TokenizerSpec) -> str:
    if spec.byte_level:
        return "BPE of bytes, " + ("by rank" if spec.merge_rule == "ranks" else "by listed merges")
    parts = ["BPE of characters"]
    if spec.byte_fallback:
        parts.append("bytes for those without a token")
    if spec.prefix or spec.suffix:
        affixes = (f"{name} {text!r}" for name, text in _affixes(spec) if text)
        parts.append(" and ".join(affixes))
    return ", ".join(parts)


def _affixes(spec: TokenizerSpec) -> tuple[tuple[str, str], ...]:
    return ("prefix", spec.prefix), ("suffix", spec.suffix)


def _text(spec: TokenizerSpec) -> _Rows:
    yield "encoder", _encoder(native_plan(spec))
    scanner = patterns.scanner_of(spec.splits)
    if scanner == "none":
        yield "split", "none"
    elif scanner:
        yield "split", scanner
    else:
        for split in spec.splits:
            yield "split", f"{split.pattern} ({split.behavior}{', inverted' * split.invert})"
    for step in spec.normalizers:
        content = "" if step.kind == "charsmap" else step.content
        yield "normalizer", " ".join(filter(None, [step.kind, step.pattern, content]))
    if spec.prefix_space:
        yield "prefix space", "yes"
    for special, name in ((True, "special tokens"), (False, "added tokens")):
        tokens = [t for t in spec.added_tokens if t.special is special]
        if tokens:
            shown = ", ".join(f"{t.content!r} {t.id}" for t in tokens[:_SHOWN])
            more = f", and {len(tokens) - _SHOWN} more" if len(tokens) > _SHOWN else ""
            yield name, f"{len(tokens)}: {shown}{more}"


def _encoder(plan: Plan | None) -> str:
    if plan is None:
        return "split in Python, merged natively"
    if plan.generic:
        return "native, split by a generic matcher"
    return "native, no split" if plan.scan == "none" else f"native, scanner {plan.scan}"


def _oddities(spec: TokenizerSpec) -> _Rows:
    same = _duplicates(spec)
    if same:
        yield "duplicates", f"{len(same)} pairs of ids with the same bytes: {_some(same)}"
    if spec.byte_level:
        missing = [f"0x{byte:02X}" for byte in missing_bytes(spec)]
        if missing:
            yield "missing bytes", f"{len(missing)}: {_some(missing)}"
    if spec.merge_rule == "pairs":
        unreachable = _unreachable(spec)
        if unreachable:
            shown = _some([f"{id} {spec.tokens[id]!r}" for id in unreachable])
            whole = ", only whole pieces" if spec.ignore_merges else ""
            count = f"{len(unreachable)} tokens that no merge makes{whole}"
            yield "unreachable", f"{count}: {shown}"


def _some(items: list[str]) -> str:
    return ", ".join(items[:_SHOWN]) + ", …" * (len(items) > _SHOWN)


def _duplicates(spec: TokenizerSpec) -> list[str]:
    """Ids that are decoded to the same bytes; those that stand for one byte do not count."""
    first: dict[bytes, int] = {}
    found = []
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        if token and kind is not TokenKind.BYTE and first.setdefault(token, id) != id:
            found.append(f"{first[token]} = {id} {token!r}")
    return found


def _unreachable(spec: TokenizerSpec) -> list[int]:
    known = spec.normal_ids()
    cut = len(spec.prefix.encode())
    made = {known[spec.tokens[a] + spec.tokens[b][cut:]] for a, b in spec.merges}
    single = 1 if spec.byte_level else 4
    return [
        id
        for token, id in known.items()
        if id not in made and len(token) > single and spec.kinds[id] is TokenKind.NORMAL
    ]


def _formats(spec: TokenizerSpec) -> _Rows:
    for format in converters.FORMATS.values():
        if format.write is None:
            continue
        try:
            losses = format.losses(spec)
        except UnsupportedError as error:
            losses = [str(error)]
        yield f"to {format.name}", _joined(losses) if losses else "nothing is lost"


def _joined(losses: list[str]) -> str:
    more = f"; and {len(losses) - _SHOWN} more" if len(losses) > _SHOWN else ""
    return "; ".join(losses[:_SHOWN]) + more
