"""Ids in arrays, Arrow columns and files, counts, and text back from all of them."""

import array
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from samples import BYTES

import bpe_compat as bc

TEXT = "the cat sat on the mat — 中文字 😀 café, naïve\r\n    indented_code(x)\n" * 3
SPECIALS = {"<|endoftext|>": 300, "<x>": 310}


def by_bytes() -> bc.Tokenizer:
    """Ids with gaps, and one token that is too long to be copied in one go."""
    long = b"a token of many bytes"
    ranks = {**BYTES, b" t": 256, b"he": 257, "é".encode(): 258, "中".encode()[:2]: 259, long: 260}
    return bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens=SPECIALS)


def by_normalizer() -> bc.Tokenizer:
    """Two native steps: a normal form, then the split."""
    spec = bc.train([TEXT], 290, special_tokens=("<s>",)).spec
    return bc.Tokenizer(replace(spec, normalizers=(bc.spec.Normalizer("nfc"),)))


TOK = by_bytes()
REFERENCE = tiktoken.Encoding(
    "reference",
    pat_str=TOK._pat_str,
    mergeable_ranks=TOK._mergeable_ranks,
    special_tokens=TOK._special_tokens,
)
texts = st.lists(st.text(st.sampled_from("the cat é中😀\n\x00'"), max_size=40), max_size=6)
some_ids = st.lists(st.sampled_from([*range(261), *SPECIALS.values()]), max_size=40)


# Decoding


@given(ids=some_ids)
def test_any_ids_from_any_container(ids: list[int]) -> None:
    expected, raw = REFERENCE.decode(ids), REFERENCE.decode_bytes(ids)
    containers: list[Any] = [
        ids,
        tuple(ids),
        array.array("I", ids),
        memoryview(array.array("q", ids)),
    ]
    for kind in ["uint16", "int16", "uint32", "int32", "uint64", "int64", ">i4", "object"]:
        values = np.array(ids, kind)
        containers += [values, np.repeat(values, 3)[::3], values[::-1][::-1]]
    for container in containers:
        assert TOK.decode(container) == expected
        assert TOK.decode_bytes(container) == raw


@given(batch=st.lists(some_ids, max_size=8), threads=st.integers(1, 3))
def test_many_lists(batch: list[list[int]], threads: int) -> None:
    expected = REFERENCE.decode_batch(batch)
    assert TOK.decode_batch(batch, num_threads=threads) == expected
    raw = REFERENCE.decode_bytes_batch(batch)
    assert TOK.decode_bytes_batch(batch, num_threads=threads) == raw
    mixed: Any = [np.array(ids, np.uint16) if i % 2 else tuple(ids) for i, ids in enumerate(batch)]
    assert TOK.decode_batch(mixed, num_threads=threads) == expected
    ids = np.array([id for ids in batch for id in ids], np.uint16)
    offsets = np.cumsum([0, *map(len, batch)])
    assert TOK.decode_arrays((ids, offsets), threads=threads) == expected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("text", ["the cat " * 40_000, "naïve café " * 30_000, "中é😀\n" * 40_000])
def test_long_texts_and_many_of_them(text: str, threads: int) -> None:
    ids = TOK.encode_ordinary(text)
    assert TOK.decode(ids) == TOK.decode(np.array(ids, np.uint16)) == text
    assert TOK.decode_bytes(ids) == text.encode()
    parts = [text[i : i + 999] for i in range(0, len(text), 999)]
    arrays = TOK.encode_arrays(parts)
    assert TOK.decode_arrays(arrays, threads=threads) == parts
    batch = [arrays.ids[a:b].tolist() for a, b in pairwise(arrays.offsets.tolist())]
    assert TOK.decode_batch(batch, num_threads=threads) == parts


@pytest.mark.parametrize(
    "character", ["a", "\x7f", "\x80", "ÿ", "Ā", "\uffff", "\U00010000", "\U0010ffff"]
)
@pytest.mark.parametrize("length", [1, 15, 16, 17, 33])
def test_the_width_of_characters(character: str, length: int) -> None:
    text = "x" * length + character + "y" * length
    decoded = TOK.decode(list(text.encode()))
    assert decoded == text
    assert decoded.__sizeof__() == text.__sizeof__()
    assert {decoded: 1}[text] == 1  # equal strings hash alike only in the same width


WIDE = {"bytes": "\u00e9", "two": "\u2019", "four": "\U0001f600", "halves": "\ud83d\ude00\udc00"}


