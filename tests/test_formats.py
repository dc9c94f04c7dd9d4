"""Every format: what comes back, what other libraries make of it, what is refused."""

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers

import bpe_compat as bc
from bpe_compat.spec import AddedToken, DecoderStep, Normalizer, Split, Template, TemplateItem
from bpe_compat.verify import PROBES

TEXT = ["the cat and the hat, it's 2026! naïve café 中文中文 def f(x): return 'x' # ## ###"] * 3
TEXTS = [*PROBES, *TEXT]
BYTE_FORMATS = ["gguf", "gpt2", "huggingface", "js_tiktoken", "tiktoken"]
"""Those that hold a tokenizer of bytes; `test_<format>.py` has more of each, and the others."""
OTHER_FORMATS = ["minbpe", "sentencepiece", "subword_nmt", "tekken"]
READ_ONLY = ["clip", "llama2c", "not_bpe"]


def trained(**options: Any) -> bc.Tokenizer:
    return bc.train(TEXT, 290, **options)


def target(folder: Path, format: str) -> Path:
    return folder / ("x.tiktoken" if format == "tiktoken" else format)


def ids_of(tok: bc.Tokenizer, specials: Any = "encode") -> list[list[int]]:
    ids, offsets = tok.encode_arrays(TEXTS, specials=specials)
    return [ids[a:b].tolist() for a, b in pairwise(offsets)]


# Every format


def test_every_format_is_among_these() -> None:
    formats = bc.converters.FORMATS
    assert sorted(formats) == sorted(BYTE_FORMATS + OTHER_FORMATS + READ_ONLY)
    assert sorted(name for name in formats if formats[name].write is None) == READ_ONLY


@pytest.mark.parametrize("format", READ_ONLY)
def test_what_is_only_read_is_not_written(format: str, tmp_path: Path) -> None:
    with pytest.raises(bc.errors.UnsupportedError, match=f"the format {format} can only be read"):
        trained().save(tmp_path / "x", format=format)


@pytest.mark.parametrize("format", BYTE_FORMATS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"special_tokens": ()},
        {"tie_break": "ids", "byte_order": "gpt2", "special_ids": "first"},
        {"special_tokens": ["<a>", "<b>"], "special_ids": "after_bytes"},
    ],
)
def test_what_is_written_comes_back(format: str, options: Any, tmp_path: Path) -> None:
    tok = trained(**options)
    path = target(tmp_path, format)
    tok.save(path, format=format)
    assert bc.converters.detect(path) == format
    again = bc.load(path)
    assert ids_of(again) == ids_of(tok)
    assert again.spec.tokens == tok.spec.tokens
    assert again.spec.added_tokens == tok.spec.added_tokens
    assert again.spec.splits == tok.spec.splits
    if "tiktoken" not in format:
        assert again.spec == tok.spec
    second = target(tmp_path / "second", format)
    again.save(second, format=format)
    assert files(second) == files(path)


def files(path: Path) -> dict[str, bytes]:
    folder = path if path.is_dir() else path.parent
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.parametrize("source", BYTE_FORMATS)
@pytest.mark.parametrize("to", BYTE_FORMATS)
def test_from_every_format_to_every_format(source: str, to: str, tmp_path: Path) -> None:
    tok = trained()
    tok.save(target(tmp_path, source), format=source)
    bc.convert(target(tmp_path, source), target(tmp_path / "to", to), to=to)
    assert ids_of(bc.load(target(tmp_path / "to", to))) == ids_of(tok)


