"""The methods of tiktoken's `Encoding`, with the same meaning: `Tokenizer` takes its place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import decoding, unstable
from .engine import Engine
from .spec import TokenizerSpec
from .specials import AllowedSpecial, DisallowedSpecial, Specials
from .texts import all_valid, valid
from .threads import thread_count

__all__ = ["TiktokenMethods", "TokenIds"]

TokenIds = Sequence[int] | npt.NDArray[Any]
"""Ids to decode: any sequence of ints, or an array of integers, which is read as it is."""


class TiktokenMethods:
    """What `tiktoken.Encoding` offers, on top of an engine.

    Differences: the longest special token wins where several begin at one place, texts and ids that
    make tiktoken panic are ordinary input or `KeyError`s, and added tokens that are not special
    always match.
    """

    __slots__ = ()

    spec: TokenizerSpec
    _specials: Specials
    # Made on first use.
    _ranks: dict[bytes, int] | None
    _sorted_tokens: list[bytes] | None

    @property
    def engine(self) -> Engine:
        """The encoder."""
        raise NotImplementedError

    # Encoding

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[int]:
        """The ids of a text; special tokens in it are an error unless the call says otherwise.

        `allowed_special` become their ids. Of the others, those in `disallowed_special` raise
        `SpecialTokenError`, the rest is text. Lone surrogates are encoded as U+FFFD.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0}, pattern=None, special_tokens={"<x>": 1})
        >>> tok.encode("a<x>", allowed_special={"<x>"})
        [0, 1]
        """
        text = valid(text)
        self._specials.check(self.engine, text, allowed_special, disallowed_special)
        return self.engine.encode(text, self._specials.allowed(allowed_special))

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which special tokens are text like any other.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_ordinary("aaa")
        [1, 0]
        """
        return self.engine.encode(valid(text), self._specials.as_text)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> npt.NDArray[np.uint32]:
        """`encode` as an array.

        Returns uint32 ids of length n.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_to_numpy("aaa<x>", allowed_special="all")
        array([1, 0, 2], dtype=uint32)
        """
        text = valid(text)
        self._specials.check(self.engine, text, allowed_special, disallowed_special)
        return self.engine.encode_array(text, self._specials.allowed(allowed_special))

    def encode_batch(
        self,
        text: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> list[list[int]]:
        """`encode` for many texts, in parallel.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_batch(["aaa", "", "aa"])
        [[1, 0], [], [1]]
        """
        texts = all_valid(text)
        for one in texts:
            self._specials.check(self.engine, one, allowed_special, disallowed_special)
        enabled = self._specials.allowed(allowed_special)
        return self.engine.encode_lists(texts, enabled, thread_count(num_threads))

    def encode_ordinary_batch(
        self, text: Sequence[str], *, num_threads: int | None = None
    ) -> list[list[int]]:
        """`encode_ordinary` for many texts, in parallel.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_ordinary_batch(["aaa", "a"])
        [[1, 0], [0]]
        """
        threads = thread_count(num_threads)
        return self.engine.encode_lists(text, self._specials.as_text, threads)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = frozenset(),
        disallowed_special: DisallowedSpecial = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that stay if the text goes on, and the ways the rest may be completed.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_with_unstable("<x>a", allowed_special="all")
        ([2], [[0], [1]])
        """
        text = valid(text)
        self._specials.check(self.engine, text, allowed_special, disallowed_special)
        enabled = self._specials.allowed(allowed_special)
        return unstable.encode(self.engine, self.spec, self._in_order, text, enabled)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of one token, special tokens included; raises `KeyError` if it is none.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.encode_single_token(b"aa"), tok.encode_single_token("<x>")
        (1, 2)
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        id = self.engine.core.find(token)
        if id is None:
            id = self._specials.ids.get(token.decode("utf-8", "replace"))
        if id is None:
            raise KeyError(text_or_bytes)
        return id

    # Decoding

    def decode_bytes(self, tokens: TokenIds) -> bytes:
        """The bytes of some ids; raises `KeyError` naming an id that is no token.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode_bytes([1, 0, 2])
        b'aaa<x>'
        """
        if self.spec.decoder:
            return decoding.decode(self.spec, _listed(tokens)).encode()
        return self.engine.core.decode(tokens)

    def decode(self, tokens: TokenIds, errors: str = "replace") -> str:
        """The text of some ids; `errors` says what becomes of bytes that are not UTF-8.

        Raises `KeyError` naming an id that is no token.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode([1, 0, 2])
        'aaa<x>'
        """
        if self.spec.decoder:
            return decoding.decode(self.spec, _listed(tokens))
        return self.engine.core.decode_text(tokens, errors)

    def decode_batch(
        self,
        batch: Sequence[TokenIds],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
    ) -> list[str]:
        """`decode` for many lists, in parallel.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode_batch([[1, 0], [], [2]])
        ['aaa', '', '<x>']
        """
        threads = thread_count(num_threads)
        if self.spec.decoder:
            return [self.decode(tokens, errors) for tokens in batch]
        return self.engine.core.decode_text_batch(batch, threads, errors)

    def decode_bytes_batch(
        self, batch: Sequence[TokenIds], *, num_threads: int | None = None
    ) -> list[bytes]:
        """`decode_bytes` for many lists, in parallel."""
        threads = thread_count(num_threads)
        if self.spec.decoder:
            return [self.decode_bytes(tokens) for tokens in batch]
        return self.engine.core.decode_batch(batch, threads)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id; raises `KeyError` if it is no token.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode_single_token_bytes(1)
        b'aa'
        """
        return self.engine.core.token(token)

    def decode_tokens_bytes(self, tokens: TokenIds) -> list[bytes]:
        """The bytes of each id.

        Raises `KeyError` naming an id that is no token.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode_tokens_bytes([1, 0])
        [b'aa', b'a']
        """
        return [self.engine.core.token(token) for token in _listed(tokens)]

    def decode_with_offsets(self, tokens: TokenIds) -> tuple[str, list[int]]:
        """The text of some ids and where each starts in it, in characters.

        A token that starts inside a character gets the index of that character. Raises
        `UnicodeDecodeError` if the bytes are not UTF-8.

        >>> from bpe_compat import Tokenizer
        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={"<x>": 2})
        >>> tok.decode_with_offsets([1, 2, 0])
        ('aa<x>a', [0, 2, 5])
        """
        parts = self.decode_tokens_bytes(tokens)
        starts, length = [], 0
        for part in parts:
            starts.append(max(0, length - (0x80 <= (part or b" ")[0] < 0xC0)))
            length += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode(), starts

    # What there is

    @property
    def n_vocab(self) -> int:
        """The greatest id plus one."""
        return self.spec.vocab_size

    @property
    def max_token_value(self) -> int:
        """The greatest id."""
        return self.spec.vocab_size - 1

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; raises `KeyError` if there is none."""
        return self._specials.ids["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._specials.names)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is a special token's."""
        return token in self._specials.ids.values()

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, sorted."""
        return list(self._in_order)

    # Private in tiktoken in name only: with these, encodings are extended.

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        if self._ranks is None:
            object.__setattr__(self, "_ranks", self.spec.normal_ids())
        return self._ranks or {}

    @property
    def _special_tokens(self) -> dict[str, int]:
        return self._specials.ids

    @property
    def _in_order(self) -> list[bytes]:
        if self._sorted_tokens is None:
            object.__setattr__(self, "_sorted_tokens", sorted(self._mergeable_ranks))
        return self._sorted_tokens or []

    def _encode_bytes(self, text: bytes) -> list[int]:
        return unstable.encode_bytes(self.engine, self.spec, text, self._specials.as_text)


def _listed(tokens: TokenIds) -> Any:
    return tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
