"""The proof of `convert`: what we read and what other libraries read is the tokenizer it was."""

import json
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples

import bpe_compat as bc
from bpe_compat import libraries, verify
from bpe_compat.patterns import PATTERNS
from bpe_compat.spec import TokenizerSpec

GOLDEN = Path(__file__).resolve().parent / "golden"


def source(format: str, folder: Path) -> Path:
    """A tokenizer that the format can hold."""
    if format in ("sentencepiece", "tekken"):
        return GOLDEN / f"golden.{format}"
    options: dict[str, Any] = {"alphabet": "characters", "end_of_word_suffix": "</w>"}
    if format == "subword_nmt":
        options |= {"pattern": r"[^ \r\n]+", "unknown_token": "<unk>", "special_tokens": ()}
        tok = samples.trained(150, **options)
        tok = bc.Tokenizer(replace(tok.spec, splits=bc.converters.subword_nmt.SPLITS))
    else:
        tok = samples.trained(300)
    tok.save(folder / "source")
    return folder / "source"


def target(format: str, folder: Path) -> Path:
    return folder / ("out" if bc.converters.FORMATS[format].folder else f"out.{format}")


def rewritten(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def swap_ranks(path: Path) -> None:
    lines = path.read_text().splitlines()
    a, b = lines[256].split(), lines[280].split()
    lines[256], lines[280] = f"{a[0]} {b[1]}", f"{b[0]} {a[1]}"
    path.write_text("\n".join([*lines, ""]))


def drop_merge(path: Path) -> None:
    tree = json.loads((path / "tokenizer.json").read_text())
    del tree["model"]["merges"][0]
    (path / "tokenizer.json").write_text(json.dumps(tree))


def drop_line(path: Path) -> None:
    first, _, *lines = path.read_text().splitlines()
    path.write_text("\n".join([first, *lines, ""]))


def rename_piece(path: Path) -> None:
    rewritten(path, b"\x0a\x02th", b"\x0a\x02qz")


def rename_token(path: Path) -> None:
    rewritten(path, struct.pack("<Q", 1) + b"A", struct.pack("<Q", 1) + b"\x01")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "tiktoken": swap_ranks,
    "huggingface": drop_merge,
    "gpt2": lambda path: drop_line(path / "merges.txt"),
    "subword_nmt": drop_line,
    "sentencepiece": rename_piece,
    "gguf": rename_token,
}


@pytest.mark.parametrize("format", sorted(libraries.LIBRARIES))
def test_the_library_of_a_format_is_asked(format: str, tmp_path: Path) -> None:
    pytest.importorskip(libraries.LIBRARIES[format][0])
    path = source(format, tmp_path)
    assert bc.convert(path, target(format, tmp_path), to=format) == []
    spec = bc.converters.read(path)
    trial = target(format, tmp_path)
    texts = [text for text in verify.PROBES if text.isascii()]
    with verify._library(format, verify=True) as library:
        assert library is not None
        assert verify._ask(library, spec, trial, format, {"text": texts, "encode": []})
        assert library.error() == ""
        found = library.ids("text")
    if format != "gguf":
        assert found is not None
        expected = bc.Tokenizer(spec).encode_arrays(texts)
        assert found[0].tolist() == expected.ids.tolist()
        assert found[1].tolist() == expected.offsets.tolist()


