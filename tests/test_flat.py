"""What is done to whole vocabularies at once, beside the same one by one."""

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_compat import _core, bytelevel, flat, spec
from bpe_compat.converters.json_tree import PackedMerges, PackedVocab, load_model, parse
from bpe_compat.converters.vocabulary import merges_of_pairs, sound_merges
from bpe_compat.errors import FormatError
from bpe_compat.kinds import TokenKind, kind_numbers, kinds_of
from bpe_compat.spec import TokenizerSpec

TOKENS = st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"abab", b"\xff"]), max_size=6)
NUMBERS = st.integers(-2, 6) | st.sampled_from([1 << 31, 1 << 32, 1 << 70])
_NORMAL, _UNUSED = kind_numbers((TokenKind.NORMAL, TokenKind.UNUSED))
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
    numbers = kind_numbers(kinds)
    expected = is_sound_one_by_one(checked, cut)
    made = _core.Vocabulary.of(checked.tokens, numbers, checked.merges, cut)
    assert (made is not None) == expected
    if made is not None:
        assert (made.tokens(), made.kinds(), made.merges()) == (
            tuple(tokens),
            numbers,
            tuple(merges),
        )
        ids = [tokens.index(tokens[a] + tokens[b][cut:]) for a, b in merges]
        assert [tokens[id] for id in made.rows()[:, 2].tolist()] == [tokens[id] for id in ids]


def test_what_is_no_plain_pair_is_left_to_a_closer_look() -> None:
    for merge in ([0, 1], (0, 1, 1), (True, 0), (0.0, 1), "ab", None):
        merges: Any = (merge,)
        assert _core.Vocabulary.of((b"a", b"b", b"ab"), bytes(3), merges, 0) is None
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
        assert found.rows.tolist() == [[vocab[a], vocab[b], vocab[a + b]] for a, b in pairs]
        assert found.made.tolist() == [vocab[a + b] for a, b in pairs]
        assert flat.pairs(found.rows) == tuple((vocab[a], vocab[b]) for a, b in pairs)


def test_merges_that_begin_with_a_prefix() -> None:
    vocab = {"a": 0, "##b": 1, "ab": 2, "b": 3}
    found = merges_of_pairs(vocab, [("a", "##b"), ("a", "b")], "##")
    assert found.rows.tolist() == [[0, 1], [0, 3]]
    assert found.made.tolist() == [2]


def test_no_merges_are_sound() -> None:
    for merges in (sound_merges({"a": 0}, []), merges_of_pairs({"a": 0}, [])):
        assert merges is not None
        assert merges.rows.shape[0] == 0
    assert sound_merges({"a": 0}, ["a a", ["a", "a"]]) is None


@given(st.lists(st.text() | st.text(bytelevel.CHARACTERS), unique=True), st.booleans())
def test_strings_are_spelled(strings: list[str], byte_level: bool) -> None:
    strings += ["<0x41>", "<0xc3>", "<0xC3>", "<0xC3> "]
    strings = list(dict.fromkeys(strings))
    vocab = {string: 2 * id + 1 for id, string in enumerate(strings)}
    named: Any = flat.StringIds.of(vocab)
    alphabet = bytelevel.CHARACTERS if byte_level else None
    spelled = flat.Spelling(named, 2 * len(strings) + 1, alphabet, not byte_level)
    tokens, kinds = spelled.tokens({0: b"x"}), kinds_of(spelled.kinds().tobytes())
    assert tokens[::2] == [b"x"] + [b""] * len(strings)
    assert set(kinds[::2]) == {TokenKind.UNUSED}
    for string, token, kind in zip(strings, tokens[1::2], kinds[1::2], strict=True):
        known = bytelevel.from_characters(string) if byte_level else None
        if string in ("<0x41>", "<0xC3>") and not byte_level:
            assert (token, kind) == (bytes.fromhex(string[3:5]), TokenKind.BYTE)
        elif byte_level and known is None:
            assert (token, kind) == (string.encode(), TokenKind.CONTROL)
        else:
            assert token == (string.encode() if known is None else known)
            assert kind is (TokenKind.NORMAL if token else TokenKind.CONTROL)


def spelled(tokens: list[bytes]) -> flat.Strings:
    """Tokens in GPT-2's characters."""
    kinds = [TokenKind.CONTROL if token else TokenKind.UNUSED for token in tokens]
    vocabulary: Any = flat.Vocabulary.of(tuple(tokens), kind_numbers(tuple(kinds)), (), 0)
    strings: flat.Strings = vocabulary.strings(bytelevel.CHARACTERS, {})
    return strings


