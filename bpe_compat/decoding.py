"""From ids to text where tokens are not simply bytes, and ids that come one at a time."""

import codecs
from collections.abc import Callable, Sequence

from .bytelevel import from_characters
from .spec import DecoderStep, TokenizerSpec, TokenKind

__all__ = ["Stream", "decode", "decode_parts"]


def decode(spec: TokenizerSpec, ids: Sequence[int]) -> str:
    """The text that the decoder steps of a spec make of some ids, as tokenizers' decoders do.

    Raises `KeyError` naming an id that is no token.
    """
    return decode_parts(spec, [_spelling(spec, id, position) for position, id in enumerate(ids)])


def decode_parts(spec: TokenizerSpec, parts: list[str]) -> str:
    """The same for tokens given as strings."""
    for step in spec.decoder:
        parts = _STEPS[step.kind](step, parts)
    return "".join(parts)


def _spelling(spec: TokenizerSpec, id: int, position: int) -> str:
    if not 0 <= id < len(spec.tokens) or spec.kinds[id] is TokenKind.UNUSED:
        raise KeyError(f"Invalid token for decoding: {id} (at position {position})")
    token = spec.tokens[id]
    if spec.kinds[id] is TokenKind.BYTE:
        return f"<0x{token[0]:02X}>"
    return token.decode("utf-8", "replace")


def _byte_level(step: DecoderStep, parts: list[str]) -> list[str]:
    spelled = (from_characters(part) for part in parts)
    data = b"".join(
        part.encode() if bytes_ is None else bytes_
        for part, bytes_ in zip(parts, spelled, strict=True)
    )
    return [data.decode("utf-8", "replace")]


def _byte_of(part: str) -> int | None:
    if len(part) == 6 and part.startswith("<0x") and part.endswith(">"):
        try:
            return int(part[3:5], 16)
        except ValueError:
            return None
    return None


def _byte_fallback(step: DecoderStep, parts: list[str]) -> list[str]:
    out: list[str] = []
    waiting = bytearray()

    def flush() -> None:
        if not waiting:
            return
        try:
            out.append(waiting.decode())
        except UnicodeDecodeError:
            out.append("\ufffd" * len(waiting))
        waiting.clear()

    for part in parts:
        byte = _byte_of(part)
        if byte is not None:
            waiting.append(byte)
            continue
        flush()
        out.append(part)
    flush()
    return out


def _fuse(step: DecoderStep, parts: list[str]) -> list[str]:
    return ["".join(parts)]


def _join(step: DecoderStep, parts: list[str]) -> list[str]:
    return [step.content.join(parts)]


def _replace(step: DecoderStep, parts: list[str]) -> list[str]:
    return [part.replace(step.pattern, step.content) for part in parts]


def _strip(step: DecoderStep, parts: list[str]) -> list[str]:
    out = []
    for part in parts:
        first, last = 0, len(part)
        while first < min(step.start, last) and part[first] == step.content:
            first += 1
        while last > max(len(part) - step.stop, first) and part[last - 1] == step.content:
            last -= 1
        out.append(part[first:last])
    return out


def _suffix(step: DecoderStep, parts: list[str]) -> list[str]:
    last = len(parts) - 1
    return [part.replace(step.content, "" if i == last else " ") for i, part in enumerate(parts)]


def _metaspace(step: DecoderStep, parts: list[str]) -> list[str]:
    return [
        part.replace(step.content, "" if i == 0 and step.start else " ")
        for i, part in enumerate(parts)
    ]


_STEPS: dict[str, Callable[[DecoderStep, list[str]], list[str]]] = {
    "byte_level": _byte_level,
    "byte_fallback": _byte_fallback,
    "fuse": _fuse,
    "join": _join,
    "replace": _replace,
    "strip": _strip,
    "suffix": _suffix,
    "metaspace": _metaspace,
}


class Stream:
    """Text of ids that come one at a time; a character is given out when it is complete.

    >>> import bpe_compat as bc
    >>> tok = bc.Tokenizer.from_ranks({bytes([i]): i for i in range(256)}, pattern=None,
    ...                               special_tokens={})
    >>> stream = tok.stream(prompt_ids=[104, 105])
    >>> [stream.step(id) for id in "né".encode()], stream.finish()
    (['n', '', 'é'], '')
    """

    def __init__(
        self,
        spec: TokenizerSpec,
        token_bytes: Callable[[int], bytes],
        prompt_ids: Sequence[int] = (),
    ) -> None:
        self._spec = spec
        self._token_bytes = token_bytes
        self._of_prompt = False
        # Bytes need no look-back. Decoder steps may look at the neighbours (a first space, bytes of
        # one character): text is decoded from `_left`, whose text has been given out, and `_new`.
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._left: list[int] = []
        self._new: list[int] = []
        for id in prompt_ids:
            self.step(id)
        # The prompt may end inside a character, which what follows may or may not complete.
        self._of_prompt = bool(self._new or self._bytes.getstate()[0])

    def step(self, id: int) -> str:
        """The text that this id completes: `""` while a character is incomplete."""
        if not self._spec.decoder:
            data = self._token_bytes(id)
            self._leave_prompt(bool(data) and 0x80 <= data[0] < 0xC0)
            return self._bytes.decode(data)
        text = decode(self._spec, [*self._left, *self._new, id])
        self._leave_prompt(self._is_byte(id))
        self._new.append(id)
        return "" if text.endswith("\ufffd") else self._give()

    def finish(self) -> str:
        """What is left of a character that was never completed, as U+FFFD."""
        self._leave_prompt(False)
        return self._give() if self._spec.decoder else self._bytes.decode(b"", final=True)

    def _leave_prompt(self, goes_on: bool) -> None:
        """Drops a part of a character at the prompt's end that nothing goes on with."""
        if self._of_prompt and not goes_on:
            self._bytes.reset()
            self._new = []
        self._of_prompt = False

    def _give(self) -> str:
        given = decode(self._spec, self._left)
        text = decode(self._spec, [*self._left, *self._new])
        self._left = self._neighbours([*self._left, *self._new])
        self._new = []
        return text[len(given) :]

    def _neighbours(self, ids: list[int]) -> list[int]:
        """The last ids, which decide how what follows is decoded: one, or those of a character.

        A part of a character would spoil the bytes that follow it.
        """
        count = 1
        while (
            count < min(len(ids), 4)
            and self._is_byte(ids[-count])
            and 0x80 <= self._spec.tokens[ids[-count]][0] < 0xC0
            and self._is_byte(ids[-count - 1])
        ):
            count += 1
        return ids[-count:]

    def _is_byte(self, id: int) -> bool:
        return self._spec.kinds[id] is TokenKind.BYTE