@pytest.mark.parametrize(
    "pattern", ["gpt2", "cl100k", "llama3", "qwen2", "o200k", r"\w+|\s+", None]
)
def test_live_objects_give_the_same_ids(pattern: str | None) -> None:
    tok = trained(pattern=pattern, special_tokens=["<|endoftext|>", "<s>"])
    hf, tt = tok.to_tokenizers(), tok.to_tiktoken()
    assert isinstance(hf, tokenizers.Tokenizer)
    assert isinstance(tt, tiktoken.Encoding)
    expected = ids_of(tok)
    assert [e.ids for e in hf.encode_batch(TEXTS)] == expected
    assert [tt.encode(text, allowed_special="all") for text in TEXTS] == expected
    for text, ids in zip(TEXTS, expected, strict=True):
        assert (
            hf.decode(ids, skip_special_tokens=False) == tt.decode(ids) == tok.decode(ids) == text
        )


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = trained()
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "tokenizer.json").write_text("old")
    written = []

    def fail(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 2:
            raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        tok.save(folder)
    assert files(folder) == {"tokenizer.json": b"old"}


def test_a_failed_proof_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained().save(tmp_path / "source")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    other = bc.train(["xyz xyz"], 258).spec
    original = bc.converters.FORMATS["gpt2"]
    broken = replace(original, read=lambda *_: other)
    monkeypatch.setitem(bc.converters.FORMATS, "gpt2", broken)
    with pytest.raises(bc.errors.BPECompatError, match=r"instead of|other ids"):
        bc.convert(tmp_path / "source", tmp_path / "out", to="gpt2")
    assert list(files(tmp_path / "out")) == ["mine.txt"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing", "no such file or folder"),
        ("empty", "in none of the formats"),
        ("text", "in none"),
    ],
)
def test_what_is_no_tokenizer(path: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("just some text\n")
    with pytest.raises(bc.errors.FormatError, match=message):
        bc.load(tmp_path / path)


def test_unknown_formats_and_wrong_targets(tmp_path: Path) -> None:
    tok = trained()
    with pytest.raises(
        bc.errors.FormatError, match="no format is named 'pickle'; known: huggingface"
    ):
        tok.save(tmp_path / "x", format="pickle")
    (tmp_path / "file").touch()
    with pytest.raises(
        bc.errors.FormatError, match="is a file; the format huggingface is a folder"
    ):
        tok.save(tmp_path / "file")
    with pytest.raises(bc.errors.FormatError, match="is a folder; the format tiktoken is a file"):
        tok.save(tmp_path, format="tiktoken")
    with pytest.raises(ValueError, match="plugin is an option of the format huggingface"):
        tok.save(tmp_path / "x", format="gpt2", plugin=True)


GOLDEN_KINDS = {"sentencepiece": "pieces", "subword_nmt": "characters", "tekken": "ranks"}
GOLDEN = Path(__file__).resolve().parent / "golden"


@pytest.mark.parametrize("format", sorted(BYTE_FORMATS + OTHER_FORMATS))
def test_old_files_are_read_forever(format: str) -> None:
    kind = GOLDEN_KINDS.get(format, "bytes")
    expected = json.loads((GOLDEN / f"expected-{kind}.json").read_text(encoding="utf-8"))
    folder = bc.converters.FORMATS[format].folder
    path = GOLDEN / (format if folder else f"golden.{format}")
    assert bc.converters.detect(path) == format
    tok = bc.load(path)
    for text, ids, decoded in zip(*(expected[k] for k in ("texts", "ids", "decoded")), strict=True):
        assert tok.encode(text, allowed_special="all") == ids
        assert tok.decode(ids) == decoded


# Losses


def last_token(content: bytes) -> dict[str, tuple[bytes, ...]]:
    return {"tokens": (*trained().spec.tokens[:-1], content)}


@pytest.mark.parametrize(
    ("change", "losses"),
    [
        (
            {"normalizers": (Normalizer("nfc"),)},
            dict.fromkeys(("gguf", "gpt2", "tiktoken"), "the normalizers nfc"),
        ),
        (
            {"splits": (Split(r"\d"),)},
            {"gpt2": "a split pattern other than GPT-2's", "gguf": "llama.cpp has no name"},
        ),
        (
            {"splits": (Split(r"\d"), Split(r"\s"))},
            {"gpt2": "a split", "gguf": "this split", "tiktoken": "more than one split step"},
        ),
        (
            {"splits": (Split(r"\d", "removed"),)},
            {"gpt2": "split", "gguf": "split", "tiktoken": "removes its matches"},
        ),
        (
            {"splits": (Split(r"\d", "contiguous"),)},
            {"gpt2": "split", "gguf": "split", "tiktoken": "behavior contiguous"},
        ),
        (
            {"template": Template((TemplateItem("A"),), (TemplateItem("A"), TemplateItem("B")))},
            {"gpt2": "the template", "tiktoken": "the template"},
        ),
        (
            {"prefix_space": True},
            dict.fromkeys(("gguf", "tiktoken"), "a space in front"),
        ),
        (
            {"added_tokens": (AddedToken("<|endoftext|>", 289, lstrip=True),)},
            dict.fromkeys(("gguf", "tiktoken"), r"the flags of the added token '<\|endoftext\|>'"),
        ),
        (
            {"added_tokens": (AddedToken("<|endoftext|>", 289), AddedToken("<s>", 289))},
            dict.fromkeys(BYTE_FORMATS, "id 289 for both"),
        ),
        (
            {"added_tokens": (AddedToken("Ċ", 289),), **last_token("Ċ".encode())},
            dict.fromkeys(("huggingface", "gguf", "gpt2"), "ids 10 and 289 as different tokens"),
        ),
        (
            {"added_tokens": (AddedToken("<été>", 289),), **last_token("<été>".encode())},
            dict.fromkeys(("huggingface", "gpt2"), "the text of the added token '<été>'"),
        ),
        (
            {"added_tokens": (AddedToken("<été>", 289),), **last_token(b"<\xe9t\xe9>")},
            dict.fromkeys(
                ("gguf", "tiktoken"), "the text .* that the added token '<été>' is decoded to"
            ),
        ),
        (
            {
                "added_tokens": (AddedToken("<a>", 289), AddedToken("<a>b", 288)),
                **last_token(b"<a>"),
            },
            {"tiktoken": "'<a>b' goes before '<a>'"},
        ),
        (
            {
                "added_tokens": (AddedToken("<a>", 289), AddedToken("b", 98, normalized=True)),
                **last_token(b"<a>"),
            },
            dict.fromkeys(("gguf", "tiktoken"), "looked for before others"),
        ),
        (
            {"unknown": 5},
            dict.fromkeys(("gguf", "gpt2", "tiktoken"), "an unknown token"),
        ),
        (
            {"decoder": (DecoderStep("fuse"),)},
            {
                "huggingface": "a decoder of tokens that are bytes",
                **dict.fromkeys(("gguf", "gpt2", "tiktoken"), "the decoder fuse"),
            },
        ),
    ],
)
def test_losses_are_refused_by_name(change: Any, losses: dict[str, str], tmp_path: Path) -> None:
    spec = replace(trained().spec, **change)
    losses = losses | ({"js_tiktoken": losses["tiktoken"]} if "tiktoken" in losses else {})
    for format in BYTE_FORMATS:
        path = target(tmp_path, format)
        if format not in losses:
            bc.converters.write(spec, path, format=format)
            continue
        with pytest.raises(bc.errors.LossyConversionError, match=losses[format]) as caught:
            bc.converters.write(spec, path, format=format)
        assert caught.value.losses
        assert not path.exists()
        bc.converters.write(spec, path, format=format, allow_loss=True)
        assert path.exists()


def test_live_objects_refuse_losses_too() -> None:
    tok = bc.Tokenizer(replace(trained().spec, normalizers=(Normalizer("nfc"),)))
    with pytest.raises(bc.errors.LossyConversionError, match="normalizers nfc"):
        tok.to_tiktoken()
    assert tok.to_tiktoken(allow_loss=True).n_vocab == 290