@pytest.mark.parametrize("character", WIDE.values(), ids=WIDE)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_texts_of_every_width(character: str, threads: int) -> None:
    # Python holds these in 1, 2 or 4 bytes a character; long ones are cut for several threads, also
    # where special tokens stand.
    words = ["it's <x>", f"caf{character}", "the", f"{character}<|endoftext|> ", "\n12 ", "a<x><x"]
    rows = [" ".join(words[(i * i + n) % 6] for i in range(9 * n)) for n in range(100)]
    rows += [
        character + " the cat <x>" * 60_000,
        f"{character}the{character} cat<x" * 60_000,
        "",
        character,
    ]
    whole = [row.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for row in rows]
    for specials in ("text", "encode"):
        got = TOK.encode_arrays(rows, specials=specials, threads=threads)
        as_bytes = TOK.encode_arrays([row.encode() for row in whole], specials=specials, threads=1)
        assert np.array_equal(got.ids, as_bytes.ids)
        assert np.array_equal(got.offsets, as_bytes.offsets)
        counts = TOK.count_batch(rows, specials=specials, threads=threads)
        assert np.array_equal(counts, np.diff(got.offsets))


def test_texts_are_not_made_larger() -> None:
    # Python keeps the UTF-8 that it is asked for as long as the text.
    text = "na\u00efve \u2019 " * 100
    before = sys.getsizeof(text)
    TOK.encode_arrays([text])
    TOK.encode_ordinary(text)
    TOK.count_batch([text])
    bc.count([text])
    assert sys.getsizeof(text) == before


@given(ids=some_ids, errors=st.sampled_from(["replace", "ignore", "backslashreplace", "strict"]))
def test_bytes_that_are_not_utf8(ids: list[int], errors: str) -> None:
    raw = REFERENCE.decode_bytes(ids)
    arrays = (np.array(ids, np.uint32), np.array([0, len(ids)]))
    try:
        expected = raw.decode("utf-8", errors)
    except UnicodeDecodeError:
        for call in (TOK.decode, lambda ids, e: TOK.decode_batch([ids], errors=e)):
            with pytest.raises(UnicodeDecodeError):
                call(ids, errors)
        with pytest.raises(UnicodeDecodeError):
            TOK.decode_arrays(arrays, errors)
        return
    assert TOK.decode(ids, errors) == TOK.decode(arrays[0], errors) == expected
    assert TOK.decode_batch([ids], errors=errors) == TOK.decode_arrays(arrays, errors) == [expected]


@pytest.mark.parametrize("bad", [261, 299, 311, -1, 1 << 31, (1 << 32) - 1, 1 << 40, -(1 << 40)])
def test_bad_ids_are_named_with_their_position(bad: int) -> None:
    ids = [65, 66, bad, 67, bad]
    message = rf"Invalid token for decoding: {bad} \(at position 2\)"
    for container in (ids, np.array(ids, np.int64)):
        for method in (TOK.decode, TOK.decode_bytes):
            with pytest.raises(KeyError, match=message):
                method(container)
        for batch_method in (TOK.decode_batch, TOK.decode_bytes_batch):
            with pytest.raises(KeyError, match=message):
                batch_method([[65] * 5, container, [1 << 70]])
    for threads in (1, 2):
        with pytest.raises(KeyError, match=message):
            TOK.decode_arrays((np.array([65, *ids]), np.array([0, 1, 6])), threads=threads)


def test_the_first_bad_id_is_named() -> None:
    for ids in ([65, -1, 1 << 70], [65, -1, -(1 << 70)], [65, -1, 299]):
        with pytest.raises(KeyError, match=r"decoding: -1 \(at position 1\)"):
            TOK.decode(ids)
    with pytest.raises(KeyError, match=r"decoding: 18446744073709551615 \(at position 0\)"):
        TOK.decode(np.array([(1 << 64) - 1], np.uint64))


def test_arrays_of_a_wrong_type() -> None:
    floats: Any = np.array([65.0])
    grid: Any = np.zeros((2, 2), np.int32)
    for wrong in (floats, grid):
        with pytest.raises(TypeError):
            TOK.decode(wrong)
        with pytest.raises(TypeError, match="array of integers"):
            TOK.decode_arrays((wrong, np.array([0, 1])))
    for offsets in ([0, 3], [-1, 1], [1, 0], [2, 1, 2]):
        with pytest.raises(ValueError, match="offsets do not fit"):
            TOK.decode_arrays((np.array([65, 66]), np.array(offsets)))
    assert TOK.decode_arrays((np.array([65, 66]), np.array([1, 2]))) == ["B"]
    assert TOK.decode_arrays((np.array([65]), np.array([], np.int64))) == []


def test_decoders_that_are_not_bytes_take_arrays_too() -> None:
    tok = bc.Tokenizer(
        replace(TOK.spec, decoder=(bc.spec.DecoderStep("replace", pattern="a", content="X"),))
    )
    ids = tok.encode_ordinary("a cat")
    assert tok.decode(np.array(ids)) == tok.decode(ids) == "X cXt"
    assert tok.decode_bytes(np.array(ids)) == b"X cXt"
    assert tok.decode_batch([ids, ids]) == ["X cXt"] * 2
    assert tok.decode_bytes_batch([np.array(ids)]) == [b"X cXt"]
    assert tok.decode_arrays(tok.encode_arrays(["a cat", "", "a"])) == ["X cXt", "", "X"]


# Counting


@pytest.fixture(scope="module", params=[by_bytes, by_normalizer])
def tok(request: pytest.FixtureRequest) -> bc.Tokenizer:
    return request.param()  # type: ignore[no-any-return]


