"""Hugging Face: a folder with tokenizer.json and tokenizer_config.json, or a tokenizer.json alone.

What is written loads with the right ids in transformers 4.57 to 5.24 without this package: the
class `PreTrainedTokenizerFast`, which takes tokenizer.json as it is where model-specific classes
rebuild it; no config.json, which could name such a class; `model_input_names` spelled out, since
their default changed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from ..spec import TokenizerSpec
from .base import Format, read_bytes, refuse_losses, write_files
from .json_tree import Node, load, parse
from .tokenizer_json import decoders, models, normalizers, post_processors, pre_tokenizers

if TYPE_CHECKING:
    import tokenizers

__all__ = ["FORMAT", "from_live", "live", "read", "spec_of", "write", "write_file"]

_SECTIONS = (
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
    "post_processor", "decoder", "model",
)  # fmt: skip
PLUGIN_CLASS = "BPECompatTokenizer"
_STOCK_CLASS = "PreTrainedTokenizerFast"
# Fields of a tokenizer_config.json that speak of files or classes, not of the tokenizer.
_NOT_KEPT = {
    "tokenizer_class",
    "auto_map",
    "added_tokens_decoder",
    "tokenizer_file",
    "name_or_path",
}


def detect(path: Path) -> bool:
    """Whether this is a folder with a tokenizer.json, or a file that looks like one."""
    if path.is_dir():
        return (path / "tokenizer.json").is_file()
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and any(
        f'"{key}"'.encode() in head for key in ("model", "added_tokens", "pre_tokenizer")
    )


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a folder or a file."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a tokenizer.json holds its own pattern and special tokens")
    if not path.is_dir():
        return spec_of(load(path), {})
    metadata: dict[str, Any] = {}
    config = path / "tokenizer_config.json"
    if config.is_file():
        metadata["tokenizer_config"] = load(config).value
    template = path / "chat_template.jinja"
    if template.is_file():
        metadata["chat_template"] = read_bytes(template).decode()
    return spec_of(load(path / "tokenizer.json"), metadata)


def spec_of(tree: Node, metadata: dict[str, Any]) -> TokenizerSpec:
    """The spec of a parsed tokenizer.json."""
    tree.only(*_SECTIONS)
    models.check_family(tree.child("model"))
    split = pre_tokenizers.read(tree.optional("pre_tokenizer"))
    added = models.read_added_tokens(
        tree.children("added_tokens") if tree.value.get("added_tokens") else ()
    )
    model = models.read(tree.child("model"), added, byte_level=split.byte_level)
    after = post_processors.read(tree.optional("post_processor"))
    decoder = decoders.read(tree.optional("decoder"), byte_level=split.byte_level)
    kept = {key: tree.value[key] for key in ("truncation", "padding") if tree.value.get(key)}
    if after.trim_offsets is not None:
        kept["trim_offsets"] = after.trim_offsets
    return TokenizerSpec(
        tokens=tuple(model.tokens),
        kinds=tuple(model.kinds),
        merges=model.merges,
        splits=split.splits,
        prefix_space=split.prefix_space,
        byte_level=split.byte_level,
        normalizers=normalizers.read(tree.optional("normalizer")),
        added_tokens=model.added_tokens,
        template=after.template,
        decoder=decoder,
        metadata=metadata | kept,
        **model.options,
    )


def tree_of(spec: TokenizerSpec) -> dict[str, Any]:
    """The content of the tokenizer.json for a spec."""
    return {
        "version": "1.0",
        "truncation": spec.metadata.get("truncation"),
        "padding": spec.metadata.get("padding"),
        "added_tokens": models.write_added_tokens(spec),
        "normalizer": normalizers.write(spec.normalizers),
        "pre_tokenizer": pre_tokenizers.write(spec),
        "post_processor": post_processors.write(spec, spec.metadata),
        "decoder": decoders.write(spec.decoder, byte_level=spec.byte_level),
        "model": models.write(spec),
    }


def losses(spec: TokenizerSpec) -> list[str]:
    """What a tokenizer.json cannot hold of a spec."""
    return models.losses(spec) + pre_tokenizers.losses(spec)


def write(spec: TokenizerSpec, path: Path, *, plugin: bool = False) -> list[Path]:
    """Writes a folder; with `plugin`, its class is ours and needs `import bpe_compat.hf`."""
    files = {
        path / "tokenizer_config.json": _readable_json(_config_of(spec, plugin=plugin)),
        path / "tokenizer.json": _json(tree_of(spec)),
    }
    if "chat_template" in spec.metadata:
        files[path / "chat_template.jinja"] = spec.metadata["chat_template"].encode()
    return write_files(files)


def write_file(spec: TokenizerSpec, path: Path) -> None:
    """Writes a tokenizer.json alone."""
    refuse_losses("huggingface", losses(spec), allow_loss=False)
    write_files({path: _json(tree_of(spec))})


def _config_of(spec: TokenizerSpec, *, plugin: bool) -> dict[str, Any]:
    original = spec.metadata.get("tokenizer_config", {})
    config = {key: value for key, value in original.items() if key not in _NOT_KEPT}
    if not original:
        config |= _roles(spec)
    config["tokenizer_class"] = PLUGIN_CLASS if plugin else _STOCK_CLASS
    config["clean_up_tokenization_spaces"] = False  # decoding must not alter text
    config.setdefault("model_input_names", ["input_ids", "attention_mask"])
    return config


def _roles(spec: TokenizerSpec) -> dict[str, Any]:
    """Names of special tokens that come from a format without roles.

    Only `<|endoftext|>` has a role by its name; the others are listed under the name that both
    transformers 4 and 5 read.
    """
    special = list(spec.special_tokens)
    if not special:
        return {}
    end = "<|endoftext|>"
    roles: dict[str, Any] = {"bos_token": end, "eos_token": end} if end in special else {}
    others = [token for token in special if token != end]
    return roles | ({"additional_special_tokens": others} if others else {})


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _readable_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def live(spec: TokenizerSpec, *, allow_loss: bool) -> "tokenizers.Tokenizer":
    """A `tokenizers.Tokenizer`, not by way of a file."""
    import tokenizers

    refuse_losses("tokenizers", losses(spec), allow_loss=allow_loss)
    return tokenizers.Tokenizer.from_str(_json(tree_of(spec)).decode())


def from_live(tokenizer: "tokenizers.Tokenizer") -> TokenizerSpec:
    """The spec of a live `tokenizers.Tokenizer`."""
    return spec_of(parse(tokenizer.to_str().encode(), "tokenizer"), {})


FORMAT = Format(
    "huggingface",
    "folder with tokenizer.json and tokenizer_config.json, or a tokenizer.json",
    detect,
    read,
    losses,
    write,
    folder=True,
)
