"""What is done to whole vocabularies at once, beside the same one by one."""

import base64
import binascii
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_compat import bytelevel, flat, spec
from bpe_compat.converters.json_tree import PackedMerges, load_with_merges, parse
from bpe_compat.converters.vocabulary import merges_of_pairs, sound_merges
from bpe_compat.errors import FormatError
from bpe_compat.spec import TokenizerSpec, TokenKind

TOKENS = st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"abab", b"\xff"]), max_size=6)
NUMBERS = st.integers(-2, 6) | st.sampled_from([1 << 31, 1 << 32, 1 << 70])
STRINGS = st.sampled_from(["a", "b", "ab", "é", "aé", "éab", "", " "])


def is_sound_one_by_one(checked: TokenizerSpec, cut: int) -> bool:
    try:
        spec._check_each_token(checked)
        spec._check_each_merge(checked, cut)
    except FormatError:
        return False
    return True


@given(TOKENS, st.data(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3), st.integers(0, 2))
def test_specs_are_sound_if_each_part_is(
    tokens: list[bytes], data: Any, merges: list[tuple[int, int]], cut: int
) -> None:
    kind = st.sampled_from(TokenKind)
    kinds = data.draw(st.lists(kind, min_size=len(tokens), max_size=len(tokens)))
    checked = object.__new__(TokenizerSpec)
    for name, value in (("tokens", tokens), ("kinds", kinds), ("merges", merges)):
        object.__setattr__(checked, name, tuple(value))
    numbers = spec.kind_numbers(kinds)
    expected = is_sound_one_by_one(checked, cut)
    assert flat.is_sound(checked.tokens, numbers, checked.merges, cut) == expected


def test_what_is_no_plain_pair_is_left_to_a_closer_look() -> None:
    for merge in ([0, 1], (0, 1, 1), (True, 0), (0.0, 1), "ab", None):
        merges: Any = (merge,)
        assert not flat.is_sound((b"a", b"b", b"ab"), bytes(3), merges, 0)
    listed: Any = ([0, 1],)
    assert TokenizerSpec((b"a", b"b", b"ab"), merges=listed).merges == listed


@given(st.lists(STRINGS, unique=True), st.lists(st.tuples(STRINGS, STRINGS)), st.booleans())
def test_merges_of_strings_become_ids(
    strings: list[str], pairs: list[tuple[str, str]], spaced: bool
) -> None:
    vocab = {string: 2 * id for id, string in enumerate(strings)}
    found = sound_merges(vocab, [f"{a} {b}" for a, b in pairs] if spaced else pairs)
    sound = all(a and b and {a, b, a + b} <= vocab.keys() for a, b in pairs)
    if spaced:
        sound = sound and all(" " not in pair for pair in pairs)
    assert (found is not None) == sound
    if found is not None:
        assert found.pairs.tolist() == [[vocab[a], vocab[b]] for a, b in pairs]
        assert found.made.tolist() == [vocab[a + b] for a, b in pairs]
        assert flat.pairs(found.pairs) == tuple((vocab[a], vocab[b]) for a, b in pairs)


def test_merges_that_begin_with_a_prefix() -> None:
    vocab = {"a": 0, "##b": 1, "ab": 2, "b": 3}
    found = merges_of_pairs(vocab, [("a", "##b"), ("a", "b")], "##")
    assert found.pairs.tolist() == [[0, 1], [0, 3]]
    assert found.made.tolist() == [2]


def test_no_merges_are_sound() -> None:
    for merges in (sound_merges({"a": 0}, []), merges_of_pairs({"a": 0}, [])):
        assert merges is not None
        assert merges.pairs.shape == (0, 2)
    assert sound_merges({"a": 0}, ["a a", ["a", "a"]]) is None


@given(st.lists(st.text() | st.text(bytelevel.CHARACTERS)))
def test_characters_become_bytes(strings: list[str]) -> None:
    expected = list(map(bytelevel.from_characters, strings))
    assert bytelevel.all_from_characters(strings) == expected
    known = [token for token in expected if token is not None]
    assert bytelevel.all_to_characters(known) == list(map(bytelevel.to_characters, known))


@given(st.lists(st.tuples(st.integers(0, 1 << 31), st.integers(0, 9))))
def test_pairs_come_back_from_their_array(pairs: list[tuple[int, int]]) -> None:
    rows = flat.pair_array(tuple(pairs))
    assert rows.tolist() == list(map(list, pairs))
    assert flat.pairs(rows) == tuple(pairs)


BASE64 = st.binary(max_size=7).map(base64.b64encode) | st.text("AQZz+/= 9", max_size=6).map(
    str.encode
)
LINES = st.tuples(BASE64, st.sampled_from([b" ", b"", b"  "]), st.sampled_from([b"0", b"17", b""]))


@given(st.lists(LINES), st.sampled_from([b"\n", b"\r\n", b""]))
def test_lines_of_ranks_are_those_that_python_reads(lines: list[Any], end: bytes) -> None:
    expected: dict[bytes, int] | None = {}
    for encoded, space, rank in lines:
        try:
            token = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            token = b""
        plain = token and base64.b64encode(token) == encoded and space == b" " and rank
        if not plain or end != b"\n" or expected is None or token in expected:
            expected = None
        else:
            expected[token] = int(rank)
    assert flat.rank_lines(b"".join(b"".join([*line, end]) for line in lines)) == expected


def test_ranks_of_ten_digits_are_left_to_a_closer_look() -> None:
    assert flat.rank_lines(b"YQ== 999999999\n") == {b"a": 999999999}
    assert flat.rank_lines(b"YQ== 1000000000\n") is None
    assert flat.rank_lines(b"YR== 0\n") is None


