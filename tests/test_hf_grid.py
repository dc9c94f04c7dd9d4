"""A grid of call options on published tokenizers: the plug-in beside `PreTrainedTokenizerFast`."""

# mypy: disable-error-code="no-untyped-call"

import functools
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shared_data

transformers = pytest.importorskip("transformers")
from transformers import PreTrainedTokenizerFast  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402

pytestmark = pytest.mark.usefixtures("shared")

FILES = ["gpt2", "llama3", "qwen3", "roberta", "gemma3", "mistral_7b_hf"]
TEXT = "The naïve café  costs 12345€<|endoftext|> it's  中文 \n\n x"
BATCH = ["a", "The quick brown fox, it's 2026!", "", "  two  spaces 中文字 😀 </s> <s>"]
PAIRS = (["a b c d e f g h", "Hello there world"], ["second text that is longer", ""])
WORDS = ["The", "naïve", "café", " x", "<s>"]
INPUTS: dict[str, tuple[tuple[Any, ...], bool]] = {
    "text": ((TEXT,), False),
    "batch": ((BATCH,), False),
    "pair": (("The first text", "the second one is longer 中文 x"), False),
    "pairs": (PAIRS, False),
    "words": ((WORDS,), True),
    "batch of words": (([["a", "b"], ["one"], ["The", "quick brown", "fox"], []],), True),
    "pair of words": ((["The", "cat"], ["sat", "down", "中文"]), True),
    "empty": (("",), False),
}
CUTS = [
    (False, None, 0), (True, 12, 0), (True, 12, 4), ("only_first", 16, 1), ("only_second", 9, 3),
    (True, 5, 0), (True, 3, 3), (True, 0, 0),
]  # fmt: skip
PADS = [(False, None), (True, None), (True, 4), ("max_length", None), ("max_length", 3)]


@functools.cache
def pair_of(name: str) -> tuple[Any, Any]:
    folder = shared_data.temporary(name)
    path = shared_data.unpacked(f"tokenizers/{name}/tokenizer.json")
    tree = json.loads(path.read_text(encoding="utf-8"))
    tree["padding"] = tree["truncation"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tree))
    if (config := shared_data.find(f"tokenizers/{name}/tokenizer_config.json")) is not None:
        shutil.copy(config, folder)
    pair = [c.from_pretrained(folder) for c in (BPECompatTokenizer, PreTrainedTokenizerFast)]
    for tok in pair:
        tok.add_special_tokens({"pad_token": next(iter(tok.added_tokens_decoder.values())).content})
    return pair[0], pair[1]


def options() -> Iterator[dict[str, Any]]:
    sides = ("right", "left")
    for specials, cut, pad, side, overflow in itertools.product(
        (True, False), CUTS, PADS, sides, (False, True)
    ):
        truncation, length, stride = cut
        yield {
            "side": side,
            "add_special_tokens": specials,
            "truncation": truncation,
            "max_length": 8 if pad[0] == "max_length" and length is None else length,
            "stride": stride,
            "padding": pad[0],
            "pad_to_multiple_of": pad[1],
            "return_overflowing_tokens": overflow,
            "return_offsets_mapping": overflow or stride > 0,
            "return_special_tokens_mask": True,
            "return_token_type_ids": True,
            "return_length": True,
        }


def result(tok: Any, arguments: tuple[Any, ...], **named: Any) -> Any:
    """The result of a call, or None for an error; Rust's panics are no `Exception`."""
    named = dict(named)
    tok.padding_side = tok.truncation_side = named.pop("side")
    try:
        return tok(*arguments, **named)
    except BaseException as error:
        if type(error).__name__ not in ("Exception", "PanicException", "ValueError"):
            raise
        return None


def alignment(encoded: Any) -> list[Any]:
    """All that can be asked of words and characters."""
    found: list[Any] = []
    for i, encoding in enumerate(encoded.encodings):
        tokens = range(len(encoding.ids))
        found += [encoded.tokens(i), encoded.word_ids(i), encoded.sequence_ids(i)]
        found += [[encoded.token_to_chars(i, t), encoded.token_to_word(i, t)] for t in tokens]
        found += [encoded.token_to_sequence(i, t) for t in tokens]
        for sequence in range(encoding.n_sequences):
            for place in range(20):
                found.append(encoded.char_to_token(i, place, sequence))
                found.append(encoded.char_to_word(i, place, sequence))
            words = {word for word in encoding.word_ids if word is not None}
            known = [w for w in words if encoded.word_to_tokens(i, w, sequence)]
            found += [encoded.word_to_tokens(i, word, sequence) for word in words]
            found += [encoded.word_to_chars(i, word, sequence) for word in known]
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", FILES)
def test_calls(name: str, kind: str) -> None:
    ours, fast = pair_of(name)
    arguments, words = INPUTS[kind]
    count = 0
    for number, chosen in enumerate(options()):
        expected = result(fast, arguments, is_split_into_words=words, **chosen)
        made = result(ours, arguments, is_split_into_words=words, **chosen)
        assert (made is None) == (expected is None), chosen
        if expected is None:
            continue
        assert dict(made) == dict(expected), chosen
        assert list(made) == list(expected)
        count += 1
        if number % 5 == 0:
            assert alignment(made) == alignment(expected), chosen
    assert count > 50


@pytest.mark.parametrize("name", FILES)
def test_names_and_decoding(name: str) -> None:
    ours, fast = pair_of(name)
    assert (ours.vocab_size, len(ours)) == (fast.vocab_size, len(fast))
    assert ours.get_vocab() == fast.get_vocab()
    assert ours.get_added_vocab() == fast.get_added_vocab()
    assert ours.all_special_ids == fast.all_special_ids
    for text in (TEXT, *BATCH):
        ids = fast(text)["input_ids"]
        assert ours.tokenize(text) == fast.tokenize(text)
        assert ours.convert_ids_to_tokens(ids) == fast.convert_ids_to_tokens(ids)
        for skip in (False, True):
            assert ours.decode(ids, skip_special_tokens=skip) == fast.decode(
                ids, skip_special_tokens=skip, clean_up_tokenization_spaces=False
            )
            tokens = fast.convert_ids_to_tokens(ids, skip_special_tokens=skip)
            assert ours.convert_tokens_to_string(tokens) == fast.convert_tokens_to_string(tokens)


@pytest.mark.parametrize("name", FILES)
def test_saved_and_loaded_again(name: str, tmp_path: Path) -> None:
    """By us, and by the fast class from what we saved."""
    ours, fast = pair_of(name)
    ours.save_pretrained(tmp_path)
    for kind in (BPECompatTokenizer, PreTrainedTokenizerFast):
        again: Any = kind.from_pretrained(tmp_path)
        assert again(BATCH)["input_ids"] == fast(BATCH)["input_ids"]
        assert again(*PAIRS)["input_ids"] == fast(*PAIRS)["input_ids"]
        assert (again.vocab_size, len(again)) == (fast.vocab_size, len(fast))
        assert again.special_tokens_map == fast.special_tokens_map
