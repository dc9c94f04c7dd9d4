"""js-tiktoken, minbpe, llama2.c and CLIP; and what is refused by name."""

import gzip
import json
import struct
from pathlib import Path

import pytest
import samples
import shared_data
import tiktoken

import bpe_compat as bc
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError

TEXT = "the cat and the hat, it's 2026! naïve café 中文 \x00 <|endoftext|>"


def read(content: bytes | str, format: str, folder: Path) -> bc.Tokenizer:
    path = folder / "x"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return bc.load(path, format=format)


# js-tiktoken


def test_runs_of_ranks(tmp_path: Path) -> None:
    runs = "! 0 YQ== Yg==\n! 5 YWI=\n"
    tree = {"pat_str": ".+", "special_tokens": {"<s>": 9}, "bpe_ranks": runs}
    tok = read(json.dumps(tree), "js_tiktoken", tmp_path)
    assert tok.encode("ab<s>", allowed_special="all") == [5, 9]
    tok.save(tmp_path / "y", format="js_tiktoken")
    assert bc.converters.detect(tmp_path / "y") == "js_tiktoken"
    assert json.loads((tmp_path / "y").read_text())["bpe_ranks"] == runs.strip()
    assert bc.load(tmp_path / "y").spec == tok.spec
    for bad, message in [
        ("! x YQ==", "line 1: must begin with ! and a rank"),
        ("? 0 YQ==", "line 1: must begin with !"),
        ("! 0 YQ==\n! 1 ?", r"line 2: '\?' is not base64"),
        ("! 0 YQ== YQ==", "the token b'a' is empty or there already"),
        ("! 0 ", "the token b'' is empty"),
        ("! 0 YQ== Yg==\n! 1 Yw==", "rank 1 is used twice"),
    ]:
        with pytest.raises(FormatError, match=message):
            read(json.dumps(tree | {"bpe_ranks": bad}), "js_tiktoken", tmp_path)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "p50k_base", "r50k_base"])
def test_published_runs_are_the_rank_files(name: str) -> None:
    compact = bc.load(shared_data.unpacked(f"tokenizers/tiktoken_js_compact/{name}.json"))
    assert compact.spec.tokens == bc.load(shared_data.rank_file(name)).spec.tokens
    text = shared_data.text("hard", 200_000)
    encoding = shared_data.tiktoken_encoding(name)
    pattern = tiktoken.Encoding(
        name,
        pat_str=compact._pat_str,
        mergeable_ranks=encoding._mergeable_ranks,
        special_tokens=encoding._special_tokens,
    )
    assert compact.encode_ordinary(text) == pattern.encode_ordinary(text)


# minbpe


def minbpe_encode(merges: list[tuple[int, int]], data: bytes) -> list[int]:
    """As minbpe does it: the earliest merge everywhere, again and again."""
    ids = list(data)
    for place, pair in enumerate(merges):
        out: list[int] = []
        while ids:
            out.append(256 + place if tuple(ids[:2]) == pair else ids[0])
            del ids[: 2 if tuple(ids[:2]) == pair else 1]
        ids = out
    return ids


def test_minbpe(tmp_path: Path) -> None:
    model = "minbpe v1\n\n1\n<|endoftext|> 300\n97 98\n256 99\n98 99\n"
    tok = read(model, "minbpe", tmp_path)
    assert bc.converters.detect(tmp_path / "x") == "minbpe"
    for text in ("abcbcab", "aabbcc", "bcabcb"):
        merges = [(97, 98), (256, 99), (98, 99)]
        assert tok.encode(text) == minbpe_encode(merges, text.encode())
    assert tok.encode("<|endoftext|>", allowed_special="all") == [300]
    trained = samples.trained(300, tie_break="first")
    trained.save(tmp_path / "m", format="minbpe")
    again = bc.load(tmp_path / "m")
    assert again.spec == trained.spec
    assert (tmp_path / "m").read_text().startswith("minbpe v1\n'(?:[sdmt]|ll|ve|re)| ?")
    for bad, message in [
        ("minbpe v2\n\n0\n", "line 1: must be 'minbpe v1'"),
        ("minbpe v1\n\nx\n", "line 3: 'x' is no number"),
        ("minbpe v1\n\n5\n<a> 300\n", "line 3: 5 special tokens"),
        ("minbpe v1\n\n1\n<a>\n", "line 4: '<a>' is no number"),
        ("minbpe v1\n\n0\n97 b\n", "line 4: 'b' is no number"),
        ("minbpe v1\n\n0\n97 256\n", r"merge 0 \(97, 256\) names a later id"),
        ("minbpe v1\n\n1\n<a> 97\n", "'<a>' has the id 97: taken"),
        ("minbpe v1\n\n0\n97 97\n97 97\n", "ids 256 and 257 are the same token"),
        ("minbpe v1\n\n1\n<a> 99999999\n", "out of range"),
    ]:
        with pytest.raises(FormatError, match=message):
            read(bad, "minbpe", tmp_path)
    doubling = "97 97\n" + "".join(f"{256 + i} {256 + i}\n" for i in range(40))
    with pytest.raises(UnsupportedError, match="the tokens have 256 MB"):
        read("minbpe v1\n\n0\n" + doubling, "minbpe", tmp_path)


