"""Loading from every format that this package reads."""

# mypy: disable-error-code="no-untyped-call,misc,override"

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import PreTrainedTokenizer

from .. import converters
from ..errors import BPECompatError

__all__ = ["Loading"]


class Loading(PreTrainedTokenizer):
    """Adds to `from_pretrained` what transformers itself cannot load."""

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str], *init_inputs: Any, **kwargs: Any
    ) -> Any:
        """The tokenizer of a folder, a file or a name on the hub.

        A local folder without a tokenizer.json, or a file, may be of any format of
        `converters.FORMATS`. Raises `UnsupportedError` for a tokenizer that is not BPE, and
        `FormatError` for what is none.
        """
        path = Path(pretrained_model_name_or_path, kwargs.get("subfolder", ""))
        foreign = path.is_dir() and any(path.iterdir()) and not (path / "tokenizer.json").is_file()
        if not foreign and not path.is_file():
            return cls._loaded(pretrained_model_name_or_path, *init_inputs, **kwargs)
        kwargs.pop("subfolder", None)
        with TemporaryDirectory() as folder:
            converters.write(converters.read(path), folder, format="huggingface", plugin=True)
            made = cls._loaded(folder, *init_inputs, **kwargs)
        made.name_or_path = made.init_kwargs["name_or_path"] = str(path)
        return made

    @classmethod
    def _loaded(cls, *arguments: Any, **kwargs: Any) -> Any:
        try:
            return super().from_pretrained(*arguments, **kwargs)
        except ImportError as error:
            # transformers 4 looks at every error with protobuf, and fails where that is missing.
            if isinstance(error.__context__, BPECompatError):
                raise error.__context__ from None
            raise
