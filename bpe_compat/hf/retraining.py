"""New vocabularies for the pipeline of a tokenizer: `train_new_from_iterator`."""

# mypy: disable-error-code="misc,no-any-return"

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from transformers import AddedToken as HFAddedToken
from transformers import PreTrainedTokenizer

from .. import pipeline
from ..errors import UnsupportedError
from ..spec import AddedToken, Template, TemplateItem, TokenizerSpec
from ..tokenizer import Tokenizer
from ..training import PieceCounts, train
from ..training.counting import Cutting
from .tokens import from_hf, renamed
from .vocabulary import Vocabulary

__all__ = ["Retraining"]

# What a tokenizer is made of, not how it behaves.
_SOURCES = ("tokenizer_file", "tokenizer_object", "added_tokens_decoder", "name_or_path")


class Retraining(PreTrainedTokenizer):
    """Makes tokenizers that differ in their vocabulary alone."""

    _vocabulary: Vocabulary

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[str | Sequence[str]],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Sequence[str | HFAddedToken] | None = None,
        special_tokens_map: dict[str, str] | None = None,
        *,
        min_frequency: int = 1,
        max_token_length: int | None = None,
        show_progress: bool = False,
    ) -> Any:
        """A tokenizer like this one whose vocabulary is learned from texts or batches of them.

        It has the special tokens of this one, under new names if `special_tokens_map` has some, and
        `new_special_tokens`; other added tokens are left out. The vocabulary is the one that
        `PreTrainedTokenizerFast` learns, except that special tokens in the texts are cut out of
        them first. It is larger than `vocab_size` if bytes and special tokens alone are. `length`
        is not needed. Raises `UnsupportedError` for byte fallback.
        """
        names, more = special_tokens_map or {}, list(new_special_tokens or ())
        spec = self._vocabulary.spec
        kept = [replace(t, content=names.get(t.content, t.content))
                for t in spec.added_tokens if t.special]  # fmt: skip
        kept += [from_hf(token, special=True) for token in more]
        trained = _trained(
            spec,
            [*{token.content: None for token in kept}],
            names,
            text_iterator,
            vocab_size,
            min_frequency=max(1, min_frequency),
            max_token_length=max_token_length,
            progress=show_progress,
        )
        made = _with_pipeline(trained, spec, kept, names)
        arguments = {k: v for k, v in self.init_kwargs.items() if k not in _SOURCES}
        arguments |= self._named_tokens(names, more)
        if self.chat_template is not None:
            arguments["chat_template"] = self.chat_template
        return type(self)(tokenizer_object=Tokenizer(made), **arguments)

    def _named_tokens(self, names: dict[str, str], more: list[Any]) -> dict[str, Any]:
        """The tokens that have a role, renamed, and new ones among those that have none."""
        found: dict[str, Any] = {}
        for role, tokens in self._special_tokens_map.items():
            if isinstance(tokens, list | tuple):  # in transformers 4: those without a role
                found[role] = [renamed(token, names) for token in tokens]
            elif tokens is not None:
                found[role] = renamed(tokens, names)
        extra = self.__dict__.get("_extra_special_tokens")
        if extra is not None:
            found["extra_special_tokens"] = [renamed(token, names) for token in extra] + more
        elif more:
            role = "additional_special_tokens"
            found[role] = found.get(role, []) + more
        return found


def _trained(
    spec: TokenizerSpec,
    specials: Sequence[str],
    names: dict[str, str],
    texts: Iterable[str | Sequence[str]],
    vocab_size: int,
    *,
    progress: bool,
    **options: Any,
) -> TokenizerSpec:
    """A new vocabulary, cut and spelled as a spec says it, special tokens first."""
    if spec.byte_fallback:
        raise UnsupportedError(
            "a vocabulary with byte fallback cannot be learned; start from another tokenizer"
        )
    if spec.byte_level:
        vocab_size = max(vocab_size, 256 + len(specials))
    else:
        options |= {
            "alphabet": "characters",
            "end_of_word_suffix": spec.suffix,
            "end_of_word": "separate" if spec.suffix_apart else "attached",
            "continuing_subword_prefix": spec.prefix,
        }
        if spec.unknown is not None:
            unknown = spec.tokens[spec.unknown].decode()
            options["unknown_token"] = names.get(unknown, unknown)
    counts = PieceCounts(Cutting(spec.splits, tuple(specials), by_line=False))
    counts.add(_prepared(spec, texts), progress=progress)
    return train(
        counts,
        vocab_size,
        special_tokens=specials,
        tie_break="ids",
        byte_order="gpt2",
        special_ids="first",
        progress=progress,
        **options,
    ).spec


def _prepared(spec: TokenizerSpec, texts: Iterable[str | Sequence[str]]) -> Iterator[str]:
    """Single texts as they are before the split."""
    normalize = pipeline.normalizer(spec.normalizers)
    for batch in texts:
        for text in [batch] if isinstance(batch, str) else batch:
            yield pipeline.prefixed(normalize(text), prefix_space=spec.prefix_space)


def _with_pipeline(
    trained: TokenizerSpec, old: TokenizerSpec, specials: list[AddedToken], names: dict[str, str]
) -> TokenizerSpec:
    """The new vocabulary in place of the old one."""
    ids = trained.special_tokens
    contents = {token.id: token.content for token in old.added_tokens}

    def moved(items: tuple[TemplateItem, ...]) -> tuple[TemplateItem, ...]:
        return tuple(
            item if isinstance(item.value, str) else replace(item, value=new_id(item.value))
            for item in items
        )

    def new_id(id: int) -> int:
        content = contents.get(id, "")
        content = names.get(content, content)
        if content not in ids:
            raise ValueError(
                f"the template has the token {old.tokens[id]!r}, which is no special token; name "
                "one for it in special_tokens_map"
            )
        return ids[content]

    flags = {token.content: token for token in specials}
    return replace(
        old,
        tokens=trained.tokens,
        kinds=trained.kinds,
        merges=trained.merges,
        merge_rule="pairs",
        unknown=trained.unknown,
        added_tokens=tuple(
            replace(flags.get(token.content, token), id=token.id) for token in trained.added_tokens
        ),
        metadata={name: value for name, value in old.metadata.items() if name != "vocab_entries"},
        template=old.template and Template(moved(old.template.single), moved(old.template.pair)),
    )