def test_what_minbpe_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="ids 0 to 255 are the bytes"):
        samples.trained(300, byte_order="gpt2").save(tmp_path / "m", format="minbpe")
    with pytest.raises(UnsupportedError, match="ids from 256 on are those of the merges"):
        samples.trained(300, special_ids="after_bytes").save(tmp_path / "m", format="minbpe")
    with pytest.raises(LossyConversionError, match="which has white space"):
        samples.trained(300, special_tokens=["a b"]).save(tmp_path / "m", format="minbpe")


# llama2.c


def llama2c(*pieces: tuple[float, str]) -> bytes:
    names = ["<unk>", "\n<s>\n", "\n</s>\n", *(f"<0x{byte:02X}>" for byte in range(256))]
    entries = [*((0.0, name) for name in names), *pieces]
    return struct.pack("<i", 9) + b"".join(
        struct.pack("<fi", score, len(text.encode())) + text.encode() for score, text in entries
    )


def test_llama2c(tmp_path: Path) -> None:
    pieces = [(-1.0, " a"), (-2.0, "ab"), (-3.0, " "), (-4.0, "a"), (-5.0, "b")]
    tok = read(llama2c(*pieces), "llama2c", tmp_path)
    assert bc.converters.detect(tmp_path / "x") == "llama2c"
    assert tok.encode("ab é") == [259, 263, 261, 198, 172]
    assert tok.spec.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    whole = llama2c(*pieces)
    for data, message in [
        (whole[:-1], "token 263 has 1 bytes"),
        (whole + b"\0\0", "token 264 is cut off"),
        (whole + struct.pack("<fi", 0.0, -5), "token 264 has -5 bytes"),
        (whole + struct.pack("<fi", float("nan"), 1) + b"x", "the score nan"),
        (whole + struct.pack("<fi", 0.0, 1) + b"\xff", "token 264 is not UTF-8"),
        (whole + struct.pack("<fi", 0.0, 1) + b"a", "piece 264 is 'a', as piece 262 is"),
        (whole[:12] + b"?" + whole[13:], "the first ids are not"),
    ]:
        with pytest.raises(FormatError, match=message):
            read(data, "llama2c", tmp_path)


@pytest.mark.usefixtures("shared")
def test_the_published_tokenizer_bin_is_the_model() -> None:
    names = ("llama2_spm/tokenizer.bin", "llama2_spm/tokenizer.model")
    ours, model = (bc.load(shared_data.unpacked(f"tokenizers/{name}")) for name in names)
    assert ours.spec == model.spec


# CLIP


def test_clip(tmp_path: Path) -> None:
    merges = '"bpe_simple_vocab_16e6.txt#version: 0.2\nh e\nt he\nr e</w>\n'
    content = merges + "c a\nca t</w>\n"
    tok = read(content, "clip", tmp_path)
    assert bc.converters.detect(tmp_path / "x") == "clip"
    tokens = [tok.spec.tokens[id] for id in tok.encode("There\n  CAT")]
    assert tokens == [b"the", b"re</w>", b"cat</w>"]
    (tmp_path / "x.gz").write_bytes(gzip.compress(content.encode()))
    assert bc.converters.detect(tmp_path / "x.gz") == "clip"
    assert bc.load(tmp_path / "x.gz").spec == tok.spec
    cases: list[tuple[bytes | str, str]] = [
        (merges + "a b c\n", "line 5: 'a b c' is not two tokens"),
        (merges + "xy z\n", "no merge makes the token 'xy'"),
        (merges + "\xff", "is not two tokens"),
        (merges.encode() + b"\xff", "byte .* is not UTF-8"),
        (gzip.compress(content.encode())[:-9], "is no gzip file"),
    ]
    for bad, message in cases:
        with pytest.raises(FormatError, match=message):
            read(bad, "clip", tmp_path)


@pytest.mark.usefixtures("shared")
def test_the_published_vocabulary_is_that_of_the_tokenizer_json() -> None:
    ours = bc.load(shared_data.folder() / "data/tokenizers/clip/bpe_simple_vocab_16e6.txt.gz")
    json_ = bc.load(shared_data.unpacked("tokenizers/clip_hf/tokenizer.json"))
    assert ours.spec.tokens == json_.spec.tokens
    assert ours.spec.merges == json_.spec.merges
    for corpus in ("english_web", "code", "multilingual"):
        for text in shared_data.documents(corpus, 60_000):
            assert ours.encode_ordinary(text) == json_.encode_ordinary(text)


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 '\\x00' 1\n2 '\\x01' 1\n", "RWKV's vocabulary, .* not BPE"),
        ("v3;true;true;false;<w>;</w>\ne </w>\n", "OpenNMT's BPE codes"),
        ("[PAD]\n[unused0]\n[UNK]\n[CLS]\n", "WordPiece's vocab.txt, .* not BPE"),
    ],
)
def test_other_tokenizers_are_named(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(content)
    with pytest.raises(UnsupportedError, match=message):
        bc.load(tmp_path / "x")