@given(batch=texts, threads=st.integers(1, 3))
def test_counts(tok: bc.Tokenizer, batch: list[str], threads: int) -> None:
    batch = [text.replace("the", "<x>").replace("cat", "<s>") for text in batch]
    for specials in ("text", "encode"):
        arrays = tok.encode_arrays(batch, specials=specials)
        counts = tok.count_batch(batch, specials=specials, threads=threads)
        assert counts.dtype == np.int64
        assert counts.tolist() == np.diff(arrays.offsets).tolist()
        assert [tok.count(text, specials=specials) for text in batch] == counts.tolist()


def test_counts_take_what_arrays_take() -> None:
    assert TOK.count_batch([b"\xff\xfe", "\ud800", memoryview(b"ab")]).tolist() == [2, 3, 2]  # type: ignore[list-item]
    with pytest.raises(TypeError, match="not one text"):
        TOK.count_batch("ab")
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        TOK.count(b"ab")  # type: ignore[arg-type]


# Arrow


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
KINDS += [pa.binary(), pa.large_binary(), pa.binary_view()]
KINDS += [pa.dictionary(pa.int8(), pa.large_binary()), pa.dictionary(pa.int8(), pa.string_view())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(
    batch=st.lists(st.one_of(st.none(), st.text("the cat é😀", max_size=30)), max_size=9),
    data=st.data(),
)
def test_columns(kind: pa.DataType, batch: list[str | None], data: st.DataObject) -> None:
    column = pa.array(batch, pa.string())
    column = column.cast(kind) if not pa.types.is_dictionary(kind) else encoded(column, kind)
    begin, end = sorted(data.draw(st.integers(0, len(batch))) for _ in range(2))
    column = column[begin:end]
    expected = [None if t is None else REFERENCE.encode_ordinary(t) for t in batch[begin:end]]
    lists = TOK.encode_arrow(column, threads=data.draw(st.integers(1, 2)))
    lists.validate(full=True)
    assert lists.type == pa.list_(pa.uint32())
    assert lists.to_pylist() == expected
    chunks = pa.chunked_array([column, column[:0], column], column.type)
    assert TOK.encode_arrow(chunks).to_pylist() == expected * 2


def encoded(column: pa.Array, kind: pa.DataType) -> pa.Array:
    encoded = column.dictionary_encode()
    values = encoded.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), values)


def test_columns_without_texts() -> None:
    assert TOK.encode_arrow(pa.nulls(3)).to_pylist() == [None] * 3
    assert TOK.encode_arrow(pa.array([], pa.string())).to_pylist() == []
    empty = TOK.encode_arrow(pa.chunked_array([], pa.string()))
    assert (empty.type, len(empty)) == (pa.list_(pa.uint32()), 0)
    for column in (pa.array([1]), pa.chunked_array([[1.5]])):
        with pytest.raises(TypeError, match="the column must hold texts, not"):
            TOK.encode_arrow(column)
    with pytest.raises(TypeError, match="must be an array of Arrow, not list"):
        TOK.encode_arrow(["a"])


def test_nothing_is_copied() -> None:
    texts = ["the cat"] * 1000
    column = pa.array(texts)
    before = pa.total_allocated_bytes()
    lists = TOK.encode_arrow(column)
    assert pa.total_allocated_bytes() == before  # all memory of the lists belongs to NumPy
    del column
    assert lists.to_pylist() == [REFERENCE.encode_ordinary("the cat")] * 1000


def test_what_lies_at_the_place_of_a_null_is_no_text() -> None:
    offsets = pa.py_buffer(np.array([0, 2, 5, 6], np.int32))
    column = pa.Array.from_buffers(
        pa.string(), 3, [pa.py_buffer(b"\x05"), offsets, pa.py_buffer(b"he\xff\xff\xffa")]
    )
    assert column.to_pylist() == ["he", None, "a"]
    assert TOK.encode_arrow(column).to_pylist() == [[257], None, [97]]


def test_special_tokens_in_columns() -> None:
    column = pa.array(["<x>"])
    assert TOK.encode_arrow(column, specials="encode").to_pylist() == [[310]]
    assert TOK.encode_arrow(column).to_pylist() == [list(b"<x>")]


def test_columns_of_other_libraries() -> None:
    class Stream:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pa.chunked_array([["he"], ["a"]]).__arrow_c_stream__(schema)

    class Array:
        def __arrow_c_array__(self, schema: Any = None) -> Any:
            return pa.array(["he", "a"]).__arrow_c_array__(schema)

    for foreign in (Stream(), Array()):
        assert TOK.encode_arrow(foreign).to_pylist() == [[257], [97]]


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.array(["a"])
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(bc.errors.UnsupportedError, match="pip install pyarrow"):
        TOK.encode_arrow(column)


def test_too_many_ids_for_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bc.arrow, "MOST_IDS", 3)
    with pytest.raises(ValueError, match="4 ids are too many for one array"):
        TOK.encode_arrow(pa.array(["ab", "cd"]))
