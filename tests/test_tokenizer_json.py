"""tokenizer.json: forms, errors, ids."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import bpe_compat as bc
from bpe_compat.bytelevel import to_characters
from bpe_compat.converters.json_tree import parse

# tokenizer.json


# Code points that are unassigned, or surrogates, or private.
UNSTABLE = ("Cn", "Cs", "Co")


def read_json(tree: dict[str, Any]) -> bc.Tokenizer:
    data = json.dumps(tree).encode()
    return bc.Tokenizer(bc.converters.huggingface.spec_of(parse(data, "tokenizer.json")))


def model(**fields: Any) -> dict[str, Any]:
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4}
    return {"model": {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], **fields}}


def added(content: str, id: int, **flags: bool) -> dict[str, Any]:
    names = ("single_word", "lstrip", "rstrip", "normalized")
    return {"id": id, "content": content, **dict.fromkeys(names, False), "special": True, **flags}


@pytest.mark.parametrize("merges", [["a b"], [["a", "b"]]])
def test_merges_as_strings_and_as_pairs(merges: list[Any]) -> None:
    tok = read_json(model(merges=merges))
    assert tok.encode("abc") == [3, 2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"merges": ["a b", ["b", "c"]]}, r"model: merges\[1\] is \['b', 'c'\]"),
        ({"merges": ["a  b"]}, r"merges\[0\] is 'a  b'"),
        ({"merges": ["ab"]}, r"merges\[0\] is 'ab'"),
        ({"merges": [["a", "b", "c"]]}, r"merges\[0\]"),
        ({"merges": [["a", 1]]}, r"merges\[0\]"),
        ({"merges": [["a", "z"]]}, r"merges\[0\] .* 'z' is no token"),
        ({"merges": [["b", "a"]]}, r"merges\[0\] .* 'ba' is no token"),
        ({"vocab": {"a": 0, "b": 0}}, "id 0 is used twice, by 'a' and 'b'"),
        ({"vocab": {"a": None}}, "the id of 'a' is None"),
        ({"unk_token": "<unk>"}, "the unk_token '<unk>' is not in the vocab"),
        ({"merges": None}, "merges: must be a list, not null"),
        ({"byte_fallback": "yes"}, "byte_fallback: must be true or false, not a string"),
    ],
)
def test_bad_models_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=message):
        read_json(model(**fields))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"model": {"type": "Unigram", "vocab": []}}, "a Unigram model, which is not BPE"),
        ({"model": {"vocab": [["a", 0.0]], "unk_id": 0}}, "a Unigram model"),
        ({"model": {"type": "WordPiece", "vocab": {}}}, "a WordPiece model"),
        (
            {**model(), "pre_tokenizer": {"type": "Unknown"}},
            "pre_tokenizer: the pre-tokenizer Unknown",
        ),
        ({**model(), "normalizer": {"type": "Nmt"}}, "normalizer: the normalizer Nmt"),
        ({**model(), "decoder": {"type": "CTC"}}, "decoder: the decoder CTC"),
        ({**model(), "post_processor": {"type": "X"}}, "post_processor: the post-processor X"),
        ({**model(), "surprise": 1}, "the key 'surprise' is not known"),
        ({"model": {**model()["model"], "surprise": 1}}, "model: the key 'surprise'"),
        (
            {**model(), "pre_tokenizer": {"type": "Split", "pattern": {"Regex": r"\X"}}},
            r"\\X at offset 0",
        ),
    ],
)
def test_what_a_spec_cannot_express_is_refused(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(bc.errors.UnsupportedError, match=message):
        read_json(tree)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "line 1: Expecting property name"),
        (b"[]", "must be an object, not a list"),
        (b'{"model": 5}', "model: must be an object, not an integer"),
        (b"{}", "'model' is missing"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"model": {"vocab": {"\\ud83d": 0}, "merges": []}}', "model.vocab: .* is no text"),
        (
            b'{"added_tokens": [{"content": "x\\uDE00"}]}',
            r"added_tokens\[0\].content: .* is no text",
        ),
        (b'{"version": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_bad_json_is_named(data: bytes, message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=f"tokenizer.json.*{message}"):
        bc.converters.huggingface.spec_of(parse(data, "tokenizer.json"))


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "any_name.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(model()).encode())
    assert bc.load(path).encode("abc") == [3, 2]


def test_a_prefix_of_inner_subwords_is_dropped_from_what_merges_make() -> None:
    vocab = {"e": 0, "##e": 1, "##x": 2, "##ex": 3, "ee": 4}
    merges = [["##e", "##x"], ["e", "##e"]]
    tok = read_json(model(vocab=vocab, merges=merges, continuing_subword_prefix="##"))
    assert tok.encode("eex") == [0, 3]


def test_an_added_token_that_contradicts_the_vocab() -> None:
    tree = {**model(), "added_tokens": [{"id": 7, "content": "ab", "special": True}]}
    with pytest.raises(
        bc.errors.FormatError, match="'ab' has the id 7, but tokenizers reads it as 3"
    ):
        read_json(tree)


def test_ids_behind_a_gap_keep_their_place(tmp_path: Path) -> None:
    """tokenizers numbers added tokens from the size of its vocab on; they must stand in it."""
    ranks = {bytes([b]): b for b in range(256)}
    tok = bc.Tokenizer.from_ranks(
        ranks, pattern="cl100k", special_tokens={"<a>": 300, "<b>": 1000, "<c>": 256}
    )
    tok.save(tmp_path / "x")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "x" / "tokenizer.json"))
    assert theirs.encode("<a>x<b><c>").ids == [300, 120, 1000, 256]
    assert bc.load(tmp_path / "x").spec.special_tokens == tok.spec.special_tokens


def test_byte_level_tokens_decode_as_bytes_without_a_decoder() -> None:
    text = "I can feel the magic"
    tok = bc.train([text], 265)
    tree = json.loads(tok.to_tokenizers().to_str())
    tree["decoder"] = None
    again = read_json(tree)
    assert again.decode(again.encode(text)) == text


def test_specials_are_told_apart_from_the_bytes_they_are_spelled_like() -> None:
    tree = {
        "version": "1.0",
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
        "added_tokens": [added("Ġx", 256)],
        "model": {"vocab": {to_characters(bytes([b])): b for b in range(256)}, "merges": []},
    }  # fmt: skip
    tok = read_json(tree)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(tree))
    assert tok.encode("Ġx", allowed_special="all") == theirs.encode("Ġx").ids == [256]
    assert tok.decode([256]) == theirs.decode([256], skip_special_tokens=False) == " x"
    assert tok.encode(" x") == [32, 120]


def test_pairs_of_surrogates_are_characters() -> None:
    data = b'{"model": {"vocab": {"\\ud83d\\ude00": 0, "a": 1}, "merges": []}}'
    tok = bc.Tokenizer(bc.converters.huggingface.spec_of(parse(data, "tokenizer.json")))
    assert tok.encode("a😀") == [1, 0]


@pytest.mark.parametrize("id", [3_000_000, 1 << 31, 1 << 40, 1 << 70, -1])
def test_huge_ids_are_refused_before_memory_is_taken(id: int) -> None:
    for tree in (
        model(vocab={"a": 0, "b": id}, merges=[]),
        {**model(), "added_tokens": [added("<x>", id)]},
    ):
        with pytest.raises(bc.errors.FormatError, match=f"is {id}"):
            read_json(tree)


@pytest.mark.parametrize("id", [5, 1 << 40, -1])
@pytest.mark.parametrize("kind", ["RobertaProcessing", "BertProcessing", "TemplateProcessing"])
def test_ids_of_a_post_processor_must_be_tokens(kind: str, id: int) -> None:
    post: dict[str, Any] = {"type": kind, "cls": ["a", 0], "sep": ["<s>", id]}
    if kind == "TemplateProcessing":
        part = {"SpecialToken": {"id": "<s>", "type_id": 0}}
        special = {"<s>": {"id": "<s>", "ids": [id], "tokens": ["<s>"]}}
        post = {"type": kind, "single": [part], "pair": [part], "special_tokens": special}
    with pytest.raises(bc.errors.FormatError, match=f"the id {id}, which is no token"):
        read_json({**model(), "post_processor": post})


def test_dropout_is_carried_along_and_not_used(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"dropout of 0.1 is written back, but not used"):
        tok = read_json(model(dropout=0.1))
    assert tok.encode("abab") == [3, 3]
    tok.save(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    assert content["model"]["dropout"] == 0.1
    with pytest.raises(bc.errors.FormatError, match="dropout must be a number, not 'x'"):
        read_json(model(dropout="x"))


PRE_TOKENIZERS: list[dict[str, Any]] = [
    *({"type": "Punctuation", "behavior": name} for name in ("Isolated", "Contiguous", "Removed")),
    {"type": "BertPreTokenizer"},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "CharDelimiterSplit", "delimiter": "-"},
]


@pytest.mark.parametrize("pre", PRE_TOKENIZERS, ids=lambda pre: "-".join(map(str, pre.values())))
def test_pre_tokenizers_on_every_code_point(pre: dict[str, Any]) -> None:
    """Read and, as the splits of a spec, written again."""
    tok = read_json({**model(), "pre_tokenizer": pre})
    theirs = tokenizers.Tokenizer.from_str(json.dumps({**model(), "pre_tokenizer": pre}))
    again = tok.to_tokenizers()
    known = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in UNSTABLE]
    for start in range(0, len(known), 500):
        text = "".join(f"a{c}b{c}{c}. {c}1" for c in known[start : start + 500])
        expected = [piece for piece, _ in theirs.pre_tokenizer.pre_tokenize_str(text)]
        assert [piece.decode() for piece in tok.pieces(text)] == expected
        assert [piece for piece, _ in again.pre_tokenizer.pre_tokenize_str(text)] == expected


@pytest.mark.parametrize("kind", ["Whitespace", "WhitespaceSplit"])
def test_named_splits_come_back_by_name(kind: str, tmp_path: Path) -> None:
    tree = {"pre_tokenizer": {"type": kind}, "model": {"vocab": {"a": 0, "b": 1}, "merges": []}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tree))
    tok = bc.load(tmp_path)
    tok.save(tmp_path / "b")
    written = json.loads((tmp_path / "b" / "tokenizer.json").read_text())
    assert written["pre_tokenizer"] == tree["pre_tokenizer"]
    assert bc.load(tmp_path / "b").spec == tok.spec
