"""Training: from text to counted pieces to merges to a tokenizer."""

from .counting import PieceCounts, count
from .trainer import train

__all__ = ["PieceCounts", "count", "train"]
