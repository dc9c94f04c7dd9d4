"""GPT-2's spelling of bytes as characters, used by `vocab.json`, `merges.txt` and `tokenizer.json`.

Printable Latin-1 bytes stand for themselves; the other 68 are U+0100 and up, in the order of the
bytes. Source: `bytes_to_unicode` in the GPT-2 release (encoder.py).
"""

__all__ = ["BYTE_ORDER", "CHARACTERS", "from_characters", "to_characters"]

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTE_ORDER = bytes([*_PRINTABLE, *_OTHERS])
"""The bytes by the code points of their characters: GPT-2's ids 0 to 255."""

CHARACTERS = "".join(
    chr(byte) if byte in _PRINTABLE else chr(0x100 + _OTHERS.index(byte)) for byte in range(256)
)
"""The character of each byte."""

_TO_CHARACTER = dict(enumerate(CHARACTERS))
# str.translate to Latin-1 is the fastest way back; unmapped characters are caught by the encoder,
# except those below U+0100 that stand for no byte, which map to a character outside Latin-1.
_TO_LATIN1 = dict.fromkeys(range(256), 65535) | {
    ord(character): byte for byte, character in enumerate(CHARACTERS)
}


def to_characters(token: bytes) -> str:
    """The GPT-2 spelling of some bytes.

    >>> to_characters(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return token.decode("latin-1").translate(_TO_CHARACTER)


def from_characters(spelled: str) -> bytes | None:
    """The bytes that a GPT-2 spelling stands for, or None if a character stands for no byte.

    >>> from_characters("Ġthe")
    b' the'
    >>> from_characters("▁the") is None
    True
    """
    try:
        return spelled.translate(_TO_LATIN1).encode("latin-1")
    except UnicodeEncodeError:
        return None
