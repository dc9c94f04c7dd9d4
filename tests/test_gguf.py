"""Tokenizers in GGUF files, against the gguf package and llama.cpp's own vectors."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
import shared_data

import bpe_compat as bc
from bpe_compat.converters import pieces
from bpe_compat.converters.gguf import container, splits
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError
from bpe_compat.spec import Normalizer, Template, TemplateItem

GGML = "tokenizer.ggml."


def read(values: dict[str, Any], folder: Path) -> bc.Tokenizer:
    path = folder / "x.gguf"
    path.write_bytes(container.written(values))
    assert bc.converters.detect(path) == "gguf"
    return bc.load(path)


def bytes_values(**more: Any) -> dict[str, Any]:
    """Every byte, and tokens of each type."""
    from bpe_compat.bytelevel import CHARACTERS

    tokens = [*CHARACTERS, "ab", "<s>", "[x]", "[PAD259]"]
    values = {"model": "gpt2", "pre": "qwen2", "tokens": tokens, "merges": ["a b"],
              "token_type": [1] * 257 + [3, 4, 5], **more}  # fmt: skip
    return {GGML + key: value for key, value in values.items() if value is not None}


def test_types_of_tokens(tmp_path: Path) -> None:
    tok = read(bytes_values(), tmp_path)
    assert tok.encode("ab<s>[x]", allowed_special="all") == [256, 257, 258]
    assert tok.encode("[x]", allowed_special=set(), disallowed_special=()) == [258]
    assert tok.encode("<s>", allowed_special=set(), disallowed_special=()) == [60, 115, 62]
    assert tok.encode("[PAD259]")[-1] == ord("]")
    assert tok.spec.tokens[259] == b""
    assert tok.decode([256, 257]) == "ab<s>"


def test_what_is_put_around_a_text(tmp_path: Path) -> None:
    both = {"add_bos_token": True, "add_eos_token": True, "bos_token_id": 257, "eos_token_id": 258}
    tok = read(bytes_values(**both), tmp_path)
    assert tok.spec.template is not None
    single = (TemplateItem(257), TemplateItem("A"), TemplateItem(258))
    assert tok.spec.template.single == single
    bc.converters.write(tok.spec, tmp_path / "b", format="gguf")
    assert bc.load(tmp_path / "b").spec == tok.spec
    assert read(bytes_values(pre="llama-bpe", bos_token_id=257), tmp_path).spec.template
    assert read(bytes_values(bos_token_id=257), tmp_path).spec.template is None


@pytest.mark.parametrize("pre", sorted(splits._SPLITS))
def test_every_name_of_a_split_is_a_split(pre: str, tmp_path: Path) -> None:
    tok = read(bytes_values(pre=pre), tmp_path)
    text = "Hello  wOrld's 12345 ½ 中文かな, été!?\r\n\t x_y (z) ۔"
    assert b"".join(tok.pieces(text)) == text.encode()
    name = splits.name_of(tok.spec.splits, ignore_merges=tok.spec.ignore_merges)
    assert name
    assert splits.splits_of(name) == tok.spec.splits
    bc.converters.write(tok.spec, tmp_path / "b", format="gguf")
    assert bc.load(tmp_path / "b").spec == tok.spec


def test_gguf_reads_what_is_written(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    tok = samples.trained(300, pattern="qwen2")
    tok.save(tmp_path / "x.gguf", format="gguf")
    fields = gguf.GGUFReader(tmp_path / "x.gguf").fields
    contents = {key: field.contents() for key, field in fields.items()}
    assert contents[GGML + "model"] == "gpt2"
    assert contents[GGML + "pre"] == "qwen2"
    assert len(contents[GGML + "tokens"]) == len(contents[GGML + "token_type"]) == 300
    assert contents[GGML + "tokens"][:2] == ["Ā", "ā"]
    assert contents[GGML + "token_type"][-1] == pieces.CONTROL
    assert contents[GGML + "eos_token_id"] == 299
    assert len(contents[GGML + "merges"]) == len(tok.spec.merges)


def test_losses(tmp_path: Path) -> None:
    spec = samples.trained(300).spec
    around = Template((TemplateItem("A"), TemplateItem(1), TemplateItem(2)), ())
    for change, message in [
        ({"normalizers": (Normalizer("nfc"),)}, "the normalizers nfc"),
        ({"ignore_merges": True}, "without ignore_merges|with ignore_merges"),
        ({"template": around}, "the template around a text"),
        ({"splits": ()}, "llama.cpp has no name for it"),
    ]:
        with pytest.raises(LossyConversionError, match=message):
            bc.converters.write(replace(spec, **change), tmp_path / "x", format="gguf")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def llama_values(**more: Any) -> dict[str, Any]:
    tokens = ["<unk>", "<s>", "</s>", *[f"<0x{b:02X}>" for b in range(256)], "▁", "a", "b", "▁a",
              "ab", "[x]"]  # fmt: skip
    scores = [0.0] * 259 + [-3.0, -4.0, -5.0, -1.0, -2.0, 0.0]
    types = [2, 3, 3, *[6] * 256, 1, 1, 1, 1, 1, 4]
    values = {"model": "llama", "tokens": tokens, "scores": scores, "token_type": types,
              "unknown_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **more}  # fmt: skip
    return {GGML + key: value for key, value in values.items() if value is not None}


def test_pieces_with_scores(tmp_path: Path) -> None:
    tok = read(llama_values(), tmp_path)
    assert tok.encode("a b é") == [262, 259, 261, 259, 198, 172]
    assert tok.encode("ab[x]ab") == [262, 261, 264, 262, 261]  # llama.cpp: a space after each
    assert tok.decode(tok.encode("a b é")) == "a b é"
    assert tok.spec.template is not None
    bc.converters.write(tok.spec, tmp_path / "b", format="gguf")
    assert bc.load(tmp_path / "b").spec == tok.spec
    bare = read(llama_values(add_space_prefix=False, add_bos_token=False), tmp_path)
    assert bare.encode("ab") == [263]
    with pytest.raises(LossyConversionError, match="the flags of the added token '\\[x\\]'"):
        bare.save(tmp_path / "m", format="sentencepiece")


def test_merges_that_scores_cannot_give_are_a_loss_beside_a_template_too(tmp_path: Path) -> None:
    spec = read(llama_values(), tmp_path).spec
    assert spec.template is not None
    for template in (spec.template, None):
        poorer = replace(spec, merges=spec.merges[:1], template=template)
        with pytest.raises(LossyConversionError, match="the merges of"):
            bc.converters.write(poorer, tmp_path / "x", format="gguf")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({GGML + "model": "bert"}, UnsupportedError, "WordPiece, which is not BPE"),
        ({GGML + "model": "t5"}, UnsupportedError, "Unigram, which is not BPE"),
        ({GGML + "model": "rwkv"}, UnsupportedError, "RWKV, which is not BPE"),
        ({GGML + "model": "xyz"}, UnsupportedError, "the family 'xyz'"),
        ({"x": "y"}, FormatError, "tokenizer.ggml.model is missing"),
        ({GGML + "model": 5}, FormatError, "another type than str"),
        ({GGML + "model": "gpt2"}, FormatError, "tokens is missing"),
        (bytes_values(pre="new"), UnsupportedError, "the split 'new'"),
        (bytes_values(token_type=[1]), FormatError, "has 1 items, not 260"),
        (bytes_values(token_type=[9] * 260), FormatError, "token 0 has the type 9"),
        (bytes_values(tokens=["a", "a"], token_type=None), FormatError, "ids 0 and 1 are both"),
        (bytes_values(merges=["ab"]), FormatError, "merge 0, 'ab', is not two tokens"),
        (bytes_values(merges=["a ÿÿ"]), FormatError, "'ÿÿ' is no token"),
        (bytes_values(add_bos_token=True, bos_token_id=999), FormatError, "bos_token_id is 999"),
        (llama_values(scores=[0.0]), FormatError, "scores has 1 items, not 265"),
        (llama_values(scores=["x"] * 265), FormatError, "scores is no array of float"),
    ],
)
def test_bad_metadata(values: dict[str, Any], error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        read(values, tmp_path)


def test_broken_files(tmp_path: Path) -> None:
    whole = container.written(bytes_values())
    head = b"GGUF" + struct.pack("<I", 3)
    for data, error, message in [
        (b"", FormatError, "the file is empty"),
        (b"GGU", FormatError, "bytes are missing"),
        (b"GGML" + whole[4:], FormatError, "does not begin with GGUF"),
        (b"GGUF" + struct.pack("<I", 1), UnsupportedError, "version 1 of GGUF"),
        (b"GGUF" + struct.pack(">I", 3), UnsupportedError, "a big-endian file"),
        (head + struct.pack("<QQ", 0, 1 << 60), FormatError, "do not fit"),
        (head + struct.pack("<QQQ", 0, 1, 1 << 60) + b"x" * 9, FormatError, "do not fit"),
        (head + struct.pack("<QQQ", 0, 1, 1) + b"x\x63\0\0\0", FormatError, "has the type 99"),
        (head + struct.pack("<QQQ", 0, 1, 1) + b"\xff\x08\0\0\0", FormatError, "not UTF-8"),
    ]:
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(error, match=message):
            bc.converters.read(tmp_path / "x", format="gguf")
    for size in range(0, len(whole), 97):
        (tmp_path / "x").write_bytes(whole[:size])
        with pytest.raises((FormatError, UnsupportedError)):
            bc.converters.read(tmp_path / "x", format="gguf")


FILES = """
    command-r deepseek-coder deepseek-llm falcon gemma-4 gpt-2 llama-bpe llama-spm mpt phi-3 qwen2
    refact starcoder