@given(st.lists(st.binary()))
def test_bytes_become_characters(tokens: list[bytes]) -> None:
    strings = spelled(tokens)
    expected = list(map(bytelevel.to_characters, tokens))
    assert strings.to_list() == expected
    assert [strings[place] for place in range(len(strings))] == expected
    owned = [string for string in expected if string]
    assert strings.are_distinct() == (len(set(owned)) == len(owned))


def strings_of(strings: list[str]) -> flat.Strings:
    """The strings themselves."""
    vocabulary: Any = flat.Vocabulary.of(
        (b"",) * len(strings), bytes([_UNUSED]) * len(strings), (), 0
    )
    found: flat.Strings = vocabulary.strings(None, dict(enumerate(strings)))
    return found


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers())))
def test_of_equal_merges_the_last_counts(rows: list[tuple[int, int, int]]) -> None:
    rows = [(left, right, place) for place, (left, right, _) in enumerate(rows)]
    last = sorted({(left, right): (left, right, place) for left, right, place in rows}.values(),
                  key=lambda row: row[2])  # fmt: skip
    array = np.array(rows, np.uint32).reshape(-1, 3)
    assert flat.last_rows(array).tolist() == list(map(list, last))
    assert flat.last_rows(array[:, :2]).tolist() == [list(row[:2]) for row in last]
    assert flat.pairs(array) == tuple((left, right) for left, right, _ in rows)


BASE64 = st.binary(max_size=7).map(base64.b64encode) | st.text("AQZz+/= 9", max_size=6).map(
    str.encode
)
LINES = st.tuples(BASE64, st.sampled_from([b" ", b"", b"  "]), st.sampled_from([b"0", b"17", b""]))


def ranks_in(lines: bytes) -> dict[bytes, int] | None:
    found = flat.rank_lines(lines)
    return None if found is None else found.to_dict_of_bytes()


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
    assert ranks_in(b"".join(b"".join([*line, end]) for line in lines)) == expected


def test_ranks_of_ten_digits_are_left_to_a_closer_look() -> None:
    assert ranks_in(b"YQ== 999999999\n") == {b"a": 999999999}
    assert flat.rank_lines(b"YQ== 1000000000\n") is None
    assert flat.rank_lines(b"YR== 0\n") is None


HALVES = st.text(st.sampled_from('ab"\\/\n\tĠ語🙂[]{},: '), min_size=1, max_size=4)
REST = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | HALVES,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(HALVES, inside, max_size=2),
    max_leaves=6,
)


def model_in(text: bytes) -> Any:
    """Vocab and merges of a JSON text, taken out of it; None if they are left to a full reader."""
    found = flat.find_model(text)
    if found is None:
        return None
    vocab = found.strings.to_dict()
    strings = {id: string for string, id in vocab.items()}
    rows = [[strings[id] for id in row] for row in found.rows().tolist()]
    assert all(left + right == made for left, right, made in rows)
    return vocab, [(left, right) for left, right, _ in rows]


def pairs_of(merges: Any) -> Any:
    return [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in merges]


