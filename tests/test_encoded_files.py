"""Files of text in, ids out: in memory and in flat files."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import BYTES
from test_outputs import SPECIALS, TEXT, TOK, by_normalizer

import bpe_compat as bc


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    large = TEXT * (1 + (1 << 20) // len(TEXT.encode()))  # large enough to be mapped
    contents = [TEXT.encode(), b"", large.encode(), b"ends with <x>", b"\xff\xfe no text"]
    paths = [tmp_path / f"{i}.txt" for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def parts(arrays: bc.TokenArrays) -> list[list[int]]:
    return [arrays.ids[a:b].tolist() for a, b in pairwise(arrays.offsets.tolist())]


@pytest.mark.parametrize("separator", [None, "<|endoftext|>", 310])
@pytest.mark.parametrize("dtype", [None, "uint16", np.uint32])
@pytest.mark.parametrize("group", [1, 1 << 26])
def test_files_are_documents(
    files: list[Path], separator: Any, dtype: Any, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bc.encoded_files, "_GROUP_BYTES", group)
    expected = parts(TOK.encode_arrays([path.read_bytes() for path in files]))
    end = [] if separator is None else [SPECIALS.get(separator, separator)]
    expected = [ids + end for ids in expected]
    arrays = TOK.encode_files(files, separator=separator, dtype=dtype)
    kind = np.dtype("uint16" if dtype is None else dtype)
    assert arrays.ids.dtype == kind
    assert arrays.offsets.dtype == np.int64
    assert parts(arrays) == expected
    out = files[0].with_name("new") / "ids.bin"
    written = TOK.encode_files(map(str, files), separator=separator, dtype=dtype, out=out)
    assert isinstance(written.ids, np.memmap)
    assert parts(written) == expected
    assert out.read_bytes() == arrays.ids.tobytes()
    assert np.load(f"{out}.offsets.npy").tolist() == arrays.offsets.tolist()
    assert sorted(path.name for path in out.parent.iterdir()) == ["ids.bin", "ids.bin.offsets.npy"]
    assert TOK.decode_arrays(written, errors="ignore") == TOK.decode_arrays(arrays, errors="ignore")


def test_special_tokens_in_files(files: list[Path]) -> None:
    assert TOK.encode_files(files[3], specials="encode").ids.tolist()[-1] == 310
    assert TOK.encode_files(str(files[3])).ids.tolist()[-3:] == list(b"<x>")


def test_files_without_ids(files: list[Path], tmp_path: Path) -> None:
    for paths in ([], [files[1], files[1]]):
        for out in (None, tmp_path / "ids"):
            arrays = TOK.encode_files(paths, out=out)
            assert (len(arrays.ids), arrays.offsets.tolist()) == (0, [0] * (len(paths) + 1))


def test_the_type_of_ids_follows_the_vocabulary(files: list[Path]) -> None:
    ranks = {**BYTES, b"the": 1 << 16}
    tok = bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={})
    assert tok.encode_files(files[0]).ids.dtype == np.uint32
    with pytest.raises(ValueError, match="uint16 does not hold the ids of a vocabulary of 65537"):
        tok.encode_files(files[0], dtype="uint16")
    for wrong in ("int32", "float32", ">u2"):
        with pytest.raises(ValueError, match="dtype must be uint16 or uint32"):
            tok.encode_files(files[0], dtype=wrong)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.txt.gz", "a.JSON", "a.csv"])
def test_files_that_are_no_plain_text_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(bc.errors.UnsupportedError, match=r"files are no plain text; (read|unpack)"):
        TOK.encode_files(tmp_path / name)


def test_what_is_wrong_with_files_is_named(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(bc.errors.FormatError, match=r"missing: no such file"):
        TOK.encode_files(tmp_path / "missing")
    with pytest.raises(bc.errors.FormatError, match="is a folder; pass the files in it"):
        TOK.encode_files([files[0], tmp_path])
    with pytest.raises(bc.errors.FormatError, match="is a folder, not a file to write"):
        TOK.encode_files(files, out=tmp_path)
    with pytest.raises(
        bc.errors.SpecialTokenError, match=r"'<y>' is no special token; there are: "
    ):
        TOK.encode_files(files, separator="<y>")
    with pytest.raises(KeyError, match="Invalid token for decoding: 299"):
        TOK.encode_files(files, separator=299)


def test_a_file_that_cannot_be_made_leaves_the_old_one(files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "ids"
    old = TOK.encode_files(files[0], out=out).ids.tobytes()
    before = sorted(tmp_path.iterdir())
    tok = by_normalizer()
    with pytest.raises(bc.errors.FormatError, match="not UTF-8"):
        tok.encode_files(files, out=out)
    assert out.read_bytes() == old
    assert sorted(tmp_path.iterdir()) == before


def test_progress_is_shown(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    TOK.encode_files(files, progress=True)
    assert "encoding" in capsys.readouterr().err
    TOK.encode_files(files)
    assert capsys.readouterr().err == ""
