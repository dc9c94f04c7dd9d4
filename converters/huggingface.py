"""Hugging Face: a folder with tokenizer.json and tokenizer_config.json, or a tokenizer.json alone.

What is written loads with the right ids in transformers 4.57 to 5.24 without this package: the
class `PreTrainedTokenizerFast`, which takes tokenizer.json as it is where model-specific classes
rebuild it; no config.json, which could name such a class; `model_input_names` spelled out, since
their default changed.
"""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import FormatError
from ..spec import TokenizerSpec
from . import added_tokens, tokenizer_config
from .base import Format, refuse_losses, require, write_files
from .json_tree import Node, load_model, looks_like
from .tokenizer_json import decoders, models, normalizers, post_processors, pre_tokenizers

if TYPE_CHECKING:
    import tokenizers

__all__ = [
    "FORMAT",
    "live",
    "read",
    "spec_of",
    "takes_prefix_space",
    "vocab_entries",
    "write",
    "write_file",
]

_SECTIONS = (
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
    "post_processor", "decoder", "model",
)  # fmt: skip
_HINT = rb'"(model|added_tokens|pre_tokenizer)"\s*:'
_PLUGIN_CLASS = "BPECompatTokenizer"
_STOCK_CLASS = "PreTrainedTokenizerFast"


def detect(path: Path) -> bool:
    """Whether this is a folder with a tokenizer.json, or a file that looks like one."""
    if path.is_dir():
        return (path / "tokenizer.json").is_file()
    return looks_like(path, _HINT)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a folder or a file."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a tokenizer.json holds its own pattern and special tokens")
    if not path.is_dir():
        return spec_of(load_model(path))
    config = tokenizer_config.read(path)
    metadata = tokenizer_config.metadata(path, config)
    tree = load_model(path / "tokenizer.json")
    spec = spec_of(tree, config, metadata)
    if config is not None and spec.byte_level:
        prefix_space = config.get("add_prefix_space", bool, spec.prefix_space)
        if prefix_space != spec.prefix_space:
            warnings.warn(
                f"{path}: add_prefix_space is {prefix_space} in tokenizer_config.json and "
                f"{spec.prefix_space} in tokenizer.json, which is followed here; the classes of "
                "transformers differ in this",
                stacklevel=2,
            )
    return spec


def spec_of(
    tree: Node, config: Node | None = None, metadata: Mapping[str, Any] | None = None
) -> TokenizerSpec:
    """The spec of a parsed tokenizer.json with a tokenizer_config.json and more beside it.

    >>> tree = {"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}
    >>> spec_of(Node(tree, "tokenizer.json")).merges
    ((0, 1),)
    """
    tree.only(*_SECTIONS)
    if (version := tree.get("version", str, "1.0")) != "1.0":
        raise tree.unsupported(f"the version {version!r}")
    model = tree.child("model")
    models.check_family(model)
    vocab = models.read_vocab(model)
    added = added_tokens.read_listed(tree, vocab)
    if config is not None:
        added = tokenizer_config.with_tokens(added, vocab, config)
    kept = {**(metadata or {}), "vocab_entries": len(vocab)}
    split = pre_tokenizers.read(tree.optional("pre_tokenizer"))
    after = post_processors.read(tree.optional("post_processor"))
    kept |= {key: tree.value[key] for key in ("truncation", "padding") if tree.value.get(key)}
    if model.value.get("dropout"):
        kept["dropout"] = model.value["dropout"]
    if after.trim_offsets is not None:
        kept["trim_offsets"] = after.trim_offsets
        kept["trim_prefix_space"] = after.prefix_space
    if after.typed_overflow:
        kept["typed_overflow"] = True
    return TokenizerSpec(
        **models.read(model, vocab, added, byte_level=split.byte_level),
        splits=split.splits,
        prefix_space=split.prefix_space,
        byte_level=split.byte_level,
        normalizers=normalizers.read(tree.optional("normalizer")),
        added_tokens=tuple(added),
        template=after.template,
        decoder=decoders.read(tree.optional("decoder"), byte_level=split.byte_level),
        metadata=kept,
    )


def text_of(spec: TokenizerSpec) -> npt.NDArray[np.uint8]:
    """The content of the tokenizer.json for a spec, in UTF-8."""
    others = {
        "version": "1.0",
        "truncation": spec.metadata.get("truncation"),
        "padding": spec.metadata.get("padding"),
        "added_tokens": added_tokens.write_listed(spec),
        "normalizer": normalizers.write(spec.normalizers),
        "pre_tokenizer": pre_tokenizers.write(spec),
        "post_processor": post_processors.write(spec, spec.metadata),
        "decoder": decoders.write(spec.decoder, byte_level=spec.byte_level),
    }
    head = json.dumps(others, ensure_ascii=False, separators=(",", ":"))
    return models.text(spec, f'{head[:-1]},"model":', "}\n")


def vocab_entries(spec: TokenizerSpec) -> int:
    """How many tokens stand in the vocab of its tokenizer.json, and are not only added tokens."""
    return models.vocab_entries(spec)


def takes_prefix_space(spec: TokenizerSpec) -> bool:
    """Whether a tokenizer.json can say that a space is put in front: its ByteLevel comes first."""
    return pre_tokenizers.takes_prefix_space(spec)


def losses(spec: TokenizerSpec) -> list[str]:
    """What a tokenizer.json cannot hold of a spec."""
    return (
        models.losses(spec)
        + normalizers.losses(spec.normalizers)
        + pre_tokenizers.losses(spec)
        + decoders.losses(spec)
    )


def write(spec: TokenizerSpec, path: Path, *, plugin: bool = False) -> list[Path]:
    """Writes a folder; with `plugin`, its class is ours and needs `import bpe_compat.hf`."""
    chosen = _PLUGIN_CLASS if plugin else _STOCK_CLASS
    beside = tokenizer_config.files(spec, path, chosen)
    return write_files(beside | {path / "tokenizer.json": text_of(spec).data})


def write_file(spec: TokenizerSpec, path: Path) -> None:
    """Writes a tokenizer.json alone."""
    refuse_losses("huggingface", losses(spec), allow_loss=False)
    write_files({path: text_of(spec).data})


def live(spec: TokenizerSpec, *, allow_loss: bool) -> "tokenizers.Tokenizer":
    """A `tokenizers.Tokenizer`, not by way of a file."""
    require("tokenizers")
    import tokenizers

    refuse_losses("tokenizers", losses(spec), allow_loss=allow_loss)
    return tokenizers.Tokenizer.from_str(text_of(spec).tobytes().decode())


FORMAT = Format(
    "huggingface",
    "folder with tokenizer.json and tokenizer_config.json, or a tokenizer.json",
    detect,
    read,
    losses,
    write,
    folder=True,
)
