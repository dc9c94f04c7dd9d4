"""Small tokenizers that several test files use."""

from typing import Any

import tiktoken
from hypothesis import strategies as st

import bpe_compat as bc

BYTES = {bytes([byte]): byte for byte in range(256)}
TRAINING_TEXT = [
    "the cat and the hat, it's 2026! naïve café 中文中文 emoji 😀😀  \n\n  def f(x): return 'x' ",
    "once upon a time, there was a little girl named Lily. She's happy; her friends weren't.\n",
] * 3


def trained(vocab_size: int = 330, **options: Any) -> bc.Tokenizer:
    return bc.train(TRAINING_TEXT, vocab_size, **options)


def twin(tok: bc.Tokenizer) -> tiktoken.Encoding:
    """tiktoken with the same ranks, made without our converter."""
    spec = tok.spec
    ranks = {
        token: id
        for id, token in enumerate(spec.tokens)
        if token.decode("utf-8", "replace") not in spec.special_tokens
    }
    pattern = spec.splits[0].pattern
    return tiktoken.Encoding(
        "twin", pat_str=pattern, mergeable_ranks=ranks, special_tokens=spec.special_tokens
    )


texts = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            ["the cat", "<|endoftext|>", "<|a|>", "<|a|>b", " '", "  \n", "it's", "中文", "😀"]
        ),
    ),
    max_size=8,
).map("".join)