@pytest.mark.parametrize("format", sorted(DAMAGES))
def test_what_only_the_library_can_see(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that our reader is made to believe, and that is another tokenizer."""
    package = libraries.LIBRARIES[format][0]
    pytest.importorskip(package)
    path = source(format, tmp_path)
    spec = bc.converters.read(path)
    original = bc.converters.FORMATS[format]
    assert original.write is not None

    def write(spec: TokenizerSpec, path: Path, **options: Any) -> list[Path]:
        files = original.write(spec, path, **options)  # type: ignore[misc]
        DAMAGES[format](path)
        return files

    changed = replace(original, read=lambda *_: spec, write=write)
    monkeypatch.setitem(bc.converters.FORMATS, format, changed)
    if format == "gguf":
        metadata = bc.converters.gguf.container.metadata

        def undamaged(path: Path, wanted: Any) -> dict[str, Any]:
            original.write(spec, tmp_path / "undamaged.gguf")  # type: ignore[misc]
            return metadata(tmp_path / "undamaged.gguf", wanted)

        monkeypatch.setattr(bc.converters.gguf.container, "metadata", undamaged)
    out = target(format, tmp_path)
    with pytest.raises(bc.errors.BPECompatError, match=package):
        bc.convert(path, out, to=format, source_format=None)
    assert not out.exists()
    assert bc.convert(path, out, to=format, verify=False) == []
    assert out.exists()


def test_a_file_that_the_library_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = samples.trained(300).spec
    samples.trained(300).save(tmp_path / "source")
    original = bc.converters.FORMATS["tiktoken"]

    def write(spec: TokenizerSpec, path: Path) -> list[Path]:
        files = original.write(spec, path)  # type: ignore[misc]
        path.write_text("no ranks\n")
        return files

    changed = replace(original, read=lambda *_: spec, write=write)
    monkeypatch.setitem(bc.converters.FORMATS, "tiktoken", changed)
    with pytest.raises(bc.errors.BPECompatError, match="tiktoken cannot use what was written"):
        bc.convert(tmp_path / "source", tmp_path / "x", to="tiktoken")
    assert not (tmp_path / "x").exists()


def test_without_a_process_or_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples.trained(300).save(tmp_path / "source")
    monkeypatch.setattr(sys, "executable", None)
    assert bc.convert(tmp_path / "source", tmp_path / "a", to="tiktoken") == []
    monkeypatch.setattr(libraries, "installed", lambda _: None)
    assert bc.convert(tmp_path / "source", tmp_path / "b", to="tiktoken") == []
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def read_as(spec: TokenizerSpec, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes our reader read this, whatever the file, without a library to contradict it."""
    changed = replace(bc.converters.FORMATS[format], read=lambda *_: spec)
    monkeypatch.setitem(bc.converters.FORMATS, format, changed)
    monkeypatch.setattr(libraries, "installed", lambda _: None)


def in_order(*merges: tuple[bytes, bytes]) -> TokenizerSpec:
    """Bytes, and merges that are made in this order of tokens that are always numbered alike."""
    tokens = [*samples.BYTES, *sorted(a + b for a, b in merges)]
    pairs = tuple((tokens.index(a), tokens.index(b)) for a, b in merges)
    return TokenizerSpec(tuple(tokens), merges=pairs, splits=PATTERNS["gpt2"].splits)


def test_a_difference_that_no_token_and_no_probe_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only "xqz" does: each token is made of the same two."""
    spec, other = in_order((b"x", b"q"), (b"q", b"z")), in_order((b"q", b"z"), (b"x", b"q"))
    bc.Tokenizer(spec).save(tmp_path / "source")
    read_as(other, "gpt2", monkeypatch)
    with pytest.raises(bc.errors.BPECompatError, match="other ids came back: 'xqz' becomes"):
        bc.convert(tmp_path / "source", tmp_path / "out", to="gpt2")
    assert not (tmp_path / "out").exists()


def test_equal_specs_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples.trained(300).save(tmp_path / "source")
    monkeypatch.setattr(verify, "compare", None)
    assert bc.convert(tmp_path / "source", tmp_path / "out", to="gpt2") == []


def test_where_nothing_is_proved_every_token_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, other = in_order((b"x", b"q")), in_order((b"x", b"z"))
    bc.Tokenizer(spec).save(tmp_path / "source")
    read_as(other, "gpt2", monkeypatch)
    undecided = bc.Comparison("undecided", "")
    monkeypatch.setattr(verify, "compare", lambda *_, **__: undecided)
    with pytest.raises(bc.errors.BPECompatError, match="instead of"):
        bc.convert(tmp_path / "source", tmp_path / "out", to="gpt2")


def test_bytes_that_are_decoded_differently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = in_order((b"x", b"q"))
    bc.Tokenizer(spec).save(tmp_path / "source")
    other = replace(spec, decoder=(bc.spec.DecoderStep("strip", content="x", start=1),))
    read_as(other, "gpt2", monkeypatch)
    with pytest.raises(bc.errors.BPECompatError, match="decoded differently"):
        bc.convert(tmp_path / "source", tmp_path / "out", to="gpt2")


@pytest.mark.parametrize(("count", "asked"), [(9_000, 9_000), (25_000, 8_334)])
def test_how_many_tokens_the_library_is_asked_for(count: int, asked: int) -> None:
    tokens = tuple(f"token{number}".encode() for number in range(count - 1))
    spec = TokenizerSpec((*tokens, b"<s>"), added_tokens=(bc.spec.AddedToken("<s>", count - 1),))
    texts = verify._texts(spec)
    assert texts["encode"] == [*verify.PROBES, "<s>"]
    rest = "\n".join(texts["text"][len(texts["encode"]) :]).split("\n")
    assert len(rest) == asked
    assert set(rest) <= {*map(bytes.decode, tokens), "<s>"}
    assert verify._texts(TokenizerSpec(()))["text"] == list(verify.PROBES)


def test_what_is_lost_is_returned(tmp_path: Path) -> None:
    samples.trained(300, pattern="cl100k").save(tmp_path / "source")
    lost = bc.convert(tmp_path / "source", tmp_path / "b", to="gpt2", allow_loss=True)
    assert lost == ["a split pattern other than GPT-2's"]
    assert bc.convert(tmp_path / "source", tmp_path / "c", to="tiktoken", allow_loss=True) == []