""".split()  # noqa: SIM905


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", FILES)
def test_vectors_of_llama_cpp(name: str, tmp_path: Path) -> None:
    path = shared_data.unpacked(f"tokenizers/gguf_vocab/ggml-vocab-{name}.gguf")
    tok = bc.load(path)
    texts, ids = (
        shared_data.unpacked(f"tokenizers/gguf_vocab/ggml-vocab-{name}.gguf.{end}").read_bytes()
        for end in ("inp", "out")
    )
    cases = list(zip(texts.decode().split("\n__ggml_vocab_test__\n"), ids.split(b"\n"),
                     strict=False))  # fmt: skip
    assert len(cases) > 40
    for text, line in cases:
        expected = [int(id) for id in line.split()]
        assert tok.encode(text, allowed_special=set(), disallowed_special=()) == expected
    if name in ("gpt-2", "phi-3", "llama-spm", "starcoder"):
        bc.converters.write(tok.spec, tmp_path / "b", format="gguf")
        assert bc.load(tmp_path / "b").spec == tok.spec


def test_as_many_ids_as_a_model_has_rows(tmp_path: Path) -> None:
    tok = samples.trained(300, pattern="qwen2")
    tok.save(tmp_path / "tok")
    lost = bc.convert(tmp_path / "tok", tmp_path / "x.gguf", to="gguf", pad_to=320)
    assert lost == []
    padded = bc.load(tmp_path / "x.gguf")
    assert padded.spec.vocab_size == 320
    assert padded.spec.token_count == 300
    assert padded.encode("[PAD319] the cat") == tok.encode("[PAD319] the cat")
    values = container.metadata(tmp_path / "x.gguf", lambda _: True)
    assert values[GGML + "tokens"][300:] == [f"[PAD{id}]" for id in range(300, 320)]
    assert set(values[GGML + "token_type"][300:]) == {pieces.UNUSED}
    bc.convert(tmp_path / "tok", tmp_path / "y.gguf", to="gguf")
    assert bc.load(tmp_path / "y.gguf").spec.vocab_size == 300
    with pytest.raises(ValueError, match="pad_to is 200, but the tokenizer has 300 ids"):
        bc.convert(tmp_path / "tok", tmp_path / "z.gguf", to="gguf", pad_to=200)
