"""Sources of every kind give the same pieces, and bad ones are named."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc
from bpe_compat.spec import Split

TEXTS = ["the cat sat", "on the mat\n", "", "naïve 中文 déjà vu", "the cat ran\r\n"]
pa = pytest.importorskip("pyarrow")
zstandard = pytest.importorskip("zstandard")
datasets = pytest.importorskip("datasets")


def counted(source: Any, **options: Any) -> list[tuple[bytes, int]]:
    return list(bc.count(source, special_tokens=(), threads=1, **options).items())


EXPECTED = counted(TEXTS)

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(zstandard.compress(data)),
}


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_files(compression: str, tmp_path: Path) -> None:
    pack = COMPRESSIONS[compression]
    folder = tmp_path / "corpus" / "deep"
    folder.mkdir(parents=True)
    paths = []
    for number, text in enumerate(TEXTS):
        paths.append(folder / f"{number}.txt{compression}")
        paths[-1].write_bytes(pack(text.encode()))
    assert counted(paths) == EXPECTED
    assert counted(folder.parent) == EXPECTED
    assert counted(str(tmp_path / "corpus")) == EXPECTED
    assert counted(str(folder / "*.txt*")) == EXPECTED
    assert counted(path for path in paths) == EXPECTED
    rows = tmp_path / f"rows.jsonl{compression}"
    lines = [json.dumps({"text": text, "id": 1}) for text in TEXTS]
    rows.write_bytes(pack("\n".join([*lines, "", " "]).encode()))
    assert counted(rows) == EXPECTED


def columns() -> dict[str, Any]:
    plain = pa.array(TEXTS)
    doubled = pa.array(["x", *TEXTS, "y"])
    return {
        "string": plain,
        "large_string": plain.cast(pa.large_string()),
        "string_view": plain.cast(pa.string_view()),
        "binary": plain.cast(pa.binary()),
        "dictionary": plain.dictionary_encode(),
        "slice": doubled.slice(1, len(TEXTS)),
        "large slice": doubled.cast(pa.large_string()).slice(1, len(TEXTS)),
        "chunks": pa.chunked_array([TEXTS[:2], [], TEXTS[2:]]),
        "table": pa.table({"id": range(5), "text": plain}),
        "batch": pa.record_batch({"text": plain, "id": range(5)}),
    }


@pytest.mark.parametrize("name", columns())
def test_arrow(name: str) -> None:
    assert counted(columns()[name]) == EXPECTED
    assert counted(columns()[name], pattern=r"\S+|\s") == counted(TEXTS, pattern=r"\S+|\s")


def test_datasets(tmp_path: Path) -> None:
    data = datasets.Dataset.from_dict({"id": range(5), "text": TEXTS})
    assert counted(data) == EXPECTED
    assert counted(data.to_iterable_dataset()) == EXPECTED
    assert counted(data.select([0, 1, 2, 3, 4])) == EXPECTED
    assert counted(data.rename_column("text", "story"), text_column="story") == EXPECTED
    assert counted(datasets.Dataset.from_dict({"text": ["x", *TEXTS]}).skip(1)) == EXPECTED
    data.to_parquet(tmp_path / "rows.parquet")
    assert counted(tmp_path / "rows.parquet") == EXPECTED
    assert counted(tmp_path) == EXPECTED


def test_iterables_and_streams() -> None:
    assert counted(iter(TEXTS)) == EXPECTED
    assert counted(tuple(TEXTS)) == EXPECTED
    assert counted([text.encode() for text in TEXTS]) == EXPECTED
    assert counted([TEXTS[0], TEXTS[1].encode(), {"text": TEXTS[2]}, *TEXTS[3:]]) == EXPECTED
    assert counted(io.BytesIO("".join(TEXTS).encode())) == counted(["".join(TEXTS)])
    many = TEXTS * 5000
    assert dict(counted(iter(many))) == {piece: 5000 * number for piece, number in EXPECTED}


def test_lone_surrogates_are_replaced() -> None:
    assert counted(["a\ud800b", "ok"]) == counted(["a\ufffdb", "ok"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "a"}\n{"text": 5}', r"a.jsonl: line 2: 'text' is int, not str"),
        ("a.jsonl", b'{"text": "a"}\n{"text": null}', r"line 2: 'text' is NoneType"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "b"', r"line 2 is no JSON"),
        ("a.jsonl", b'["a"]', r"line 1 is no JSON object but list"),
        ("a.jsonl", b'{"story": "a"}', r"line 1 has no column 'text' but story; pass text_column="),
        ("a.jsonl", b'{"text": "\xff"}', r"line 1: byte 0xFF at offset 10 is not UTF-8"),
        ("a.txt.gz", b"no gzip", r"a.txt.gz.*[Nn]ot a gzipped file"),
        ("a.txt.gz", gzip.compress(b"some text" * 99, mtime=0)[:-9], r"a.txt.gz.*ended before"),
        ("a.txt.xz", b"no xz", r"a.txt.xz"),
        ("a.txt.bz2", b"no bz2", r"a.txt.bz2"),
        ("a.txt.zst", b"no zstd", r"a.txt.zst.*damaged"),
        ("a.parquet", b"no parquet file", r"a.parquet"),
        ("a.parquet", b"", r"a.parquet"),
        ("a.json", b"[]", r"a.json: .json files cannot be read; pass a .jsonl file"),
        ("a.zip", b"", r"unpack it first"),
        ("a.txt", b"caf\xe9", r"a.txt: byte 0xE9 at offset 3 is not UTF-8; pass errors="),
    ],
)  # fmt: skip
def test_bad_files_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(bc.errors.BPECompatError, match=message):
        counted(tmp_path / name)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(bc.errors.FormatError, match=r"folder without a file of \.txt"):
        counted(tmp_path)
    with pytest.raises(bc.errors.FormatError, match=r"matches no file"):
        counted(str(tmp_path / "*.txt"))
    with pytest.raises(bc.errors.FormatError, match="no such file"):
        counted(tmp_path / "a.jsonl.gz")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.array(["a", None]), "row 1 of 'text' is null"),
        (pa.table({"story": ["a"]}), "no column 'text' but story"),
        (pa.array([1, 2]), "'text' holds int64, not text"),
        (pa.array([b"a", b"caf\xe9", b"b"]), "row 1: byte 0xE9 at offset 3"),
    ],
)
def test_bad_columns_are_named(data: Any, message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=message):
        counted(data)


def test_a_bad_row_of_a_dataset_is_named() -> None:
    data = datasets.Dataset.from_dict({"text": ["a"] * 1500 + [None]})
    with pytest.raises(bc.errors.FormatError, match="row 1500 of 'text' is null"):
        counted(data)


BAD = b"a caf\xe9 \xff\xfe b"


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", r" ?\p{L}+| ?[^\s\p{L}]+|\s+"])
def test_bytes_that_are_no_utf8(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(BAD)
    replaced = counted([BAD.decode("utf-8", "replace")], pattern=pattern)
    raw = [(b"a", 1), (b" caf", 1), (b"\xe9", 1), (b" \xff\xfe", 1), (b" b", 1)]
    for source in (path, [BAD], pa.array([BAD]), io.BytesIO(BAD)):
        assert counted(source, pattern=pattern, errors="replace") == replaced
    for source in (path, [BAD], pa.array([BAD])):
        assert counted(source, pattern=pattern, errors="bytes") == raw
    with pytest.raises(ValueError, match="errors must be one of"):
        counted(path, errors="ignore")


def test_bytes_that_are_no_utf8_before_a_split_that_sees_bytes() -> None:
    mapped = Split("Ġ", "isolated", mapped=True)
    counts = counted([BAD], pattern=mapped, errors="bytes")
    assert counts == [(b"a", 1), (b" ", 3), (b"caf\xe9", 1), (b"\xff\xfe", 1), (b"b", 1)]