HALVES = st.text(st.sampled_from('ab"\\/\n\tĠ語🙂[]{},: '), min_size=1, max_size=4)
REST = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | HALVES,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(HALVES, inside, max_size=2),
    max_leaves=6,
)


def merges_in(text: bytes) -> Any:
    found = flat.find_merges(text, "model", "merges")
    return found and found.unpacked()


@given(
    st.lists(st.tuples(HALVES, HALVES), min_size=1, max_size=4),
    st.booleans(),
    st.dictionaries(st.sampled_from(["vocab", "type", "a", "model"]), REST),
    st.dictionaries(st.sampled_from(["version", "merges", "k"]), REST),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
def test_merges_are_taken_out_of_json_as_json_reads_them(
    pairs: list[tuple[str, str]], spaced: bool, model: Any, tree: Any, indent: Any, ascii: bool
) -> None:
    if spaced:
        pairs = [(a.replace(" ", "_"), b.replace(" ", "_")) for a, b in pairs]
    merges: list[Any] = [f"{a} {b}" for a, b in pairs] if spaced else [list(p) for p in pairs]
    whole = {**tree, "model": {"x": None, **model, "merges": merges, "y": 1}, "z": 0.5}
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii).encode()
    found = flat.find_merges(text, "model", "merges")
    assert found is not None
    assert found.unpacked() == merges
    assert json.loads(text[found.begin : found.end]) == merges
    vocab = {string: id for id, string in enumerate({s for a, b in pairs for s in (a, b, a + b)})}
    rows = found.ids(vocab)
    assert rows is not None
    assert rows.tolist() == [[vocab[a], vocab[b], vocab[a + b]] for a, b in pairs]
    assert found.ids({}) is None


PLAIN = b'{"a": {"merges": [1]}, "model": {"vocab": {"\\"": 0}, "merges": ["a b", "c d"]}}'


@given(
    st.integers(0, len(PLAIN)), st.integers(0, 2), st.sampled_from([b"", *b'"\\[]{},: \x00\xffu'])
)
def test_damaged_json_is_read_as_json_reads_it(at: int, dropped: int, put: Any) -> None:
    """Merges are taken only from what is JSON so far; the rest is for the full reader."""
    text = PLAIN[:at] + (put if isinstance(put, bytes) else bytes([put])) + PLAIN[at + dropped :]
    found = flat.find_merges(text, "model", "merges")
    try:
        whole = json.loads(text.decode())
    except ValueError:
        whole = None
    if found and whole:
        assert found.unpacked() == whole["model"]["merges"]
    elif found:
        rest = text[: found.begin] + b"[]" + text[found.end :]
        with pytest.raises(FormatError):
            parse(rest, "x")


def test_what_is_not_plain_is_left_to_a_full_reader() -> None:
    for text in (
        b"", b"{}", b"[]", b'{"model": []}', b'{"model": {"merges": []}}',
        b'{"model": {"merges": ["a b"], "merges": ["a b"]}}',
        b'{"model": {"merges": ["a b"], "m\\u0065rges": ["a b"]}}',
        b'{"model": {"merges": ["a b"]}, "model": {"merges": ["a b"]}}',
        b'{"model": {"merges": ["a b", ["a", "b"]]}}',
        b'{"model": {"merges": [["a", "b", "c"]]}}',
        b'{"model": {"merges": ["a  b"]}}', b'{"model": {"merges": ["ab"]}}',
        b'{"model": {"merges": ["\\ud800 b"]}}',
        b'{"model": {"merges": ["a \\udc00\\ud800"]}}',
        b'{"model": {"merges": ["a \\u00g0"]}}', b'{"model": {"merges": ["a \xff"]}}',
        b'{"model": {"merges": ["a b",]}}', b'{"model": {"merges": ["a b"',
        b'{"model": {"merges": ["a b"]', b'{"model": {"merges": ["a\nb c"]}}',
        b'{"model": {"merges": ["a \\',
    ):  # fmt: skip
        assert merges_in(text) is None, text
    assert merges_in(b'{"model": {"merges": ["\\ud83d\\ude42\\/ \\u00e9"]}}') == ["🙂/ é"]


def test_errors_name_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": {"merges": [\n"a b",\n"a c"\n],\n"vocab": oops}}')
    with pytest.raises(FormatError, match="line 5"):
        load_with_merges(path, "model", "merges")
    path.write_text('{"model": {"merges": ["a b"], "vocab": {}}}')
    merges = load_with_merges(path, "model", "merges").child("model").get("merges", list)
    assert isinstance(merges, PackedMerges)
    assert merges.unpacked() == ["a b"]


@given(st.lists(STRINGS, min_size=1), st.data(), st.sampled_from(["", " ", "é"]))
def test_pairs_of_strings_become_one_text(strings: list[str], data: Any, between: str) -> None:
    ids = st.integers(0, len(strings) - 1)
    pairs = tuple(data.draw(st.lists(st.tuples(ids, ids))))
    expected = "".join(f"{strings[a]}{between}{strings[b]}\n" for a, b in pairs)
    assert flat.joined_pairs(strings, pairs, between, "\n") == expected


def test_pairs_of_no_strings_are_refused() -> None:
    for pair in ((0, 1), (-1, 0), (0, 1 << 40), ("a", 0), None):
        pairs: Any = (pair,)
        with pytest.raises(IndexError):
            flat.joined_pairs(["a"], pairs, "", "")
    for strings in (["\ud800"], [b"a"], [1]):
        texts: Any = strings
        with pytest.raises(TypeError):
            flat.joined_pairs(texts, (), "", "")
