"""A folder of transformers whose tokenizer is a SentencePiece model, without a tokenizer.json.

The configs beside the model add tokens and roles, and name a class, which may do other things to
text than the model says, or give other ids. Versions of transformers differ here. Followed is what
`AutoTokenizer` makes of such a folder by the scores of the model, as SentencePiece does: 4.57 for a
folder that names a class, and 5.24 for one that names none, which older ones do not read. Where the
class of 5.x makes other ids, a warning says so.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..errors import FormatError, UnsupportedError
from ..spec import AddedToken, Template, TemplateItem, TokenizerSpec, TokenKind
from . import piece_model, tokenizer_config
from .json_tree import Node, load
from .piece_model import Model
from .pieces import BYTE, NORMAL, USER_DEFINED

__all__ = ["model_in", "read"]

_MODEL = "tokenizer.model"
# Of these names, classes make ids that are not the model's.
_SHIFTED = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model")


@dataclass(frozen=True, slots=True)
class _Class:
    """What a class does unless the config says otherwise; `prefix` is None if the model says it."""

    roles: dict[str, str]
    prefix: bool | None = True
    add_bos: bool = True


_LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_INFILLING = {
    "prefix_token": "▁<PRE>",
    "middle_token": "▁<MID>",
    "suffix_token": "▁<SUF>",
    "eot_token": "▁<EOT>",
}
_GEMMA = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
_NO_CLASS = _Class({}, prefix=None, add_bos=False)
_MISTRAL = _Class(_LLAMA, prefix=None)  # what AutoTokenizer takes for LlamaTokenizer in its folders
_CLASSES = {
    "": _NO_CLASS,
    "PreTrainedTokenizer": _NO_CLASS,
    "TokenizersBackend": _NO_CLASS,
    "LlamaTokenizer": _Class(_LLAMA),
    "CodeLlamaTokenizer": _Class(_LLAMA | _INFILLING),
    "GemmaTokenizer": _Class(_GEMMA, prefix=False),
}
_MISTRALS = ("mistral", "mixtral")


def model_in(folder: Path) -> Path | None:
    """The model of a folder, if there is one; files of ranks have the same name."""
    paths = (folder / name for name in (_MODEL, *_SHIFTED))
    return next((p for p in paths if p.is_file() and piece_model.looks_like(p)), None)


def read(folder: Path) -> TokenizerSpec:
    """Reads a folder."""
    path = model_in(folder)
    if path is None:
        raise FormatError(f"{folder}: has no {_MODEL} of SentencePiece")
    model = piece_model.parse(path)
    config = tokenizer_config.read(folder) or Node({}, "tokenizer_config.json")
    name, of_class = _class_of(path, config)
    if of_class.prefix is None:
        model = _renamed(model, config)
        _check_legacy(model, config)
    else:
        model = _as_class(model, name, of_class, config)
    spec = model.spec()
    config.value = (of_class.roles or model.roles()) | config.value
    vocab = {string: id for id, string in enumerate(model.pieces.strings)}
    added = tokenizer_config.with_tokens(spec.added_tokens, vocab, config)
    whole = _with_tokens(spec, added, cut_first=model.prefix)
    kept = tokenizer_config.metadata(folder, config)
    return replace(
        whole,
        template=_template(config, of_class, whole),
        metadata={**whole.metadata, **kept, "vocab_entries": len(vocab)},
    )


def _class_of(path: Path, config: Node) -> tuple[str, _Class]:
    """The class that a folder names, without the Fast at its end, and what it does."""
    name, kind = config.get("tokenizer_class", str, ""), ""
    if (beside := path.with_name("config.json")).is_file():
        model = load(beside)
        kind = model.get("model_type", str, "")
        name = name or model.get("tokenizer_class", str, "")
    name = name.removesuffix("Fast") or ("GemmaTokenizer" if kind.startswith("gemma") else "")
    _check_place(path, name)
    if name == "LlamaTokenizer" and kind in _MISTRALS:
        return name, _MISTRAL
    return name, _CLASSES[name]


def _check_place(path: Path, name: str) -> None:
    """Refuses folders whose ids may not be those of the model."""
    advice = f"pass {path.name} itself for the ids of the model alone"
    if name not in _CLASSES:
        raise UnsupportedError(
            f"{path.parent}: the class {name} may change the ids of {path.name}; {advice}"
        )
    if path.name != _MODEL:
        raise UnsupportedError(
            f"{path.parent}: classes of transformers that read {path.name} change its ids; {advice}"
        )
    if (path.parent / "tekken.json").is_file():
        raise UnsupportedError(
            f"{path.parent}: has {path.name} and tekken.json; pass the file that is meant"
        )


def _as_class(model: Model, name: str, of_class: _Class, config: Node) -> Model:
    """The model with what a class does to text, whatever the model says of it.

    All versions leave out the normalization of the model, and cut what the user defined out before
    a space is put in front.
    """
    prefix = bool(of_class.prefix) and config.get("add_prefix_space", bool, True)
    followed = replace(model, prefix=prefix, tidy=False, rules=b"", rules_name="identity")
    if name == "LlamaTokenizer":
        _check_legacy(followed, config)
    pieces = model.pieces
    user = [s for s, t in zip(pieces.strings, pieces.types, strict=True) if t == USER_DEFINED]
    if user and prefix:
        raise UnsupportedError(
            f"{model.name}: pieces that the user defined ({user[0]!r}, ...) in the class {name} "
            f"are not supported; pass {model.name} itself for the ids of SentencePiece"
        )
    if differing := _differences(followed, of_class, config):
        warnings.warn(
            f"{config.path}: {name} of transformers 5 {', and '.join(differing)}; followed are "
            "transformers 4 and the scores of the model",
            stacklevel=4,
        )
    return followed


def _check_legacy(model: Model, config: Node) -> None:
    if model.prefix and not config.get("legacy", bool, True):
        raise UnsupportedError(
            f"{config.path}: legacy=false, by which a space is put in front of a text but not of "
            f"what follows an added token, is not supported; pass {model.name} itself for the ids "
            "of SentencePiece"
        )


def _differences(model: Model, of_class: _Class, config: Node) -> list[str]:
    """What a class of transformers 5 does in another way."""
    found = []
    if model.prefix:
        found.append("puts a space in front of fewer texts")
    pieces = model.pieces
    scores = [s for s, t in zip(pieces.scores, pieces.types, strict=True) if t == NORMAL]
    if any(a < b for a, b in pairwise(scores)):
        found.append("merges in the order of ids")
    if "add_bos_token" not in config.value and of_class is not _CLASSES["CodeLlamaTokenizer"]:
        found.append("adds no bos_token")
    return found


def _renamed(model: Model, config: Node) -> Model:
    """The model with the names that a list of added tokens gives to ids that the model has."""
    listed = config.optional("added_tokens_decoder")
    strings = list(model.pieces.strings)
    names = {int(k): v for k, v in _contents(listed) if int(k) < len(strings)}
    kept = {string for id, string in enumerate(strings) if id not in names}
    for id, content in names.items():
        if content in kept or content == strings[id]:
            continue
        if model.pieces.types[id] == BYTE:
            raise UnsupportedError(
                f"{config.path}: the added token {content!r} takes the id {id} of a byte"
            )
        strings[id] = content
    return replace(model, pieces=replace(model.pieces, strings=strings))


def _contents(listed: Node | None) -> Iterable[tuple[str, str]]:
    for key in listed.value if listed else ():
        if key.isascii() and key.isdigit() and len(key) <= 9:  # others are refused later
            yield key, listed.child(key).get("content", str)  # type: ignore[union-attr]


def _with_tokens(
    spec: TokenizerSpec, added: Iterable[AddedToken], *, cut_first: bool
) -> TokenizerSpec:
    """The spec with these added tokens.

    With `cut_first` they are cut out of the text as it is: normalized, their names would have a
    space in front, and be found nowhere else.
    """
    ordered = sorted(added, key=lambda token: token.id)
    new = [token.content.encode() for token in ordered if token.id >= len(spec.tokens)]
    if cut_first:
        ordered = [replace(token, normalized=False) for token in ordered]
    scores = spec.metadata["scores"] + (0.0,) * len(new)
    return replace(
        spec,
        tokens=(*spec.tokens, *new),
        kinds=(*spec.kinds, *[TokenKind.CONTROL] * len(new)),
        added_tokens=tuple(ordered),
        metadata={**spec.metadata, "scores": scores},
    )


def _template(config: Node, of_class: _Class, spec: TokenizerSpec) -> Template | None:
    """The tokens of the beginning and the end around each text."""
    ids = {token.content: token.id for token in spec.added_tokens}
    wanted = {
        "bos_token": config.get("add_bos_token", bool, of_class.add_bos),
        "eos_token": config.get("add_eos_token", bool, False),
    }
    around = [
        ids.get(_content(config.value.get(r))) if there else None for r, there in wanted.items()
    ]

    def items(text: Any, type: int) -> tuple[TemplateItem, ...]:
        values = (around[0], text, around[1])
        return tuple(TemplateItem(value, type) for value in values if value is not None)

    if around == [None, None]:
        return None
    return Template(items("A", 0), items("A", 0) + items("B", 1))


def _content(role: Any) -> str:
    """The token of a role, which may be an object."""
    return str(role["content"]) if isinstance(role, dict) else str(role or "")
