"""Added tokens in text, beside tokenizers on the same file."""

import itertools
import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat.bytelevel import CHARACTERS
from bpe_compat.converters.json_tree import parse

VOCAB = {character: id for id, character in enumerate(CHARACTERS)}
FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


def tree(tokens: dict[str, str]) -> dict[str, Any]:
    """A tokenizer of bytes with these added tokens; the values name their flags by a letter."""
    next_id = itertools.count(256)
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": VOCAB[content] if content in VOCAB else next(next_id), "content": content}
            | {flag: flag[0] in letters for flag in FLAGS}
            | {"special": False}
            for content, letters in tokens.items()
        ],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True,
                          "trim_offsets": True},
        "model": {"type": "BPE", "vocab": VOCAB, "merges": []},
    }  # fmt: skip


def same(tokens: dict[str, str], texts: list[str]) -> None:
    content = json.dumps(tree(tokens))
    ours = bc.Tokenizer(bc.converters.huggingface.spec_of(parse(content.encode(), "x")))
    theirs = tokenizers.Tokenizer.from_str(content)
    for text in texts:
        ids = ours.encode(text)
        try:
            expected = theirs.encode(text).ids
        except BaseException as error:
            # Of an added token within the white space that others strip, tokenizers may panic.
            if type(error).__name__ != "PanicException":
                raise
            continue
        assert ids == expected, (tokens, text)


TEXTS = ["<x>", " <x> ", "a <x>  <x> b", "<x> <y>", " <x> <y> <x>", "<x><y> \n <x>y", "é<x>é <y>_",
         "  \n<x>\u3000<y>\u00a0", "<x", "x><x>>", " ", "y <x>  <y>  ", "<x> > <y>"]  # fmt: skip


@pytest.mark.parametrize(
    "flags", ["".join(f) for f in itertools.product(("", "l"), ("", "r"), ("", "s"))]
)
@pytest.mark.parametrize("others", ["", "lr", "s"])
def test_white_space_beside_added_tokens(flags: str, others: str) -> None:
    same({"<x>": flags, "<y>": others}, TEXTS)


@pytest.mark.parametrize("space", [" ", "\n", "  "])
def test_white_space_that_is_an_added_token_itself(space: str) -> None:
    """Two tokens with equal content cannot be; but one may lie in what another strips."""
    for flags in ("", "l", "r", "lr"):
        same({"<x>": flags, space: ""}, TEXTS)
        same({space: "", "<x>": flags}, TEXTS)
        same({"<x>": flags + "n", space: "n"}, TEXTS)
        same({"<x>": flags, space: "lr"}, TEXTS)


@given(
    st.dictionaries(
        st.sampled_from(["<x>", "<y>", " ", "x", "<x> ", "> <", "y>"]),
        st.sets(st.sampled_from("lrsn")).map("".join),
        min_size=1,
    ),
    st.lists(st.sampled_from(["<x>", "<y>", " ", "\n", "a", "<", "é", "  "]), max_size=8),
)
def test_any_flags_on_any_text(tokens: dict[str, str], parts: list[str]) -> None:
    same(tokens, ["".join(parts)])
