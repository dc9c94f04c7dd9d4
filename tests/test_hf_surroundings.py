"""What the code around a tokenizer touches: its attributes, results as dicts, wrong arguments."""

# mypy: disable-error-code="no-untyped-call"

import copy
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc

transformers = pytest.importorskip("transformers")
from transformers import PreTrainedTokenizerFast  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402

V4 = transformers.__version__.startswith("4.")
TEXT = "the cat and the hat"


@pytest.fixture(params=[BPECompatTokenizer, PreTrainedTokenizerFast])
def tok(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Ours, then theirs: the same is true of both."""
    bc.train([TEXT] * 3, 265, special_tokens=["<|endoftext|>", "<s>", "<pad>"]).save(tmp_path)
    return request.param.from_pretrained(tmp_path, pad_token="<pad>", bos_token="<s>")


# Attributes


def test_attributes(tok: Any) -> None:
    assert tok.vocab == tok.get_vocab()
    assert type(tok.decoder).__name__ == "ByteLevel"
    assert tok._tokenizer.encode(TEXT).ids == tok(TEXT)["input_ids"]
    assert tok.backend_tokenizer.get_vocab() == tok.vocab


def test_what_tokenizers_cannot_do_has_no_backend() -> None:
    ours: Any = BPECompatTokenizer(tokenizer_object=bc.train([TEXT], 260))
    ours.add_tokens(["č"])
    assert ours._tokenizer is None
    with pytest.raises(bc.errors.LossyConversionError, match="č"):
        _ = ours.backend_tokenizer


@pytest.mark.skipif(V4, reason="transformers 4 has no such method in its general class")
def test_the_template_follows_a_new_token_when_asked_to(tok: Any) -> None:
    tok.add_bos_token = True
    tok.bos_token = "<pad>"
    tok.update_post_processor()
    assert tok("")["input_ids"] == [tok.pad_token_id]


# Results


def test_results_are_dicts(tok: Any) -> None:
    encoded = tok(TEXT)
    plain = dict(encoded)
    for union in (encoded | {"labels": [1]}, {"labels": [1]} | encoded):
        assert dict(union) == plain | {"labels": [1]}
        assert not union.is_fast
        with pytest.raises(ValueError, match="word_ids"):
            union.word_ids()
    encoded["labels"] = [1]
    assert copy.copy(encoded).word_ids() == encoded.word_ids() != []
    assert encoded.is_fast


# Arguments that would change a result without a word


@pytest.mark.parametrize(
    "options",
    [
        {"truncation": True, "max_length": -1},
        {"truncation": True, "max_length": 3, "stride": -1},
        {"padding": True, "pad_to_multiple_of": -4},
        {"padding": "max_length", "max_length": -4},
        {"padding": "max_length", "max_length": 9, "padding_side": "middle"},
        {"is_split_into_words": True},
    ],
)
@pytest.mark.parametrize("batched", [True, False])
def test_arguments_that_make_no_sense(tok: Any, options: dict[str, Any], batched: bool) -> None:
    kinds = (ValueError, OverflowError, TypeError)
    with pytest.raises(kinds, match=r"negative|'left' or 'right'|`left` or `right`|Input|input"):
        tok([TEXT] * 2 if batched and "is_split_into_words" not in options else TEXT, **options)


def test_words_beside_a_text(tok: Any) -> None:
    with pytest.raises(TypeError):
        tok(["the", "cat"], "and", is_split_into_words=True)
    with pytest.raises(TypeError):
        tok("the", ["and"])


def test_a_side_that_is_none(tok: Any) -> None:
    tok.truncation_side = "middle"
    with pytest.raises(ValueError, match="left"):
        tok(TEXT, truncation=True, max_length=2)
