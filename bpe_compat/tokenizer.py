"""`Tokenizer`: a thin immutable face over the native encoder, with tiktoken's methods and more."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from . import _core, converters, decoding
from .bulk_methods import BulkMethods, TokenArrays
from .engine import Engine, make_engine
from .offsets import Offsets, to_byte_offsets
from .spec import TokenizerSpec
from .specials import Specials
from .texts import valid

if TYPE_CHECKING:
    import sentencepiece
    import tiktoken
    import tokenizers

__all__ = ["TokenArrays", "Tokenizer", "load"]


class Tokenizer(BulkMethods):
    """Encodes and decodes as a `TokenizerSpec` says; immutable, picklable, safe to share.

    It has the methods of tiktoken's `Encoding`, in `TiktokenMethods`, those for much text, in
    `BulkMethods`, and more. Added tokens that are not special always match.

    >>> import bpe_compat as bc
    >>> tok = bc.train(["low lower lowest low"], 262, special_tokens=(), tie_break="ids")
    >>> tok.encode("lowest")
    [257, 101, 260]
    >>> tok.decode([257, 101])
    'lowe'
    """

    __slots__ = ("_engine", "_ranks", "_sorted_tokens", "_specials", "name", "spec")

    name: str
    spec: TokenizerSpec
    _specials: Specials
    _engine: Engine | None

    def __init__(self, spec: TokenizerSpec, *, name: str | None = None) -> None:
        set_once = object.__setattr__
        set_once(self, "spec", spec)
        set_once(self, "name", name or str(spec.metadata.get("name", "bpe_compat")))
        set_once(self, "_specials", Specials(spec))
        set_once(self, "_engine", None)
        set_once(self, "_ranks", None)
        set_once(self, "_sorted_tokens", None)

    @classmethod
    def from_ranks(
        cls,
        ranks: Mapping[bytes, int],
        *,
        pattern: str | None,
        special_tokens: Mapping[str, int],
        name: str | None = None,
    ) -> "Tokenizer":
        """A tokenizer from tiktoken's four data: ranks, pattern, special tokens and a name.

        `pattern` is a name of `patterns.PATTERNS`, a regex, or None for no split; as in tiktoken,
        text that a regex does not match is dropped. Raises `FormatError` if a rank is negative or
        used twice.

        >>> ranks = {b"a": 0, b"b": 1, b"ab": 2}
        >>> tok = Tokenizer.from_ranks(ranks, pattern=None, special_tokens={})
        >>> tok.encode("abab")
        [2, 2]
        """
        spec = converters.tiktoken.spec_of(ranks, pattern, special_tokens, name)
        return cls(spec, name=name)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable; cannot set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable; cannot delete {name}")

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.spec, self.name)

    def __repr__(self) -> str:
        return f"<Tokenizer {self.name!r}: {self.spec.vocab_size} ids>"

    @property
    def engine(self) -> Engine:
        """The encoder, built on first use."""
        engine = self._engine
        if engine is None:
            engine = make_engine(self.spec)
            object.__setattr__(self, "_engine", engine)
        return engine

    # Encoding

    def encode_with_offsets(
        self,
        text: str,
        *,
        specials: Literal["text", "encode"] = "text",
        unit: Literal["characters", "bytes"] = "characters",
    ) -> tuple[list[int], Offsets]:
        """The ids of a text, and the (start, end) of what each covers.

        Offsets count characters (code points) or, with `unit="bytes"`, bytes of UTF-8. A token that
        holds part of a character covers the whole character; what a normalizer made of several
        characters covers all of them.

        >>> tok = Tokenizer.from_ranks({bytes([i]): i for i in range(256)}, pattern=None,
        ...                            special_tokens={})
        >>> tok.encode_with_offsets("é!")
        ([195, 169, 33], [(0, 1), (0, 1), (1, 2)])
        """
        text = valid(text)
        located = self.engine.locate(text, self._specials.mode(specials))
        if unit == "characters":
            return located.ids, located.offsets
        if unit == "bytes":
            return located.ids, to_byte_offsets(text, located.offsets)
        raise ValueError(f'unit must be "characters" or "bytes", not {unit!r}')

    def truncate(self, text: str, n: int, *, specials: Literal["text", "encode"] = "text") -> str:
        """The beginning of a text that its first n tokens cover, cut back to a whole character.

        >>> tok = Tokenizer.from_ranks({bytes([i]): i for i in range(256)}, pattern=None,
        ...                            special_tokens={})
        >>> tok.truncate("aé", 2)
        'a'
        """
        if n < 0:
            raise ValueError(f"n must not be negative, but is {n}")
        text = valid(text)
        ids, offsets = self.encode_with_offsets(text, specials=specials)
        if n >= len(ids):
            return text
        end = offsets[n - 1][1] if n else 0
        # The next token starts inside the last character if it covers a part of it.
        return text[: min(end, offsets[n][0])]

    def pieces(self, text: str) -> list[bytes]:
        """What the split makes of a text: the units that merges never cross.

        >>> import bpe_compat as bc
        >>> bc.train([""], 256, special_tokens=()).pieces("it's here")
        [b'it', b"'s", b' here']
        """
        return self.engine.pieces(valid(text))

    # Decoding

    def stream(self, prompt_ids: Sequence[int] = ()) -> "decoding.Stream":
        """Decodes ids one at a time, as a model makes them, after a prompt.

        Text comes in whole characters; nothing of the prompt comes again, except for a character
        that begins in it. See `decoding.Stream` for an example.
        """
        return decoding.Stream(self.spec, self.engine.core.token, prompt_ids)

    # What there is

    @property
    def _pat_str(self) -> str:  # private in tiktoken in name only; see TiktokenMethods
        return converters.tiktoken.pattern_of(self.spec)

    @property
    def unicode_version(self) -> str:
        """The version of the character classes behind the split patterns."""
        return _core.unicode_version

    # Elsewhere

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        format: str = "huggingface",
        plugin: bool = False,
        allow_loss: bool = False,
    ) -> None:
        """Writes the tokenizer in a format of `converters.FORMATS`.

        `plugin` makes a Hugging Face folder name our class instead of the stock one. Raises
        `LossyConversionError` for what the format cannot hold, unless `allow_loss`.

        >>> import tempfile, bpe_compat as bc
        >>> tok = bc.train(["low lower"], 258, special_tokens=())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save(folder)
        ...     load(folder).spec == tok.spec
        True
        """
        if plugin and format != "huggingface":
            raise ValueError(f"plugin is an option of the format huggingface, not of {format}")
        options = {"plugin": True} if plugin else {}
        converters.write(self.spec, path, format=format, allow_loss=allow_loss, **options)

    def to_tiktoken(self, *, allow_loss: bool = False) -> "tiktoken.Encoding":
        """This tokenizer as a live `tiktoken.Encoding`.

        Raises `LossyConversionError` for what it cannot do, unless `allow_loss`.

        >>> tok = Tokenizer.from_ranks({b"a": 0, b"aa": 1}, pattern=None, special_tokens={})
        >>> tok.to_tiktoken().encode("aaa")
        [1, 0]
        """
        return converters.tiktoken.live(self.spec, self.name, allow_loss=allow_loss)

    def to_tokenizers(self, *, allow_loss: bool = False) -> "tokenizers.Tokenizer":
        """This tokenizer as a live `tokenizers.Tokenizer`.

        Raises `LossyConversionError` for what it cannot do, unless `allow_loss`.

        >>> import bpe_compat as bc
        >>> tok = bc.train(["low lower"], 258, special_tokens=())
        >>> tok.to_tokenizers().encode("lower").ids == tok.encode("lower")
        True
        """
        return converters.huggingface.live(self.spec, allow_loss=allow_loss)

    def to_sentencepiece(
        self, *, allow_loss: bool = False
    ) -> "sentencepiece.SentencePieceProcessor":
        """This tokenizer of characters as a live `sentencepiece.SentencePieceProcessor`.

        Raises `LossyConversionError` for what it cannot do, unless `allow_loss`, and
        `UnsupportedError` for a tokenizer of bytes, of which it can do nothing.

        >>> from bpe_compat.converters import pieces
        >>> vocab = "<unk> a b ab".split()
        >>> model = pieces.Pieces(vocab, [0, -1, -2, -3], [2, 1, 1, 1])
        >>> normalizers = pieces.normalizers_of(prefix=False, tidy=False)
        >>> spec = pieces.spec_of(model, "x", byte_fallback=False, normalizers=normalizers)
        >>> Tokenizer(spec).to_sentencepiece().encode("abb")
        [3, 2]
        """
        return converters.sentencepiece.live(self.spec, allow_loss=allow_loss)


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """The tokenizer in a file or folder of any readable format.

    `format` is a name of `converters.FORMATS`, found out if None. `pattern` and `special_tokens`
    are for formats that do not hold them. Raises `FormatError` and `UnsupportedError`.

    >>> import tempfile, bpe_compat as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bc.train(["low lower"], 258).save(f"{folder}/low.tiktoken", format="tiktoken")
    ...     load(f"{folder}/low.tiktoken")
    <Tokenizer 'low': 258 ids>
    """
    spec = converters.read(path, format=format, pattern=pattern, special_tokens=special_tokens)
    return Tokenizer(spec)


def _rebuilt(cls: type[Tokenizer], spec: TokenizerSpec, name: str) -> Tokenizer:
    return cls(spec, name=name)
