"""`BPECompatTokenizer`: what transformers asks of a tokenizer, answered by a vocabulary."""

# mypy: disable-error-code="no-untyped-call,misc"

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import transformers
from transformers import AddedToken as HFAddedToken

from .. import converters
from ..errors import LossyConversionError
from ..spec import AddedToken, Template, TemplateItem, TokenizerSpec
from ..tokenizer import Tokenizer
from .arrow import ArrowMapper, blocks_of
from .assembly import Assembly
from .calls import Calls
from .loading import Loading
from .retraining import Retraining
from .tokens import flat, from_hf, to_hf
from .vocabulary import Vocabulary, with_own_texts, with_written_texts

if TYPE_CHECKING:
    import tokenizers

__all__ = ["BPECompatTokenizer"]

_IS_V5 = int(transformers.__version__.split(".")[0]) >= 5


class BPECompatTokenizer(Loading, Retraining, Calls):
    """A `PreTrainedTokenizer` whose ids come from bpe_compat's native encoder.

    `tokenizer_file` is a tokenizer.json; `tokenizer_object` a `bpe_compat.Tokenizer` instead of it.
    `add_prefix_space` overrides what the file says, if its first split is ByteLevel. All else is as
    in transformers: made with `from_pretrained`, or through `AutoTokenizer` once this package is
    imported.
    """

    vocab_files_names = {"tokenizer_file": "tokenizer.json"}  # noqa: RUF012 - as transformers has it
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012
    _is_made = False
    _add_bos_token = _add_eos_token = False

    def __init__(self, tokenizer_file: str | os.PathLike[str] | None = None, **kwargs: Any) -> None:
        spec = with_own_texts(_spec_of(tokenizer_file, kwargs.pop("tokenizer_object", None)))
        prefix_space = kwargs.get("add_prefix_space")
        changes = prefix_space is not None and bool(prefix_space) != spec.prefix_space
        if changes and converters.huggingface.takes_prefix_space(spec):
            spec = replace(spec, prefix_space=bool(prefix_space))
        elif changes:
            warnings.warn("add_prefix_space is ignored: ByteLevel is not first", stacklevel=2)
        # transformers asks for the vocabulary while its own __init__ runs: it must be there first.
        self._set_vocabulary(Vocabulary(Tokenizer(spec)))
        listed = kwargs.pop("added_tokens_decoder", {})
        flags = {name: bool(kwargs[name]) for name in _FLAGS if name in kwargs}
        # 5.0.0 takes "cls_sep" for missing, and fails on tokenizers that have neither.
        kwargs.setdefault("special_tokens_pattern", "none")
        # Decoding must give the text back, whatever a file says.
        kwargs["clean_up_tokenization_spaces"] = False
        super().__init__(**kwargs)
        self._is_made = True
        # As transformers has it: what was asked for, though it may be ignored.
        self.add_prefix_space = spec.prefix_space if prefix_space is None else bool(prefix_space)
        self._add_listed([listed[id] for id in sorted(listed)])
        for name, value in flags.items():
            setattr(self, f"_{name}", value)
        if flags:
            self.update_post_processor()

    def _set_vocabulary(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._assembly = Assembly.of(vocabulary)

    # Vocabulary

    @property
    def tokenizer(self) -> Tokenizer:
        """The native tokenizer."""
        return self._vocabulary.tokenizer

    @property
    def backend_tokenizer(self) -> "tokenizers.Tokenizer":
        """The same tokenizer as one of tokenizers, for code that looks into it; changes do nothing.

        Raises `LossyConversionError` for what tokenizers cannot do.
        """
        return self._vocabulary.backend

    @property
    def _tokenizer(self) -> "tokenizers.Tokenizer | None":
        """`backend_tokenizer`, where transformers' servers and pipelines look for it.

        None for what tokenizers cannot do: pipelines then do without.
        """
        try:
            return self.backend_tokenizer
        except LossyConversionError:
            return None

    @property
    def decoder(self) -> Any:
        """The decoder of `backend_tokenizer`."""
        return self.backend_tokenizer.decoder

    @property
    def is_fast(self) -> bool:
        """Whether results know words and characters, as pipelines that ask this want them to."""
        return True

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the model, without those that are only added."""
        return self._vocabulary.model_size

    def get_vocab(self) -> dict[str, int]:
        """All tokens, added ones included, and their ids."""
        return dict(self._vocabulary.ids)

    @property
    def vocab(self) -> dict[str, int]:
        """All tokens, added ones included, and their ids."""
        return self.get_vocab()

    def __len__(self) -> int:
        return len(self._vocabulary.ids)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token or of each; that of `unk_token` for unknown ones, None without it."""
        if tokens is None:
            return None
        if isinstance(tokens, str):
            id = self._vocabulary.ids.get(tokens)
            return self.unk_token_id if id is None else id
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id or of each as a string; raises `KeyError` naming one that is none."""
        if isinstance(ids, int):
            return self._vocabulary.spelling(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else ()
        return [self._vocabulary.spelling(id) for id in map(int, ids) if id not in skipped]

    # What transformers' generation asks of single tokens.
    def _convert_token_to_id(self, token: str) -> Any:
        return self.convert_tokens_to_ids(token)

    def _convert_id_to_token(self, index: int) -> str:
        return self._vocabulary.spelling(int(index))

    # Added tokens

    @property
    def added_tokens_decoder(self) -> dict[int, HFAddedToken]:
        """Added tokens by their ids."""
        return {token.id: to_hf(token) for token in self._vocabulary.spec.added_tokens}

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The ids of added tokens by their text."""
        return {token.content: token.id for token in self._vocabulary.spec.added_tokens}

    def get_added_vocab(self) -> dict[str, int]:
        """The ids of added tokens by their text."""
        return self.added_tokens_encoder

    # transformers fills these two while its __init__ runs; here they have no state of their own.
    @property
    def _added_tokens_decoder(self) -> dict[int, HFAddedToken]:
        return self.added_tokens_decoder

    @_added_tokens_decoder.setter
    def _added_tokens_decoder(self, value: Any) -> None:
        """Nothing to set."""

    @property
    def _added_tokens_encoder(self) -> dict[str, int]:
        return self.added_tokens_encoder

    @_added_tokens_encoder.setter
    def _added_tokens_encoder(self, value: Any) -> None:
        """Nothing to set."""

    def _add_tokens(
        self, new_tokens: Sequence[str | HFAddedToken] | None, special_tokens: bool = False
    ) -> int:
        """Adds tokens and returns how many were new or got other flags."""
        if not self._is_made:  # transformers' __init__, which has forgotten their flags
            return 0
        return self._add([from_hf(token, special=special_tokens) for token in new_tokens or ()])

    def _add(self, tokens: Iterable[AddedToken]) -> int:
        known = dict(self._vocabulary.added)
        kept = []
        for token in tokens:
            before = known.get(token.content)
            if token.content and (before is None or before != replace(token, id=before.id)):
                known[token.content] = token if before is None else replace(token, id=before.id)
                kept.append(token)
        if kept:
            self._set_vocabulary(self._vocabulary.with_added(kept))
        return len(kept)

    def _add_listed(self, listed: list[HFAddedToken]) -> None:
        """Adds the tokens of a tokenizer_config.json: those that it lists, then those it names."""
        named = flat(self._special_tokens_map.values())
        names = {str(token) for token in named}
        tokens = [from_hf(token, special=str(token) in names) for token in listed]
        known = self._vocabulary.added | {token.content: token for token in tokens}
        for token in named:
            before = known.get(str(token))
            # transformers 4 lets the flags of a named token win, 5 those that were there.
            if before is None or (isinstance(token, HFAddedToken) and not _IS_V5):
                made = from_hf(token, special=True)
            else:
                made = replace(before, special=True)
            known[made.content] = made
            tokens.append(made)
        # Special tokens without a name, which transformers 4 has among the named ones.
        extra = self.__dict__.get("_extra_special_tokens", ())
        rest = {str(token): token for token in extra if str(token) not in known}
        tokens += [from_hf(token, special=isinstance(token, str)) for token in rest.values()]
        self._add(tokens)

    # A template of bos_token and eos_token alone, as transformers 5 has it

    @property
    def add_bos_token(self) -> bool:
        """Whether `bos_token` was asked for in front of texts."""
        return self._add_bos_token

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._add_bos_token = value
        self.update_post_processor()

    @property
    def add_eos_token(self) -> bool:
        """Whether `eos_token` was asked for behind texts."""
        return self._add_eos_token

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._add_eos_token = value
        self.update_post_processor()

    def update_post_processor(self) -> None:
        """Replaces the template by one of the flags and of today's `bos_token` and `eos_token`.

        Does nothing in transformers 4, whose `PreTrainedTokenizerFast` heeds no flags.
        """
        if not _IS_V5:
            return
        self._add_bos_token &= self.bos_token is not None
        self._add_eos_token &= self.eos_token is not None
        bos, eos = self.bos_token_id, self.eos_token_id
        single: list[TemplateItem] = []
        pair: list[TemplateItem] = []
        for type_id, text in enumerate("AB"):
            items = [TemplateItem(bos, type_id)] if self._add_bos_token else []
            items.append(TemplateItem(text, type_id))  # type: ignore[arg-type]
            # In a pair of transformers, the second text's own end has its type, too.
            items += [TemplateItem(eos, type_id)] if self._add_eos_token else []
            pair += items
            single = single or items
        old = self._vocabulary.spec
        metadata = {**old.metadata, "trim_offsets": False, "typed_overflow": False}
        template = Template(tuple(single), tuple(pair))
        if (template, metadata) != (old.template, old.metadata):
            spec = replace(old, template=template, metadata=metadata)
            self._set_vocabulary(Vocabulary(Tokenizer(spec)))

    # Decoding

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of tokens given as strings; those that are unknown stand for themselves."""
        return self._vocabulary.text_of(tokens)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        """The text of ids, never altered: no clean-up, no spaces added between tokens."""
        if isinstance(token_ids, Mapping):  # the result of a call
            token_ids = token_ids["input_ids"]
        ids = [token_ids] if isinstance(token_ids, int) else list(token_ids)
        if skip_special_tokens:
            ids = [id for id in ids if id not in self._vocabulary.special_ids]
        return self.tokenizer.decode(ids)

    # Columns

    def map_arrow(
        self,
        column: str = "text",
        *,
        attention_mask: bool = False,
        max_length: int | None = None,
        add_special_tokens: bool = True,
        block_size: int | None = None,
    ) -> ArrowMapper:
        """A function for `ds.with_format("arrow").map(fn, batched=True, remove_columns=[...])`.

        It makes the columns `input_ids` and, if asked, `attention_mask` of a column of texts, a
        table in and a table out. `max_length` truncates. With `block_size`, documents are joined by
        `eos_token` and cut into rows of that many ids; the end of a batch that fills no row is left
        out.
        """
        return ArrowMapper(
            self._vocabulary,
            self._assembly,
            column,
            attention_mask,
            max_length,
            self.truncation_side == "left",
            add_special_tokens,
            block_size,
            self.eos_token_id,
        )

    def pack(
        self, texts: Iterable[Any], block_size: int, *, dtype: npt.DTypeLike = np.int32
    ) -> npt.NDArray[Any]:
        """Documents joined by `eos_token`, as rows of `block_size` ids for a language model.

        `texts` are texts or a column of Arrow. The rest that fills no row is left out. Raises
        `ValueError` if an id does not fit into `dtype`.
        """
        blocks = blocks_of(self._vocabulary, texts, block_size, self.eos_token_id)
        if blocks.size and blocks.max() > np.iinfo(np.dtype(dtype)).max:
            raise ValueError(f"the id {blocks.max()} does not fit into {np.dtype(dtype)}")
        return blocks.astype(dtype)

    # Files

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Writes the tokenizer.json; `save_pretrained` writes the rest.

        Warns of added tokens that only this class decodes to their text. Raises
        `LossyConversionError` where ids would change.
        """
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        path = Path(save_directory) / f"{prefix}tokenizer.json"
        spec = self._vocabulary.spec
        written = with_written_texts(spec)
        converters.huggingface.write_file(written, path)
        texts = {t.content for t in spec.added_tokens if spec.tokens[t.id] != written.tokens[t.id]}
        if texts:
            warnings.warn(
                f"other tokenizers read the same ids from {path}, but decode {sorted(texts)} to "
                "other text: all characters of these added tokens stand for bytes",
                stacklevel=2,
            )
        return (str(path),)


_FLAGS = ("add_bos_token", "add_eos_token")


def _spec_of(
    tokenizer_file: str | os.PathLike[str] | None, tokenizer_object: Tokenizer | None
) -> TokenizerSpec:
    if tokenizer_object is not None:
        return tokenizer_object.spec
    if tokenizer_file is None:
        raise ValueError("BPECompatTokenizer needs a tokenizer_file or a tokenizer_object")
    return converters.read(tokenizer_file, format="huggingface")
