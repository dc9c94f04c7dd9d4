"""`encode_with_unstable`: which ids of a text stay if more text follows, as in tiktoken.

The rules are those of tiktoken's `_encode_unstable_native`, so that its tests hold here.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from .engine import Engine
from .spec import TokenizerSpec, TokenKind

__all__ = ["encode", "encode_bytes"]

_Completions = set[tuple[int, ...]]


def encode(
    engine: Engine, spec: TokenizerSpec, sorted_tokens: Sequence[bytes], text: str, enabled: bytes
) -> tuple[list[int], list[list[int]]]:
    """Stable ids of a text and the sequences that may complete it."""
    ids = engine.encode(text, enabled)
    unstable = _unstable_count(engine, spec, text, enabled, ids)
    if unstable == 0:
        return ids, []
    stable, rest = ids[:-unstable], engine.core.decode(ids[-unstable:])
    completions: _Completions = {
        (_find(engine, token),) for token in _starting_with(sorted_tokens, rest)
    }
    as_text = bytes(not token.special for token in spec.added_tokens)
    for cut in range(1, len(rest)):
        for token in _starting_with(sorted_tokens, rest[cut:]):
            whole = _encode_bytes(engine, rest[:cut] + token, as_text)
            completions.add(_covering(spec, whole, len(rest)))
    completions |= _split_before_last_space(engine, rest)
    return stable, [list(sequence) for sequence in completions]


def encode_bytes(engine: Engine, spec: TokenizerSpec, data: bytes, enabled: bytes) -> list[int]:
    """Ids of bytes that may be cut off inside a character.

    What is not UTF-8 is one piece with the last, unstable ids of the text before it.
    """
    try:
        return engine.encode(data.decode(), enabled)
    except UnicodeDecodeError as error:
        text, rest = data[: error.start].decode(), data[error.start :]
    ids = engine.encode(text, enabled)
    unstable = _unstable_count(engine, spec, text, enabled, ids)
    stable = ids[: len(ids) - unstable]
    rest = engine.core.decode(ids[len(stable) :]) + rest
    return stable + engine.core.encode_pieces([rest])


def _unstable_count(
    engine: Engine, spec: TokenizerSpec, text: str, enabled: bytes, ids: list[int]
) -> int:
    """How many ids come from the last piece, and from the white space before it."""
    data = text.encode()
    segments = engine.core.cut(data, enabled, False)
    if not segments or segments[-1][2] >= 0:
        return 0
    begin, end, _ = segments[-1]
    segments = engine.core.cut(data[begin:end], enabled, True)
    if segments[-1][2] >= 0:
        return 0
    last_text = data[begin:end][segments[-1][0] : segments[-1][1]].decode()
    count = len(engine.core.encode_pieces(engine.pieces(last_text)[-1:]))

    def is_space(id: int) -> bool:
        return spec.kinds[id] is TokenKind.NORMAL and not spec.tokens[id].strip(b" \n\t")

    # Splits of white space may disappear when text follows: "\n" + " " can become "\n \n".
    if count and is_space(ids[-count]):
        while count < len(ids) and is_space(ids[-count - 1]):
            count += 1
    return count


def _starting_with(sorted_tokens: Sequence[bytes], prefix: bytes) -> Iterator[bytes]:
    for place in range(bisect_left(sorted_tokens, prefix), len(sorted_tokens)):
        if not sorted_tokens[place].startswith(prefix):
            return
        yield sorted_tokens[place]


def _find(engine: Engine, token: bytes) -> int:
    id = engine.core.find(token)
    assert id is not None  # it comes from the list of tokens
    return id


def _encode_bytes(engine: Engine, data: bytes, enabled: bytes) -> list[int]:
    """Bytes that are text are split as such; others are one piece."""
    try:
        return engine.encode(data.decode(), enabled)
    except UnicodeDecodeError:
        return engine.core.encode_pieces([data])


def _covering(spec: TokenizerSpec, ids: list[int], length: int) -> tuple[int, ...]:
    """The first ids whose tokens have at least this many bytes."""
    covered = 0
    for count, id in enumerate(ids, 1):
        covered += len(spec.tokens[id])
        if covered >= length:
            return tuple(ids[:count])
    return tuple(ids)


def _split_before_last_space(engine: Engine, rest: bytes) -> _Completions:
    """`\\s+(?!\\S)` makes a split before the last white space once something follows it."""
    last = rest.decode("utf-8", "ignore")[-1:]
    if not last.isspace() or not rest.endswith(last.encode()) or len(last.encode()) == len(rest):
        return set()
    cut = len(rest) - len(last.encode())
    return {tuple(engine.core.encode_pieces([rest[:cut], rest[cut:]]))}
