"""The plug-in beside `PreTrainedTokenizerFast` on the same folder: calls, names, added tokens."""

# mypy: disable-error-code="no-untyped-call"

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc
from bpe_compat.spec import AddedToken as OurAddedToken

transformers = pytest.importorskip("transformers")
from transformers import AddedToken, BatchEncoding, PreTrainedTokenizerFast  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402

V5 = not transformers.__version__.startswith("4.")
TEXT = ["the cat and the hat, it's 2026! naïve café 中文中文 def f(x): return 'x'"] * 3
SPECIAL = ["<|endoftext|>", "<s>", "<pad>"]
Both = Callable[..., tuple[Any, Any]]


def write(folder: Path, **sections: Any) -> Path:
    """An export of a small tokenizer with some sections of its tokenizer.json replaced."""
    tok = bc.train(TEXT, 300, special_tokens=SPECIAL)
    tok.save(folder)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | sections))
    return folder


def template() -> dict[str, Any]:
    ids = bc.train(TEXT, 300, special_tokens=SPECIAL).spec.special_tokens
    text = [{"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB")]
    special = [{"SpecialToken": {"id": "<s>", "type_id": n}} for n in range(2)]
    return {
        "type": "TemplateProcessing",
        "single": [special[0], text[0]],
        "pair": [special[0], text[0], special[1], text[1], special[1]],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [ids["<s>"]], "tokens": ["<s>"]}},
    }


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Makes ours and theirs of one folder, with the same arguments."""

    def make(*, config: dict[str, Any] | None = None, **arguments: Any) -> tuple[Any, Any]:
        folder = tmp_path / "made"
        write(folder, **arguments.pop("sections", {}))
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | (config or {})))
        pair = [
            kind.from_pretrained(folder, **copy.deepcopy(arguments))
            for kind in (BPECompatTokenizer, PreTrainedTokenizerFast)
        ]
        for tok in pair:
            tok.pad_token = "<pad>"
        return pair[0], pair[1]

    return make


def plain(encoding: Any) -> dict[str, Any]:
    return {key: getattr(value, "tolist", lambda v=value: v)() for key, value in encoding.items()}


def agree(both: tuple[Any, Any], asked: str | Callable[[Any], Any], *args: Any, **kw: Any) -> Any:
    """The result of both to a function or a method; an error of theirs must be one of ours."""

    def call(tok: Any) -> Any:
        return getattr(tok, asked)(*args, **kw) if isinstance(asked, str) else asked(tok)

    try:
        expected = call(both[1])
    except BaseException as error:
        if type(error).__name__ not in ("Exception", "PanicException", "ValueError", "TypeError"):
            raise
        with pytest.raises((ValueError, TypeError)):
            call(both[0])
        return None
    result = call(both[0])
    if hasattr(expected, "items"):
        assert plain(result) == plain(expected)
        assert not isinstance(expected, BatchEncoding) or list(result) == list(expected)
    else:
        assert result == expected
    return expected


# Calls


@pytest.mark.parametrize("with_template", [False, True])
@pytest.mark.parametrize("specials", [True, False])
def test_token_type_ids_of_pairs_and_of_empty_texts(
    both: Both, with_template: bool, specials: bool
) -> None:
    pair = both(sections={"post_processor": template()} if with_template else {})
    options = {"return_token_type_ids": True, "add_special_tokens": specials}
    for call in (("the cat", "and"), ("the", ""), ("", ""), ("", "the"), (["a", ""], ["", "b"])):
        agree(pair, "__call__", *call, **options)
        agree(pair, "__call__", *call, padding=True, **options)
    for texts in ([""], ["", "the cat"], ""):
        agree(pair, "__call__", texts, padding=True, **options)
        agree(pair, "__call__", texts, padding="max_length", max_length=4, **options)


@pytest.mark.parametrize("specials", [True, False])
@pytest.mark.parametrize("strategy", ["only_first", "only_second", "longest_first"])
def test_lengths_that_truncation_cannot_reach(both: Both, strategy: str, specials: bool) -> None:
    pair = both(sections={"post_processor": template()})
    for call in (("the cat and", "x"), ("x", "the cat and"), ("the cat and the hat",), ("x", "")):
        for length in range(8):
            options = {"truncation": strategy, "add_special_tokens": specials}
            agree(pair, "__call__", *call, max_length=length, **options)


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4])
def test_a_stride_that_does_not_fit_is_an_error(both: Both, stride: int) -> None:
    pair = both(sections={"post_processor": template()})
    for text in ("one", "one two three four"):
        options = {"truncation": True, "max_length": 4, "return_overflowing_tokens": True}
        agree(pair, "__call__", text, stride=stride, **options)
    with pytest.raises(ValueError, match="stride is 3, but must be smaller"):
        pair[0]("one two three four", truncation=True, max_length=4, stride=3)


def test_no_length_is_too_long(both: Both) -> None:
    ours, _ = both()
    assert ours("the", truncation=True, max_length=ours.model_max_length) == ours("the")


def test_words_are_no_pairs(both: Both) -> None:
    pair = both()
    words: Any
    for words in ([["the", "cat"], ["and", "hat"]], [["the"], ["a", "b", "c"]], [["a", "b"]], [[]]):
        expected = agree(pair, "__call__", words, is_split_into_words=True)
        assert expected is not None
    agree(
        pair, lambda tok: tok([["the"], ["a", "b"]], [["x"], ["y", "z"]], is_split_into_words=True)
    )
    agree(pair, lambda tok: tok([(["the"], ["a", "b"])], is_split_into_words=True))
    agree(pair, lambda tok: tok([("the", "cat"), ("a", "b")]))


def test_special_tokens_as_text_in_batches(both: Both) -> None:
    pair = both()
    texts = ["a<|endoftext|>b", "<s>", "x"]
    for option in (True, False):
        agree(pair, "__call__", texts, split_special_tokens=option)
        agree(pair, "__call__", texts[0], split_special_tokens=option)
    agree(
        pair,
        lambda tok: tok([texts[:2], texts], is_split_into_words=True, split_special_tokens=True),
    )
    for tok in pair:
        tok.split_special_tokens = True
    agree(pair, lambda tok: tok(texts))
    agree(pair, lambda tok: tok(texts[0], texts[1]))


def test_tokens_of_a_pair(both: Both) -> None:
    pair = both(sections={"post_processor": template()})
    for option in (False, True):
        agree(pair, "tokenize", "the cat", add_special_tokens=option)
        agree(pair, "tokenize", "the <s>", pair="and naïve", add_special_tokens=option)  # fmt: skip


# Names


def test_unknown_tokens_as_strings(both: Both) -> None:
    pair = both()
    for tokens in ("zzzz", ["the", "zzzz", "<s>"], [], "Ġthe"):
        agree(pair, "convert_tokens_to_ids", tokens)
    for tokens in (["zzz", "Ġthe", "<s>"], ["a b", "中"], [], ["Ã", "©"]):
        agree(pair, "convert_tokens_to_string", tokens)
    for tok in pair:
        tok.unk_token = "<pad>"
    agree(pair, lambda tok: tok.convert_tokens_to_ids(["zzzz", "the"]))


def test_sizes(both: Both) -> None:
    pair = both(config={"sep_token": "<sep>"})
    agree(pair, lambda tok: (tok.vocab_size, len(tok), tok.get_vocab()))
    for tok in pair:
        tok.add_tokens(["<new>", "<new2>"])
        tok.add_special_tokens({"cls_token": "<s>"})
    agree(pair, lambda tok: (tok.vocab_size, len(tok), tok.get_vocab(), tok.all_special_ids))
    agree(pair, lambda tok: tok.get_added_vocab())


@pytest.mark.usefixtures("shared")
def test_sizes_of_field_case_a08(shared: Path, tmp_path: Path) -> None:
    with (shared / "cases" / "cases.jsonl").open(encoding="utf-8") as lines:
        case = next(c for c in map(json.loads, lines) if c["id"] == "A08")
    import shared_data

    bc.load(shared_data.rank_file(case["fixture"])).save(tmp_path)
    for kind in (BPECompatTokenizer, PreTrainedTokenizerFast):
        tok = kind.from_pretrained(tmp_path)
        tok.add_tokens(case["input"]["added"])
        assert {
            "vocab_size": tok.vocab_size, "len": len(tok), "max_id": max(tok.get_vocab().values())
        } == case["expected"]  # fmt: skip


def test_two_special_tokens_with_one_id() -> None:
    tok = bc.train(TEXT, 300, special_tokens=SPECIAL)
    twin = OurAddedToken("<twin>", tok.spec.special_tokens["<s>"])
    from dataclasses import replace

    spec = replace(tok.spec, added_tokens=(*tok.spec.added_tokens, twin))
    ours = BPECompatTokenizer(tokenizer_object=bc.Tokenizer(spec), bos_token="<twin>")
    assert ours("<s>a<twin>")["input_ids"] == [twin.id, 97, twin.id]
    assert ours.convert_tokens_to_ids(["<s>", "<twin>"]) == [twin.id] * 2
    assert (ours.vocab_size, len(ours)) == (297, 301)
    assert ours.decode([twin.id, 97], skip_special_tokens=True) == "a"
    assert ours.add_tokens(["<new>"]) == 1
    assert ours("<twin><new>")["input_ids"] == [twin.id, 300]


# Added tokens


@pytest.mark.parametrize("special", [True, False])
def test_adding_tokens(both: Both, special: bool) -> None:
    pair = both()
    tokens = ["<a>", AddedToken("<b>", lstrip=True), AddedToken("<c>", special=True), "", "the"]
    agree(pair, lambda tok: tok.add_tokens(copy.deepcopy(tokens), special_tokens=special))
    agree(pair, lambda tok: tok.add_tokens(["<a>"], special_tokens=special))
    agree(pair, lambda tok: tok.add_tokens(AddedToken("<a>", rstrip=True), special_tokens=special))
    agree(pair, lambda tok: (len(tok), tok.get_vocab(), tok.all_special_tokens))
    agree(pair, lambda tok: {k: repr(v) for k, v in tok.added_tokens_decoder.items()})
    for text in ("x <a>  y <b><c>", "the<b>the", "a  <b>"):
        expected = agree(pair, "__call__", text)
        agree(pair, "__call__", text, split_special_tokens=True)
        agree(pair, "decode", expected["input_ids"], skip_special_tokens=True)
    with pytest.raises(TypeError):
        pair[0].add_tokens(["<left>", 3])
    assert "<left>" not in pair[0].get_vocab()


def listed(content: str, **flags: bool) -> dict[str, Any]:
    names = ("lstrip", "rstrip", "single_word", "normalized", "special")
    return {"content": content} | {name: flags.get(name, False) for name in names}


@pytest.mark.parametrize("ids", [(300, 301), (305, 999_999_999), (2, 300), (301, 300)])
def test_ids_of_the_config_are_not_believed(both: Both, ids: tuple[int, int]) -> None:
    tokens = [listed("<x>", special=True), listed("<y>", lstrip=True)]
    own = {str(id): listed(token, special=True) for token, id in
           bc.train(TEXT, 300, special_tokens=SPECIAL).spec.special_tokens.items()}  # fmt: skip
    config = {
        "added_tokens_decoder": own | {str(i): t for i, t in zip(ids, tokens, strict=True)},
        "bos_token": "<x>",
    }
    pair = both(config=config)
    agree(pair, lambda tok: tok.get_vocab())
    agree(pair, lambda tok: tok("a <y> <x> b"))
    agree(pair, lambda tok: tok.bos_token_id)


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word", "normalized"])
def test_flags_of_named_tokens_are_kept(both: Both, flag: str) -> None:
    tokens = {
        "mask_token": AddedToken("<mask>", **{flag: True}),
        "sep_token": AddedToken("<s>", **{flag: True}),
        "additional_special_tokens": [AddedToken("<more>", **{flag: True}), "<plain>"],
    }
    pair = both(**tokens)
    agree(pair, lambda tok: {k: repr(v) for k, v in tok.added_tokens_decoder.items()})
    for text in ("a  <mask>  b", "x<mask>y <more> <plain> z", "a  <s>  b"):
        agree(pair, "__call__", text)
        agree(pair, "tokenize", text)


# What is put in front


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+|\w+"}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        {"type": "Sequence", "pretokenizers": [SPLIT, BYTE_LEVEL | {"use_regex": False}]},
        {"type": "Sequence", "pretokenizers": [SPLIT, BYTE_LEVEL]},
    ],
)
def test_a_prefix_space_behind_another_split_is_not_heeded(
    both: Both, pre_tokenizer: dict[str, Any]
) -> None:
    pair = both(sections={"pre_tokenizer": pre_tokenizer}, add_prefix_space=True)
    agree(pair, lambda tok: tok(["the cat", " the", ""]))
    assert pair[0].add_prefix_space
    pair[0].save_pretrained(Path(pair[0].name_or_path) / "again")
    with pytest.warns(UserWarning, match="add_prefix_space is ignored"):
        BPECompatTokenizer.from_pretrained(pair[0].name_or_path, add_prefix_space=True)


@pytest.mark.parametrize("splits", [[], [SPLIT]])
def test_a_prefix_space_where_bytes_come_first(both: Both, splits: list[dict[str, Any]]) -> None:
    """In transformers 4 as there; its newer versions ignore the argument."""
    steps = {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, *splits]}
    pair = both(sections={"pre_tokenizer": steps if splits else BYTE_LEVEL}, add_prefix_space=True)
    plain_ids = BPECompatTokenizer.from_pretrained(pair[0].name_or_path, add_prefix_space=False)
    assert pair[0]("the cat") == plain_ids(" the cat")
    if not V5 and not splits:
        agree(pair, lambda tok: tok(["the cat", " the", ""]))


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("eos", [True, False])
def test_flags_for_bos_and_eos(both: Both, bos: bool, eos: bool) -> None:
    flags = {"add_bos_token": bos, "add_eos_token": eos}
    names = {"bos_token": "<s>", "eos_token": "<|endoftext|>"}
    for sections in ({}, {"post_processor": template()}):
        pair = both(sections=sections, **flags, **names)
        for call in (("the cat",), ("the cat", "a hat"), (["the", "cat"],)):
            agree(pair, "__call__", *call, return_token_type_ids=True)
        if V5:
            agree(pair, lambda tok: (tok.add_bos_token, tok.add_eos_token))
            for tok in pair:
                tok.add_eos_token = not eos
            agree(pair, lambda tok: tok("the cat", "a hat", return_special_tokens_mask=True))
    pair = both(config=flags | names)
    agree(pair, lambda tok: tok("the cat"))