@given(
    st.lists(st.tuples(HALVES, HALVES), min_size=1, max_size=4),
    st.lists(HALVES | st.just(""), max_size=2),
    st.permutations(range(20)),
    st.booleans(),
    st.dictionaries(st.sampled_from(["type", "a", "model"]), REST),
    st.dictionaries(st.sampled_from(["version", "merges", "vocab"]), REST),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
def test_a_model_is_taken_out_of_json_as_json_reads_it(
    pairs: list[tuple[str, str]], more: list[str], ids: list[int], spaced: bool, model: Any,
    tree: Any, indent: Any, ascii: bool,
) -> None:  # fmt: skip
    if spaced:
        pairs = [(a.replace(" ", "_"), b.replace(" ", "_")) for a, b in pairs]
    merges: list[Any] = [f"{a} {b}" for a, b in pairs] if spaced else [list(p) for p in pairs]
    strings = dict.fromkeys([s for a, b in pairs for s in (a, b, a + b)] + more)
    vocab = dict(zip(strings, ids, strict=False))
    inner = {"x": None, **model, "vocab": vocab, "between": [{}], "merges": merges, "y": 1}
    text = json.dumps(
        {**tree, "model": inner, "z": 0.5}, indent=indent, ensure_ascii=ascii
    ).encode()
    assert model_in(text) == (vocab, pairs)
    found: Any = flat.find_model(text)
    assert json.loads(text[found.vocab.begin : found.vocab.end]) == vocab
    assert json.loads(text[found.merges.begin : found.merges.end]) == merges
    inner["vocab"] = {string: id for string, id in vocab.items() if string != pairs[-1][0]}
    assert model_in(json.dumps({"model": inner}).encode()) is None


def test_strings_have_their_ids() -> None:
    strings: Any = flat.StringIds.of({"a": 7, "é": 0, "": 3})
    assert [strings.find(s) for s in ("a", "é", "", "b", "\ud800")] == [7, 0, 3, None, None]
    assert (len(strings), strings.end, strings.has_distinct_ids()) == (3, 8, True)
    odd: list[Any] = [{"a": -1}, {"a": 1.0}, {"a": True}, {1: 1}, {"\ud800": 1}, {"a": 1 << 32}]
    assert [flat.StringIds.of(vocab) for vocab in odd] == [None] * len(odd)
    same: Any = flat.StringIds.of({"a": 1, "b": 1})
    assert not same.has_distinct_ids()
    vocab = PackedVocab(strings)
    assert (dict(vocab), len(vocab), vocab["a"], vocab.get("x", 5)) == (strings.to_dict(), 3, 7, 5)
    assert "x" not in vocab
    assert list(vocab) == ["a", "é", ""]


PLAIN = b'{"a": {"merges": [1]}, "model": {"vocab": {"\\"": 0, "b": 12}, "merges": ["a b", "c d"]}}'


@given(
    st.integers(0, len(PLAIN)), st.integers(0, 2), st.sampled_from([b"", *b'"\\[]{},: \x00\xff1u'])
)
def test_damaged_json_is_read_as_json_reads_it(at: int, dropped: int, put: Any) -> None:
    """A model is taken only from what is JSON so far; the rest is for the full reader."""
    text = PLAIN[:at] + (put if isinstance(put, bytes) else bytes([put])) + PLAIN[at + dropped :]
    found = flat.find_model(text)
    try:
        whole = json.loads(text.decode())
    except ValueError:
        whole = None
    if found and whole:
        model = whole["model"]
        assert model_in(text) == (model["vocab"], pairs_of(model["merges"]))
    elif found:
        rest = text[: found.merges.begin] + b"[]" + text[found.merges.end :]
        rest = rest[: found.vocab.begin] + b"{}" + rest[found.vocab.end :]
        with pytest.raises(FormatError):
            parse(rest, "x")


def test_what_is_not_plain_is_left_to_a_full_reader() -> None:
    def of_merges(merges: bytes) -> bytes:
        return b'{"model": {"vocab": {"a": 0, "aa": 1}, "merges": ' + merges + b"}}"

    def of_vocab(vocab: bytes) -> bytes:
        return b'{"model": {"vocab": ' + vocab + b', "merges": ["a a"]}}'

    for text in (
        b"", b"{}", b"[]", b'{"model": []}', b'{"model": {}}', b'{"model": {"merges": ["a a"]}}',
        b'{"model": {"vocab": {"a": 0, "aa": 1}}}',
        b'{"model": {"merges": ["a a"], "vocab": {"a": 0, "aa": 1}}}',
        of_merges(b"[]"), of_merges(b'["a a"], "merges": ["a a"]'),
        of_merges(b'["a a"], "m\\u0065rges": ["a a"]'),
        of_merges(b'["a a"]}, "model": {"vocab": {"a": 0, "aa": 1}, "merges": ["a a"]'),
        of_merges(b'["a a", ["a", "a"]]'), of_merges(b'[["a", "a", "a"]]'), of_merges(b'["aa a"]'),
        of_merges(b'["a  a"]'), of_merges(b'["aa"]'), of_merges(b'["\\ud800 a"]'),
        of_merges(b'["a \\udc00\\ud800"]'), of_merges(b'["a \\u00g0"]'), of_merges(b'["a \xff"]'),
        of_merges(b'["a a",]'), of_merges(b'["a a"')[:-2], of_merges(b'["a a"]')[:-2],
        of_merges(b'["a\na a"]'), of_merges(b'["a \\')[:-2], of_merges(b'["a "]'),
        of_vocab(b"{}"), of_vocab(b'{"a": 0, "aa": 1, "a": 1}'),
        of_vocab(b'{"a": 0, "aa": 1, "\\u0061": 0}'), of_vocab(b'{"a": -1, "aa": 1}'),
        of_vocab(b'{"a": 01, "aa": 2}'), of_vocab(b'{"a": 1.0, "aa": 2}'),
        of_vocab(b'{"a": 1e3, "aa": 2}'), of_vocab(b'{"a": 1234567890, "aa": 2}'),
        of_vocab(b'{"a": null, "aa": 2}'), of_vocab(b'{"a": , "aa": 2}'),
        of_vocab(b'{"a": 1, "aa": 2,}'), of_vocab(b'{"a" 1, "aa": 2}'),
        of_vocab(b'{"\xff": 1, "a": 0, "aa": 2}'), of_vocab(b'{"a": 1, "aa": 2}, "vocab": {}'),
        of_vocab(b'[["a", 1]]'), of_vocab(b'{"\\udc00": 1, "a": 0, "aa": 2}'),
    ):  # fmt: skip
        assert model_in(text) is None, text
    assert model_in(of_merges(b'[["a", "a"]]')) == ({"a": 0, "aa": 1}, [("a", "a")])
    text = of_vocab(b'{"a": 0, "aa": 5, "\\ud83d\\ude42\\/\\u00e9": 999999999}')
    assert model_in(text) == ({"a": 0, "aa": 5, "🙂/é": 999999999}, [("a", "a")])


def test_errors_name_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": {"vocab": {"a": 0,\n"aa": 1},\n"merges": [\n"a a"\n]\n}, oops}')
    with pytest.raises(FormatError, match="line 6"):
        load_model(path)
    path.write_text('\ufeff{"model": {"vocab": {"a": 0, "aa": 1}, "merges": ["a a"]}}')
    model = load_model(path).child("model")
    assert isinstance(model.value["merges"], PackedMerges)
    assert isinstance(model.value["vocab"], PackedVocab)


PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))


