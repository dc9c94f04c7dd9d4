"""GPT-2's vocab.json and merges.txt."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers

import bpe_compat as bc

# GPT-2's files

VOCAB = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "#": 5, "##": 6, "#v": 7, "v": 8}


def read_gpt2(vocab: Any, merges: bytes, folder: Path) -> bc.Tokenizer:
    (folder / "vocab.json").write_text(json.dumps(vocab))
    (folder / "merges.txt").write_bytes(merges)
    return bc.load(folder)


@pytest.mark.parametrize(
    ("merges", "text", "tokens"),
    [
        (b"#version: 0.2\na b\nab c\n", "abc", ["abc"]),
        (b"a b\nab c\n", "abc", ["abc"]),
        (b"#version: 0.2\na b\nab c", "abc", ["abc"]),
        (b"#version: 0.2\r\na b\r\nab c\r\n", "abc", ["abc"]),
        (b"\xef\xbb\xbf#version: 0.2\na b\nab c\n", "abc", ["abc"]),
        (b"#version: 0.2\na b\n\nab c\n", "abc", ["abc"]),
        (b"#version: 0.2\n# #\n", "##", ["##"]),
        (b"#version: 0.2\n# v\n", "#v", ["#v"]),
        (b"# v\n", "#v", ["#v"]),
        (b"a b\nab c\na b\n", "abc", ["abc"]),
    ],
)
def test_headers_and_line_ends_of_merges(
    merges: bytes, text: str, tokens: list[str], tmp_path: Path
) -> None:
    tok = read_gpt2(VOCAB, merges, tmp_path)
    assert [tok.decode([id]) for id in tok.encode(text)] == tokens


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (b"#version: 0.2\na b \nab c\n", "line 2: 'a b ' is not two tokens"),
        (b"#version: 0.2\nabc\n", "line 2: 'abc' is not two tokens"),
        (b"a b\n a\n", "line 2: ' a' is not two tokens"),
        (b"a b\na  b\n", "line 2: 'a  b' is not two tokens"),
        (b"a z\n", "line 1: 'z' is not in vocab.json"),
        (b"b a\n", "line 1: 'ba' is not in vocab.json"),
        (b"a \xff\n", "byte 2 is not UTF-8"),
        (b"#version: 0.2\ra b\rab c\r", r"line 1: '#version: 0.2\\ra b"),
    ],
)
def test_bad_merges_are_named_by_line(merges: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(bc.errors.FormatError, match=f"merges.txt: {message}"):
        read_gpt2(VOCAB, merges, tmp_path)


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ({"a": 0, "b": 0}, "id 0 is used twice, by 'a' and 'b'"),
        ({"a": "0"}, "the id of 'a' is '0'"),
        ({"a": True}, "the id of 'a' is True"),
        ({"a": -1}, "the id of 'a' is -1"),
        ({"a": 1 << 40}, "the id of 'a' is"),
        (["a"], "must be an object, not a list"),
    ],
)
def test_bad_vocabularies_are_named(vocab: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(bc.errors.FormatError, match=f"vocab.json: {message}"):
        read_gpt2(vocab, b"", tmp_path)


def test_tokens_spelled_in_characters_are_told_from_bytes(tmp_path: Path) -> None:
    assert not read_gpt2({"中": 0, "</w>": 1}, b"", tmp_path).spec.byte_level
    assert read_gpt2({"Ġa": 0, "Ċ": 1}, b"", tmp_path).spec.byte_level


def test_repeated_pairs_keep_their_last_place(tmp_path: Path) -> None:
    """As tokenizers reads them: here b+c comes before a+b."""
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}
    tok = read_gpt2(vocab, b"a b\nb c\na b\n", tmp_path)
    theirs = tokenizers.models.BPE.from_file(
        str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    )
    assert tok.encode("abc") == [t.id for t in theirs.tokenize("abc")] == [0, 4]


@pytest.mark.parametrize("content", ["日本", "<été>", "[x y]", "<|a|>", "Ġ", "\u2028", "a b"])
def test_special_tokens_of_any_text(content: str, tmp_path: Path) -> None:
    """Characters that GPT-2 gives to no byte stand for themselves; the others are a loss."""
    tok = bc.train(["the cat the hat 日本"] * 3, 262, special_tokens=[content])
    losses = bc.converters.FORMATS["gpt2"].losses(tok.spec)
    if content in ("<été>", "Ġ"):
        assert any("the text of the added token" in loss for loss in losses)
        return
    assert losses == []
    tok.save(tmp_path, format="gpt2")
    again = bc.load(tmp_path)
    text = f"the{content} cat 日本"
    ids = tok.encode(text, allowed_special="all")
    assert again.encode(text, allowed_special="all") == ids
    assert again.decode(ids) == text
    assert again.spec.special_tokens == tok.spec.special_tokens


def test_special_tokens_of_any_text_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tok = bc.train(["the cat the hat 日本"] * 3, 262, special_tokens=["日本", "<|endoftext|>"])
    tok.save(tmp_path, format="gpt2")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    text = "the日本 cat<|endoftext|> 日 本"
    ids = tok.encode(text, allowed_special="all")
    assert theirs(text)["input_ids"] == ids
    assert theirs.decode(ids, clean_up_tokenization_spaces=False) == text


def test_openais_names_of_the_files(tmp_path: Path) -> None:
    tok = bc.train(["the cat and the hat"], 270, special_tokens=())
    tok.save(tmp_path / "a", format="gpt2")
    (tmp_path / "b").mkdir()
    for old, new in (("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")):
        (tmp_path / "b" / new).write_bytes((tmp_path / "a" / old).read_bytes())
    assert bc.converters.detect(tmp_path / "b") == "gpt2"
    assert bc.load(tmp_path / "b").spec == tok.spec


def test_a_class_that_says_characters_is_not_believed(tmp_path: Path) -> None:
    tok = bc.train(["the cat and the hat"], 270, special_tokens=())
    tok.save(tmp_path, format="gpt2")
    config = {"tokenizer_class": "CharBPETokenizer", "end_of_word_suffix": "</w>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert bc.load(tmp_path).encode("the hat") == tok.encode("the hat")


@pytest.mark.parametrize(("left", "right"), [("\n", "a"), (" ", "a"), ("a", "\r")])
def test_merges_with_spaces_and_line_ends_are_refused(
    left: str, right: str, tmp_path: Path
) -> None:
    """A file would be written that nobody can read, so that no loss can be allowed either."""
    tokens = tuple(text.encode() for text in (left, right, left + right))
    spec = bc.spec.TokenizerSpec(tokens, merges=((0, 1),), byte_level=False)
    with pytest.raises(bc.errors.UnsupportedError, match=r"merges\.txt has two tokens and a space"):
        bc.converters.write(spec, tmp_path / "x", format="gpt2", allow_loss=True)
    assert not (tmp_path / "x").exists()
    bc.converters.write(spec, tmp_path / "y", format="huggingface")
    assert bc.load(tmp_path / "y").encode(left + right) == [2]


def test_ids_of_added_tokens_that_the_vocabulary_has(tmp_path: Path) -> None:
    """An added_tokens.json may list tokens of the vocabulary again, and others behind them."""
    tok = bc.train(["low lower"], 262, special_tokens=["<unk>", "<s>"], special_ids="first")
    bc.converters.write(tok.spec, tmp_path / "x", format="gpt2")
    (tmp_path / "x" / "tokenizer_config.json").unlink()
    listed = {"<unk>": 0, "<s>": 1, "<|im_end|>": 262}
    (tmp_path / "x" / "added_tokens.json").write_text(json.dumps(listed))
    again = bc.load(tmp_path / "x")
    assert {token.content: token.id for token in again.spec.added_tokens} == listed
    assert again.spec.tokens[:262] == tok.spec.tokens
    assert bc.convert(tmp_path / "x", tmp_path / "x.gguf", to="gguf") == []
    assert bc.load(tmp_path / "x.gguf").encode("<|im_end|>", allowed_special="all") == [262]


def test_a_space_in_front_is_in_the_config(tmp_path: Path) -> None:
    """As GPT2Tokenizer of transformers has it."""
    tok = bc.train(["the cat and the hat"], 270, special_tokens=())
    spec = replace(tok.spec, prefix_space=True)
    bc.converters.write(spec, tmp_path / "a", format="huggingface")
    assert bc.convert(tmp_path / "a", tmp_path / "b", to="gpt2") == []
    assert bc.load(tmp_path / "b").spec == spec
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path / "b")
    assert auto("the cat")["input_ids"] == bc.Tokenizer(spec).encode("the cat")
    assert auto("the cat")["input_ids"] != tok.encode("the cat")
