"""`BPECompatTokenizer`: the native encoder as a `PreTrainedTokenizer` of transformers.

Importing this module registers the class with `AutoTokenizer`, which then loads folders that name
it (`tok.save(folder, plugin=True)`). Without the import, transformers 5 loads such a folder with
its own fast class, to the same ids.
"""

# mypy: disable-error-code="no-untyped-call"

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformers import AddedToken as HFAddedToken
from transformers import AutoConfig, AutoTokenizer, PretrainedConfig, PreTrainedTokenizer
from transformers.tokenization_utils_base import TruncationStrategy

from . import converters
from .bytelevel import to_characters
from .spec import AddedToken, Template, TokenizerSpec, TokenKind
from .tokenizer import Tokenizer

__all__ = ["BPECompatConfig", "BPECompatTokenizer"]


class BPECompatConfig(PretrainedConfig):
    """The model type under which `AutoTokenizer` knows `BPECompatTokenizer`."""

    model_type = "bpe_compat"


class _Vocabulary:
    """The native tokenizer and the strings that transformers uses for its ids.

    Reduces to its content: `datasets` hashes it, and must see neither caches nor addresses.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.spec = tokenizer.spec
        self.spellings = _spellings(self.spec)
        self.ids = {token: id for id, token in enumerate(self.spellings) if token is not None}
        self.special_ids = frozenset(self.spec.special_tokens.values())

    def __reduce__(self) -> Any:
        return _Vocabulary, (self.tokenizer,)

    def spelling(self, id: int) -> str:
        """The string of an id; raises `KeyError` naming one that is no token."""
        spelling = self.spellings[id] if 0 <= id < len(self.spellings) else None
        if spelling is None:
            raise KeyError(f"Invalid token for decoding: {id}")
        return spelling


def _spellings(spec: TokenizerSpec) -> list[str | None]:
    """The string of each id: added tokens as they are, bytes in GPT-2's characters.

    A token whose spelling is also an added token's text gets its bytes in hexadecimal instead.
    """
    contents = {token.id: token.content for token in reversed(spec.added_tokens)}
    taken = set(contents.values())
    spellings: list[str | None] = []
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        if kind is TokenKind.UNUSED:
            spellings.append(None)
        elif id in contents:
            spellings.append(contents[id])
        else:
            in_bytes = spec.byte_level and kind is TokenKind.NORMAL
            spelled = to_characters(token) if in_bytes else token.decode("utf-8", "replace")
            clash = spelled in taken or kind is TokenKind.BYTE
            spellings.append(f"<0x{token.hex().upper()}>" if clash else spelled)
    return spellings


class BPECompatTokenizer(PreTrainedTokenizer):
    """A `PreTrainedTokenizer` whose ids come from bpe_compat's native encoder.

    `tokenizer_file` is a tokenizer.json; `tokenizer_object` a `bpe_compat.Tokenizer` instead of it.
    `add_prefix_space` overrides what the file says. All else is as in transformers: made with
    `from_pretrained`, or through `AutoTokenizer` once this module is imported.
    """

    vocab_files_names = {"tokenizer_file": "tokenizer.json"}  # noqa: RUF012 - as transformers has it
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012

    def __init__(
        self,
        tokenizer_file: str | os.PathLike[str] | None = None,
        tokenizer_object: Tokenizer | None = None,
        add_prefix_space: bool | None = None,
        **kwargs: Any,
    ) -> None:
        if tokenizer_object is None:
            if tokenizer_file is None:
                raise ValueError("BPECompatTokenizer needs a tokenizer_file or a tokenizer_object")
            spec = converters.read(tokenizer_file, format="huggingface")
        else:
            spec = tokenizer_object.spec
        if add_prefix_space is not None:
            kwargs["add_prefix_space"] = add_prefix_space
            spec = replace(spec, prefix_space=add_prefix_space)
        # transformers asks for the vocabulary while its own __init__ runs: it must be there first.
        self._vocabulary = _Vocabulary(Tokenizer(spec))
        listed = {token.id: _to_hf(token) for token in reversed(spec.added_tokens)}
        kwargs["added_tokens_decoder"] = {**listed, **kwargs.get("added_tokens_decoder", {})}
        # 5.0.0 takes "cls_sep" for missing, and fails on tokenizers that have neither.
        kwargs.setdefault("special_tokens_pattern", "none")
        # Decoding must give the text back, whatever a file says.
        kwargs["clean_up_tokenization_spaces"] = False
        super().__init__(**kwargs)
        self._take_over(self._added_tokens_decoder.items())

    # Vocabulary

    @property
    def tokenizer(self) -> Tokenizer:
        """The native tokenizer."""
        return self._vocabulary.tokenizer

    @property
    def vocab_size(self) -> int:
        """The number of ids that are no added token's."""
        return self._vocabulary.spec.base_count

    def get_vocab(self) -> dict[str, int]:
        """All tokens, added ones included, and their ids."""
        return dict(self._vocabulary.ids)

    def __len__(self) -> int:
        return self._vocabulary.spec.token_count

    def _add_tokens(
        self, new_tokens: Sequence[str | HFAddedToken] | None, special_tokens: bool = False
    ) -> int:
        """Adds tokens behind the greatest id and returns how many were no added tokens before.

        A token of the vocabulary is meant only if it is spelled *and* decoded like the new one: "č"
        is not the byte 0x0D, though GPT-2 spells that byte so.
        """
        taken: dict[int, HFAddedToken] = {}
        next_id = self._vocabulary.spec.vocab_size
        for new in new_tokens or ():
            token = self._as_added(new, special_tokens)
            if not token.content or token.content in self._added_tokens_encoder:
                continue
            id = self._vocabulary.ids.get(token.content)
            if id is None or self._vocabulary.spec.tokens[id] != token.content.encode():
                id, next_id = next_id, next_id + 1
            taken[id] = token
            if token.special and token.content not in self.all_special_tokens:
                extra = getattr(self, "_extra_special_tokens", None)
                (self._additional_special_tokens if extra is None else extra).append(token)
            self._added_tokens_decoder[id] = token
            self._added_tokens_encoder[token.content] = id
        self._take_over(taken.items())
        return len(taken)

    def _as_added(self, new: str | HFAddedToken, special: bool) -> HFAddedToken:
        if isinstance(new, str):
            special = special or new in self.all_special_tokens
            return HFAddedToken(new, normalized=not special, special=special)
        if not isinstance(new, HFAddedToken):
            raise TypeError(f"a token must be str or AddedToken, not {type(new).__name__}")
        if special:
            new.special = True
        return new

    def _take_over(self, tokens: Iterable[tuple[int, HFAddedToken]]) -> None:
        """Brings added tokens of transformers into the native tokenizer."""
        spec = self._vocabulary.spec
        known = {token.content: token for token in spec.added_tokens}
        named = set(self.all_special_tokens)
        changed = dict(known)
        for id, token in tokens:
            special = token.special or token.content in named
            changed[token.content] = _from_hf(token, id, special=special)
        if changed == known:
            return
        size = 1 + max(token.id for token in changed.values())
        missing = max(0, size - len(spec.tokens))
        all_tokens = [*spec.tokens, *[b""] * missing]
        kinds = [*spec.kinds, *[TokenKind.UNUSED] * missing]
        for added in changed.values():
            if kinds[added.id] is TokenKind.UNUSED:
                all_tokens[added.id], kinds[added.id] = added.content.encode(), TokenKind.CONTROL
        spec = replace(
            spec,
            tokens=tuple(all_tokens),
            kinds=tuple(kinds),
            added_tokens=tuple(sorted(changed.values(), key=lambda token: token.id)),
        )
        self._vocabulary = _Vocabulary(Tokenizer(spec))

    # Encoding

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """The tokens of a text as strings; special tokens are text if `split_special_tokens`."""
        as_text = kwargs.pop("split_special_tokens", self.split_special_tokens)
        ids = self.tokenizer.encode_arrays([text], specials="text" if as_text else "encode").ids
        return [self._vocabulary.spelling(id) for id in ids.tolist()]

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return self.tokenize(text, **kwargs)

    def _convert_token_to_id(self, token: str) -> int | None:
        return self._vocabulary.ids.get(token, self._vocabulary.spec.unknown)

    def _convert_id_to_token(self, index: int) -> str:
        return self._vocabulary.spelling(index)

    def _encode_plus(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("return_offsets_mapping"):
            raise NotImplementedError(
                "BPECompatTokenizer gives no offset_mapping yet; "
                "use tok.tokenizer.encode_with_offsets(text)"
            )
        return super()._encode_plus(*args, **kwargs)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The ids of a text or a pair with the special tokens that the template puts around."""
        return [id for id, _, _ in self._arranged(token_ids_0, token_ids_1)]

    def get_special_tokens_mask(
        self,
        token_ids_0: list[int],
        token_ids_1: list[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 for each id that the template adds, 0 for the others."""
        if already_has_special_tokens:
            return [int(id in self._vocabulary.special_ids) for id in token_ids_0]
        return [int(is_added) for _, _, is_added in self._arranged(token_ids_0, token_ids_1)]

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The type of each id as the template says it."""
        return [type_id for _, type_id, _ in self._arranged(token_ids_0, token_ids_1)]

    def _arranged(self, first: list[int], second: list[int] | None) -> list[tuple[int, int, bool]]:
        """(id, type id, whether the template adds it) for a text or a pair."""
        template: Template | None = self._vocabulary.spec.template
        if template is None:
            return [(id, 0, False) for id in first] + [(id, 1, False) for id in second or ()]
        arranged: list[tuple[int, int, bool]] = []
        for item in template.single if second is None else template.pair:
            if isinstance(item.value, int):
                arranged.append((item.value, item.type_id, True))
            else:
                ids = first if item.value == "A" else second or ()
                arranged += [(id, item.type_id, False) for id in ids]
        return arranged

    def truncate_sequences(
        self,
        ids: list[int],
        pair_ids: list[int] | None = None,
        num_tokens_to_remove: int = 0,
        truncation_strategy: str | TruncationStrategy = "longest_first",
        stride: int = 0,
    ) -> tuple[list[int], list[int], list[int]]:
        """Cuts ids to size; `longest_first` shares what is left as tokenizers does.

        transformers' slow classes take turns between the two texts instead, which gives other ids
        than its fast ones.
        """
        strategy = TruncationStrategy(truncation_strategy)
        if pair_ids is None or strategy != TruncationStrategy.LONGEST_FIRST:
            return super().truncate_sequences(
                ids, pair_ids, num_tokens_to_remove, truncation_strategy, stride
            )
        room = len(ids) + len(pair_ids) - max(0, num_tokens_to_remove)
        first, second = _shares(len(ids), len(pair_ids), room)
        if self.truncation_side == "left":
            return ids[len(ids) - first :], pair_ids[len(pair_ids) - second :], []
        return ids[:first], pair_ids[:second], []

    # Decoding

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of tokens given as strings."""
        ids = [self._vocabulary.ids[token] for token in tokens]
        return self.tokenizer.decode(ids)

    def _decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        """The text of ids, never altered: no clean-up, no spaces added between tokens."""
        ids = [token_ids] if isinstance(token_ids, int) else list(token_ids)
        if skip_special_tokens:
            ids = [id for id in ids if id not in self._vocabulary.special_ids]
        return self.tokenizer.decode(ids)

    # Files

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Writes the tokenizer.json; `save_pretrained` writes the rest."""
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        path = Path(save_directory) / f"{prefix}tokenizer.json"
        converters.huggingface.write_file(self._vocabulary.spec, path)
        return (str(path),)


def _shares(first: int, second: int, room: int) -> tuple[int, int]:
    """How much of two lengths fits into `room`: the shorter one whole if it needs at most half."""
    shorter, longer = sorted((first, second))
    longer = min(longer, max(shorter, room - shorter))
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (shorter, longer) if first <= second else (longer, shorter)


def _to_hf(token: AddedToken) -> HFAddedToken:
    return HFAddedToken(
        token.content,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        single_word=token.single_word,
        normalized=token.normalized,
        special=token.special,
    )


def _from_hf(token: HFAddedToken, id: int, *, special: bool) -> AddedToken:
    return AddedToken(
        token.content,
        id,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        single_word=token.single_word,
        normalized=token.normalized,
        special=special,
    )


# One class, under one config type: with a slow and a fast class together, transformers 5 returns
# the fast one for both names.
AutoConfig.register(BPECompatConfig.model_type, BPECompatConfig, exist_ok=True)
AutoTokenizer.register(BPECompatConfig, slow_tokenizer_class=BPECompatTokenizer, exist_ok=True)
