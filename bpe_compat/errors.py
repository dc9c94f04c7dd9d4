"""What bpe_compat raises for bad input.

All descend from `BPECompatError`; the four children are also `ValueError`, so that code written for
tiktoken or tokenizers keeps catching them.
"""

__all__ = [
    "BPECompatError",
    "FormatError",
    "LossyConversionError",
    "SpecialTokenError",
    "UnsupportedError",
]


class BPECompatError(Exception):
    """Base of all errors of this package."""


class FormatError(BPECompatError, ValueError):
    """A file, text or specification is not what its format says; the message names the place."""


class UnsupportedError(BPECompatError, ValueError):
    """Something valid that bpe_compat cannot express, named by its JSON path or byte offset."""


class LossyConversionError(BPECompatError, ValueError):
    """The target format cannot hold all of a tokenizer.

    `losses` lists what would be lost, one sentence each.

    >>> raise LossyConversionError("gpt2", ["the normalizer NFC"])
    Traceback (most recent call last):
    bpe_compat.errors.LossyConversionError: gpt2 cannot hold: the normalizer NFC (pass allow_loss=True to write it anyway)
    """  # noqa: E501

    def __init__(self, format: str, losses: list[str]) -> None:
        self.format = format
        self.losses = losses
        super().__init__(format, losses)

    def __str__(self) -> str:
        listed = "; ".join(self.losses)
        return f"{self.format} cannot hold: {listed} (pass allow_loss=True to write it anyway)"


class SpecialTokenError(BPECompatError, ValueError):
    """A text holds a special token that the call does not allow, or a special token is unusable."""
