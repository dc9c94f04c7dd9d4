"""The plug-in beside transformers' own fast class on the same files, and exports without it."""

# mypy: disable-error-code="no-untyped-call"

import copy
import itertools
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc

transformers = pytest.importorskip("transformers")
from transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast  # noqa: E402

import bpe_compat.hf  # noqa: E402

TEXT = ["the cat and the hat, it's 2026! naïve café 中文中文 def f(x): return 'x'"] * 3
TEXTS = ["the cat", "", "a naïve hat<|endoftext|>it's 中文", "<s>x  <pad> y\n\n", "the " * 30]


def trained() -> bc.Tokenizer:
    return bc.train(TEXT, 300, special_tokens=["<|endoftext|>", "<s>", "<pad>"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    tok = trained()
    tok.save(folder / "plugin", plugin=True)
    tok.save(folder / "stock")
    tok.save(folder / "gpt2", format="gpt2")
    return folder


@pytest.fixture
def ours(folder: Path) -> Any:
    tok = AutoTokenizer.from_pretrained(folder / "plugin")
    tok.pad_token = "<pad>"
    return tok


@pytest.fixture
def stock(folder: Path) -> Any:
    tok = AutoTokenizer.from_pretrained(folder / "stock")
    tok.pad_token = "<pad>"
    return tok


def plain(encoding: Any) -> dict[str, Any]:
    return {
        key: value.tolist() if hasattr(value, "tolist") else value
        for key, value in encoding.items()
    }


# Loading


def test_classes_that_auto_tokenizer_finds(folder: Path) -> None:
    plugin: Any = AutoTokenizer.from_pretrained(folder / "plugin")
    assert type(plugin) is bpe_compat.hf.BPECompatTokenizer
    stock = AutoTokenizer.from_pretrained(folder / "stock")
    assert isinstance(stock, PreTrainedTokenizerFast)
    assert not isinstance(stock, bpe_compat.hf.BPECompatTokenizer)


@pytest.mark.parametrize("name", ["plugin", "stock", "gpt2"])
def test_exports_load_without_this_package(name: str, folder: Path) -> None:
    """In a process that never hears of bpe_compat."""
    if name == "plugin" and transformers.__version__.startswith("4."):
        pytest.skip("transformers 4 knows no class that is not imported")
    script = (
        "import json, sys, transformers\n"
        "tok = transformers.AutoTokenizer.from_pretrained(sys.argv[1])\n"
        "assert 'bpe_compat' not in sys.modules\n"
        "texts = json.loads(sys.argv[2])\n"
        "ids = [tok(text)['input_ids'] for text in texts]\n"
        "print(json.dumps([ids, [tok.decode(i) for i in ids], tok.eos_token_id, len(tok)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder / name), json.dumps(TEXTS)],
        check=True,
        capture_output=True,
        text=True,
    )
    ids, texts, eos, size = json.loads(done.stdout.splitlines()[-1])
    tok = trained()
    assert ids == [tok.encode(text, allowed_special="all") for text in TEXTS]
    assert texts == TEXTS
    assert (eos, size) == (tok.eot_token, tok.n_vocab)


def test_from_pretrained_and_from_an_object(folder: Path) -> None:
    loaded = bpe_compat.hf.BPECompatTokenizer.from_pretrained(folder / "stock")
    made = bpe_compat.hf.BPECompatTokenizer(
        tokenizer_object=trained(), eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )
    for tok in (loaded, made):
        assert tok(TEXTS)["input_ids"] == [
            trained().encode(t, allowed_special="all") for t in TEXTS
        ]
        assert tok.eos_token_id == trained().eot_token
    with pytest.raises(ValueError, match="needs a tokenizer_file or a tokenizer_object"):
        bpe_compat.hf.BPECompatTokenizer()


# Calls


@pytest.mark.filterwarnings("ignore:`max_length` is ignored")
@pytest.mark.parametrize("padding", [False, True, "max_length"])
@pytest.mark.parametrize("truncation", [False, True, "only_first"])
@pytest.mark.parametrize("sides", ["right", "left"])
def test_calls_equal_the_stock_class(
    ours: Any, stock: Any, padding: Any, truncation: Any, sides: str
) -> None:
    for tok in (ours, stock):
        tok.padding_side = tok.truncation_side = sides
    for max_length, masks, add in itertools.product((3, 12), (False, True), (False, True)):
        options = {
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "return_special_tokens_mask": masks,
            "add_special_tokens": add,
        }
        assert plain(ours(TEXTS, **options)) == plain(stock(TEXTS, **options))
        for text in TEXTS[:1] + TEXTS[2:]:
            assert plain(ours(text, **options)) == plain(stock(text, **options))
        if truncation != "only_first":
            pairs = [("the cat", "and the hat, it's"), ("naïve café 中文", "x"), ("the", "hat")]
            first, second = map(list, zip(*pairs, strict=True))
            assert plain(ours(first, second, **options)) == plain(stock(first, second, **options))


def test_tensors(ours: Any, stock: Any) -> None:
    options = {"padding": True, "pad_to_multiple_of": 8, "return_tensors": "np"}
    assert plain(ours(TEXTS, **options)) == plain(stock(TEXTS, **options))
    assert ours(TEXTS, **options)["input_ids"].dtype == stock(TEXTS, **options)["input_ids"].dtype


def test_pretokenized_input_and_special_tokens_as_text(ours: Any, stock: Any) -> None:
    words = ["the", "cat", "naïve"]
    assert plain(ours(words, is_split_into_words=True)) == plain(
        stock(words, is_split_into_words=True)
    )
    text = "a<|endoftext|><s>b"
    ids = ours(text, split_special_tokens=True)["input_ids"]
    assert ids == trained().encode_ordinary(text)
    assert ours.decode(ids) == text


def test_the_template_is_put_around(tmp_path: Path) -> None:
    tok = trained()
    tree = json.loads(tok.to_tokenizers().to_str())
    start, end = (tok.spec.special_tokens[t] for t in ("<s>", "<|endoftext|>"))
    text_a, text_b = ({"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB"))
    opening, joining = ({"SpecialToken": {"id": "<s>", "type_id": n}} for n in (0, 1))
    processors = [
        {"type": "RobertaProcessing", "sep": ["<|endoftext|>", end], "cls": ["<s>", start],
         "trim_offsets": True, "add_prefix_space": False},
        {"type": "BertProcessing", "sep": ["<|endoftext|>", end], "cls": ["<s>", start]},
        {"type": "TemplateProcessing", "single": [opening, text_a],
         "pair": [text_a, joining, text_b],
         "special_tokens": {"<s>": {"id": "<s>", "ids": [start], "tokens": ["<s>"]}}},
    ]  # fmt: skip
    for processor in processors:
        tree["post_processor"] = processor
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(tree))
        again = tmp_path / "again"
        bc.load(path).save(again)
        stock = PreTrainedTokenizerFast(tokenizer_file=str(path))
        rewritten = PreTrainedTokenizerFast(tokenizer_file=str(again / "tokenizer.json"))
        ours = bpe_compat.hf.BPECompatTokenizer(str(path))
        options = {"return_token_type_ids": True, "return_special_tokens_mask": True}
        for call in (("the cat",), ("the cat", "a hat"), (["the", "cat"],)):
            expected = plain(stock(*call, **options))
            assert plain(ours(*call, **options)) == expected
            assert plain(rewritten(*call, **options)) == expected


def test_a_prefix_space_that_is_asked_for(folder: Path) -> None:
    tok = AutoTokenizer.from_pretrained(folder / "plugin", add_prefix_space=True)
    assert tok("the")["input_ids"] == trained().encode(" the")
    assert tok(" the")["input_ids"] == trained().encode(" the")


# Decoding


def test_decoding_never_alters_text(ours: Any, folder: Path, tmp_path: Path) -> None:
    for text in ("x != y", "hello !", "a , b . I 'm do n't", *TEXTS):
        ids = ours(text)["input_ids"]
        assert ours.decode(ids) == text
        assert ours.decode(ids, clean_up_tokenization_spaces=True) == text
    config = json.loads((folder / "plugin" / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps(config | {"clean_up_tokenization_spaces": True})
    )
    source = folder / "plugin" / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(source.read_bytes())
    tok = AutoTokenizer.from_pretrained(tmp_path)
    assert tok.decode(tok("x != y")["input_ids"]) == "x != y"
    assert tok.batch_decode(tok(TEXTS)["input_ids"]) == TEXTS


def test_skipping_special_tokens(ours: Any) -> None:
    ours.add_tokens(["<|y|>"])
    ids = ours("a<s>b<|y|>c")["input_ids"]
    assert ours.decode(ids) == "a<s>b<|y|>c"
    assert ours.decode(ids, skip_special_tokens=True) == "ab<|y|>c"


def test_ids_that_are_no_tokens_are_named(ours: Any) -> None:
    for call in (ours.decode, ours.convert_ids_to_tokens):
        with pytest.raises(KeyError, match="300000"):
            call([97, 300000, 98])


def test_tokens_as_strings(ours: Any, stock: Any) -> None:
    for text in TEXTS:
        tokens = ours.tokenize(text)
        assert tokens == stock.tokenize(text)
        assert ours.convert_tokens_to_ids(tokens) == stock(text)["input_ids"]
        assert ours.convert_tokens_to_string(tokens) == text
    assert ours.get_vocab() == stock.get_vocab()
    assert (ours.vocab_size, len(ours)) == (stock.vocab_size, len(stock))
    assert ours.all_special_ids == stock.all_special_ids


# Added tokens


def test_added_tokens(ours: Any, stock: Any) -> None:
    known = next(t.decode() for t in trained().spec.normal_ids() if len(t) > 1 and t.isalpha())
    for tok in (ours, stock):
        assert tok.add_tokens(["<new>", known, AddedToken(" é", lstrip=True)]) == 3
        assert tok.add_special_tokens({"sep_token": "<sep>"}) == 1
        assert tok.add_tokens(["<new>"]) == 0
    for text in ("a<new>b", "the cat é<sep> <new>", "<sep>" * 3, known * 3):
        assert ours(text)["input_ids"] == stock(text)["input_ids"]
    assert len(ours) == len(stock)
    assert ours.sep_token_id == stock.sep_token_id


@pytest.mark.parametrize("token", ["č", "Ċ", "Ġx"])
def test_a_token_spelled_like_a_byte_is_a_new_one(ours: Any, token: str) -> None:
    before = len(ours)
    assert ours.add_tokens([token]) == 1
    ids = ours(f"a{token}b")["input_ids"]
    assert ids == [97, before, 98]
    assert ours.decode(ids) == f"a{token}b"
    assert ours("\r\n x")["input_ids"] == trained().encode("\r\n x")
    assert ours.convert_tokens_to_ids(ours.tokenize(f"\r\n x{token}")) == [
        *trained().encode("\r\n x"),
        before,
    ]


def test_a_token_whose_characters_all_stand_for_bytes_keeps_its_text(
    ours: Any, tmp_path: Path
) -> None:
    assert ours.add_tokens(["Café", AddedToken("über", special=True)]) == 2
    text = "the Café über Cafés"
    ids = ours(text)["input_ids"]
    with pytest.warns(UserWarning, match=r"\['Café', 'über'\]"):
        ours.save_pretrained(tmp_path)
    stock: Any = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert stock(text)["input_ids"] == ours.backend_tokenizer.encode(text).ids == ids
    assert stock.decode(ids) != text
    again: Any = AutoTokenizer.from_pretrained(tmp_path)
    for tok in (ours, again, pickle.loads(pickle.dumps(again))):
        assert tok(text)["input_ids"] == ids
        assert tok.decode(ids) == tok.convert_tokens_to_string(tok.tokenize(text)) == text
    assert again._vocabulary.spec.tokens == ours._vocabulary.spec.tokens
    stock.save_pretrained(tmp_path / "stock")
    loaded = bpe_compat.hf.BPECompatTokenizer.from_pretrained(tmp_path / "stock")
    assert loaded.decode(loaded(text)["input_ids"]) == text


@pytest.mark.parametrize("token", ["č", "Ċ"])
def test_a_token_with_the_name_of_a_byte_is_not_saved(
    ours: Any, tmp_path: Path, token: str
) -> None:
    """A tokenizer.json has one id for each string: the token would become the byte's."""
    ours.add_tokens([token])
    with pytest.raises(bc.errors.LossyConversionError, match=token):
        ours.save_pretrained(tmp_path)


def test_runs_of_spaces_as_tokens(ours: Any) -> None:
    ours.add_special_tokens({"additional_special_tokens": ["    ", "  "]})
    for n in range(1, 20):
        text = "hello" + " " * n + "world"
        assert ours.decode(ours(text)["input_ids"]) == text


# Saving and sharing


def test_save_pretrained_and_load_again(ours: Any, tmp_path: Path) -> None:
    ours.add_tokens(["<new>"])
    ours.save_pretrained(tmp_path)
    for again in (
        AutoTokenizer.from_pretrained(tmp_path),
        bpe_compat.hf.BPECompatTokenizer.from_pretrained(tmp_path),
    ):
        assert type(again) is type(ours)
        assert again.get_vocab() == ours.get_vocab()
        assert again("a<new>b<pad>")["input_ids"] == ours("a<new>b<pad>")["input_ids"]
        assert (again.pad_token_id, again.eos_token_id) == (ours.pad_token_id, ours.eos_token_id)
    stock = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    assert stock(TEXTS)["input_ids"] == ours(TEXTS)["input_ids"]


def test_pickle_and_deepcopy(ours: Any) -> None:
    ours.add_tokens(["<new>"])
    for again in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert again(["a<new>b", *TEXTS]) == ours(["a<new>b", *TEXTS])
        assert len(again) == len(ours)


# datasets


def test_map_gives_the_ids_of_every_other_way(ours: Any, stock: Any) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    data = datasets.Dataset.from_dict({"text": TEXTS * 50})
    expected = [trained().encode(text, allowed_special="all") for text in TEXTS] * 50
    for tok in (ours, stock):
        mapped = data.map(lambda batch, tok=tok: tok(batch["text"]), batched=True)
        assert mapped["input_ids"][:] == expected
    parallel = data.map(lambda batch: ours(batch["text"]), batched=True, num_proc=2)
    assert parallel["input_ids"][:] == expected


def test_the_fingerprint_follows_the_content(ours: Any, folder: Path) -> None:
    fingerprint = pytest.importorskip("datasets.fingerprint")
    before = fingerprint.Hasher.hash(ours)
    ours("the cat")
    ours(TEXTS, padding=True, truncation=True, max_length=4)
    assert fingerprint.Hasher.hash(ours) == before
    assert fingerprint.Hasher.hash(pickle.loads(pickle.dumps(ours))) == before
    ours.add_tokens(["<new>"])
    assert fingerprint.Hasher.hash(ours) != before
    other = bpe_compat.hf.BPECompatTokenizer(tokenizer_object=bc.train(TEXT, 299))
    assert fingerprint.Hasher.hash(other) != before