@given(st.lists(STRINGS, min_size=10), PAIRS, st.sampled_from(["", " ", "é"]))
def test_pairs_of_strings_become_one_text(strings: list[str], pairs: Any, between: str) -> None:
    rows = np.array(pairs, np.uint32).reshape(-1, 2)
    expected = "".join(f"{strings[a]}{between}{strings[b]}\n" for a, b in pairs)
    assert strings_of(strings).joined_pairs(rows, between, "\n") == expected.encode()


@given(st.lists(STRINGS, min_size=10), PAIRS, st.sets(st.integers(0, 9)))
def test_strings_and_pairs_become_the_json_that_python_writes(
    strings: list[str], pairs: Any, inside: set[int]
) -> None:
    rows = np.array([(a, b, 0) for a, b in pairs], np.uint32).reshape(-1, 3)
    found = strings_of(strings).json_model(np.array(sorted(inside), np.uint32), rows, "[é", "]")
    written = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    vocab = ",".join(f"{written(strings[id])}:{id}" for id in sorted(inside))
    merges = written([(strings[a], strings[b]) for a, b in pairs])
    assert bytes(found).decode() == f'[é{{{vocab}}},"merges":{merges}]'


def test_places_of_no_strings_are_refused() -> None:
    strings, none = strings_of(["a"]), np.zeros((0, 2), np.uint32)
    rows, inside = np.array([[0, 1]], np.uint32), np.array([1], np.uint32)
    broken: tuple[Callable[[], object], ...] = (
        lambda: strings.joined_pairs(rows, "", ""),
        lambda: strings.json_model(inside, none, "", ""),
        lambda: strings.json_model(inside[:0], rows, "", ""),
        lambda: strings[1],
        lambda: strings[-1],
    )
    for ask in broken:
        with pytest.raises(IndexError):
            ask()


@given(st.lists(st.binary(), unique=True), st.data())
def test_a_vocabulary_says_of_its_tokens_what_python_says(tokens: list[bytes], data: Any) -> None:
    tokens = [token for token in tokens if token]
    vocabulary: Any = flat.Vocabulary.of(tuple(tokens), bytes([_NORMAL]) * len(tokens), (), 0)
    assert [vocabulary[id] for id in range(len(tokens))] == tokens
    assert vocabulary.sizes().tolist() == list(map(len, tokens))
    ids = {token: id for id, token in enumerate(tokens)}
    assert vocabulary.byte_ids() == tuple(ids.get(bytes([byte])) for byte in range(256))
    broken = [id for id, t in enumerate(tokens) if t.decode("utf-8", "ignore").encode() != t]
    assert vocabulary.not_utf8().tolist() == broken
    others = data.draw(st.permutations(tokens) | st.just(tokens))
    other: Any = flat.Vocabulary.of(tuple(others), bytes([_NORMAL]) * len(others), (), 0)
    assert vocabulary.same_tokens(other) == (others == tokens)


def test_specs_are_equal_if_all_that_decides_ids_is() -> None:
    spec = TokenizerSpec((b"a", b"b", b"ab", b"ba"), merges=((0, 1), (1, 0)))
    assert spec == replace(spec)
    assert hash(spec) == hash(replace(spec))
    assert spec == replace(spec, metadata={"name": "x"})
    changes: tuple[object, ...] = (
        replace(spec, merges=((1, 0), (0, 1))),
        replace(spec, tokens=(b"a", b"b", b"ab", b"ba", b"c"), kinds=()),
        replace(spec, kinds=(*spec.kinds[:3], TokenKind.CONTROL), merges=((0, 1),)),
        replace(spec, ignore_merges=True),
        spec.tokens,
    )
    assert all(spec != changed for changed in changes)
