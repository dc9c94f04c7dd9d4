"""`BPECompatTokenizer`: the native encoder as a `PreTrainedTokenizer` of transformers.

Importing this package registers the class with `AutoTokenizer`, which then loads folders that name
it (`tok.save(folder, plugin=True)`). Without the import, transformers 5 loads such a folder with
its own fast class, to the same ids.
"""

# mypy: disable-error-code="no-untyped-call"

from transformers import AutoConfig, AutoTokenizer, PretrainedConfig

from .plugin import BPECompatTokenizer

__all__ = ["BPECompatConfig", "BPECompatTokenizer"]


class BPECompatConfig(PretrainedConfig):
    """The model type under which `AutoTokenizer` knows `BPECompatTokenizer`."""

    model_type = "bpe_compat"


# One class, under one config type: with a slow and a fast class together, transformers 5 returns
# the fast one for both names.
AutoConfig.register(BPECompatConfig.model_type, BPECompatConfig, exist_ok=True)
AutoTokenizer.register(BPECompatConfig, slow_tokenizer_class=BPECompatTokenizer, exist_ok=True)
