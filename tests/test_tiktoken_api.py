"""tiktoken's methods give tiktoken's answers, and errors for what it panics on."""

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
import shared_data
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from samples import BYTES, texts, trained, twin

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS
from bpe_compat.spec import TokenizerSpec


@pytest.fixture(scope="module", params=["gpt2", "cl100k", "o200k"])
def pair(request: pytest.FixtureRequest) -> tuple[bc.Tokenizer, tiktoken.Encoding]:
    special = ["<|endoftext|>", "<|a|>", "<|a|>b"]
    tok = trained(pattern=request.param, special_tokens=special)
    return tok, twin(tok)


# The same answers as tiktoken


@given(texts)
def test_encode_ordinary(pair: tuple[bc.Tokenizer, tiktoken.Encoding], text: str) -> None:
    ours, theirs = pair
    assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
    assert ours.encode(text, disallowed_special=()) == theirs.encode(text, disallowed_special=())


@given(texts)
def test_decode_gives_the_text_back(
    pair: tuple[bc.Tokenizer, tiktoken.Encoding], text: str
) -> None:
    ours, theirs = pair
    ids = ours.encode(text, allowed_special="all")
    assert ours.decode(ids) == text
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids) == text.encode()
    assert ours.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
    assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


@given(st.lists(st.integers(0, 329), max_size=12))
def test_decode_any_ids(pair: tuple[bc.Tokenizer, tiktoken.Encoding], ids: list[int]) -> None:
    ours, theirs = pair
    assert ours.decode(ids) == theirs.decode(ids)
    for errors in ("ignore", "backslashreplace"):
        assert ours.decode(ids, errors=errors) == theirs.decode(ids, errors=errors)


@given(texts, st.sets(st.sampled_from(["<|endoftext|>", "<|a|>b"])))
def test_some_special_tokens_allowed(
    pair: tuple[bc.Tokenizer, tiktoken.Encoding], text: str, allowed: set[str]
) -> None:
    # tiktoken takes whichever of <|a|> and <|a|>b its hash map lists first; these sets avoid that.
    ours, theirs = pair
    options: Any = {"allowed_special": allowed, "disallowed_special": ()}
    if "<|a|>b" in text and "<|a|>b" in allowed:
        return
    assert ours.encode(text, **options) == theirs.encode(text, **options)


@given(texts)
def test_lone_surrogates_and_pairs_of_them(
    pair: tuple[bc.Tokenizer, tiktoken.Encoding], text: str
) -> None:
    ours, theirs = pair
    for broken in (f"{text}\ud800", f"\udc00{text}", f"a\ud83d\ude00{text}"):
        assert ours.encode_ordinary(broken) == theirs.encode_ordinary(broken)
        options: Any = {"disallowed_special": ()}
        assert ours.encode(broken, **options) == theirs.encode(broken, **options)
    assert ours.encode_ordinary_batch([text, "\ud800"])[1] == theirs.encode_ordinary("\ud800")


@given(texts)
def test_encode_with_unstable(pair: tuple[bc.Tokenizer, tiktoken.Encoding], text: str) -> None:
    ours, theirs = pair
    options: Any = {"disallowed_special": ()}
    stable, completions = ours.encode_with_unstable(text, **options)
    expected_stable, expected = theirs.encode_with_unstable(text, **options)
    assert stable == expected_stable
    assert set(map(tuple, completions)) == set(map(tuple, expected))


@given(st.binary(max_size=12))
def test_bytes_cut_off_inside_a_character(
    pair: tuple[bc.Tokenizer, tiktoken.Encoding], data: bytes
) -> None:
    ours, theirs = pair
    for text in (data, "the 中".encode() + data):
        assert ours._encode_bytes(text) == theirs._encode_bytes(text)


def test_encodings_are_extended_through_private_attributes(
    pair: tuple[bc.Tokenizer, tiktoken.Encoding],
) -> None:
    ours, theirs = pair
    made = [
        tiktoken.Encoding(
            "extended",
            pat_str=encoding._pat_str,
            mergeable_ranks=encoding._mergeable_ranks,
            special_tokens={**encoding._special_tokens, "<|new|>": 5000},
        )
        for encoding in (ours, theirs)
    ]
    text = "the cat<|new|>"
    ids = [encoding.encode(text, allowed_special="all") for encoding in made]
    assert ids[0] == ids[1] == [*theirs.encode("the cat"), 5000]


def test_properties(pair: tuple[bc.Tokenizer, tiktoken.Encoding]) -> None:
    ours, theirs = pair
    assert ours.n_vocab == theirs.n_vocab
    assert ours.max_token_value == theirs.max_token_value
    assert ours.eot_token == theirs.eot_token
    assert ours.special_tokens_set == theirs.special_tokens_set
    assert ours.token_byte_values() == sorted(theirs.token_byte_values())
    assert ours.is_special_token(ours.eot_token)
    assert not ours.is_special_token(0)
    for id in range(ours.n_vocab):
        token = ours.decode_single_token_bytes(id)
        assert token == theirs.decode_single_token_bytes(id)
        assert ours.encode_single_token(token) == theirs.encode_single_token(token) == id


def test_batches(pair: tuple[bc.Tokenizer, tiktoken.Encoding]) -> None:
    ours, theirs = pair
    batch = ["the cat", "", "naïve 中文", "😀" * 50]
    assert ours.encode_batch(batch) == theirs.encode_batch(batch)
    assert ours.encode_ordinary_batch(batch, num_threads=3) == theirs.encode_ordinary_batch(batch)
    lists = ours.encode_batch(batch)
    assert ours.decode_batch(lists) == batch
    assert ours.decode_bytes_batch(lists) == [text.encode() for text in batch]
    assert ours.encode_to_numpy("the cat").tolist() == ours.encode("the cat")
    assert ours.encode_to_numpy("the cat").dtype == np.uint32


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", sorted(shared_data.RANK_FILES))
class TestPublishedEncodings:
    """The four encodings of OpenAI on real text, against tiktoken itself."""

    @pytest.mark.parametrize("corpus", ["english_web", "code", "multilingual", "tinystories"])
    def test_heads_of_the_texts(self, name: str, corpus: str) -> None:
        text = shared_data.text(corpus)
        ours = bc.load(shared_data.rank_file(name))
        assert ours.encode_ordinary(text) == shared_data.tiktoken_encoding(name).encode_ordinary(
            text
        )

    def test_the_whole_hostile_file(self, name: str) -> None:
        documents = shared_data.documents("hard", 20_000_000)
        ours, theirs = bc.load(shared_data.rank_file(name)), shared_data.tiktoken_encoding(name)
        ids, offsets = ours.encode_arrays(documents)
        for number, text in enumerate(documents):
            got = ids[offsets[number] : offsets[number + 1]].tolist()
            assert got == theirs.encode_ordinary(text), (number, text[:80])


@pytest.mark.usefixtures("shared")
def test_the_hostile_file_as_one_text() -> None:
    """tiktoken overflows its stack on it; the pieces are what it makes of parts of the text."""
    text = shared_data.text("hard", 20_000_000)
    tok = bc.load(shared_data.rank_file("cl100k_base"))
    started = time.monotonic()
    assert tok.decode(tok.encode_ordinary(text)) == text
    assert time.monotonic() - started < 60


# Errors


def test_special_tokens_in_the_text_are_refused() -> None:
    tok = trained(special_tokens=["<|endoftext|>", "<x>"])
    expected = r"Encountered text corresponding to disallowed special token '<\|endoftext\|>'"
    with pytest.raises(bc.errors.SpecialTokenError, match=expected):
        tok.encode("a<|endoftext|>")
    with pytest.raises(ValueError, match=expected):
        tok.encode_batch(["a", "<|endoftext|>"])
    with pytest.raises(ValueError, match="'<x>'"):
        tok.encode_to_numpy("<|endoftext|><x>", allowed_special={"<|endoftext|>"})
    with pytest.raises(ValueError, match="'cat'"):
        tok.encode("a cat", disallowed_special={"cat"})
    assert tok.encode("<x>", allowed_special={"<x>"}, disallowed_special="all") == [tok.n_vocab - 1]
    assert tok.encode("a<x>b", disallowed_special=()) == tok.encode_ordinary("a<x>b")


@pytest.mark.parametrize("ids", [[330], [0, 1 << 40], [5, -100], [1 << 100], [-(1 << 100)]])
def test_ids_out_of_range_are_named(ids: list[int]) -> None:
    tok = trained()
    for method in (tok.decode, tok.decode_bytes, tok.decode_tokens_bytes):
        with pytest.raises(KeyError, match=f"Invalid token for decoding: {ids[-1]}"):
            method(ids)


def test_an_id_in_a_gap_is_named() -> None:
    tok = bc.Tokenizer.from_ranks(BYTES, pattern="gpt2", special_tokens={"<s>": 300})
    for id in (256, 299, 301):
        with pytest.raises(KeyError, match=f"Invalid token for decoding: {id} "):
            tok.decode([65, id])
        with pytest.raises(KeyError, match=str(id)):
            tok.decode_single_token_bytes(id)
    assert tok.decode([300]) == "<s>"


@pytest.mark.parametrize("text", [None, 5, ["a"], 1.5])
def test_texts_of_a_wrong_type(text: Any) -> None:
    tok = trained()
    with pytest.raises((TypeError, AttributeError)):
        tok.encode(text)
    with pytest.raises(TypeError, match="text must be str or bytes"):
        tok.encode_arrays([text])


def test_one_text_is_no_sequence_of_texts() -> None:
    with pytest.raises(TypeError, match="not one text"):
        trained().encode_arrays("abc")


def test_ids_of_a_wrong_type() -> None:
    tok = trained()
    with pytest.raises(TypeError):
        tok.decode(["a"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="sequence of int"):
        tok.decode(5)  # type: ignore[arg-type]
    assert tok.decode(np.array([104, 105])) == "hi"
    numbers: Any = [np.int64(104), np.uint8(105)]
    assert tok.decode(numbers) == "hi"
    assert tok.decode((104, 105)) == "hi"


def test_unknown_modes_and_numbers() -> None:
    tok = trained()
    with pytest.raises(ValueError, match='"text" or "encode"'):
        tok.encode_arrays(["a"], specials="ids")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads must be an int of at least 1, not 0"):
        tok.encode_arrays(["a"], threads=0)
    with pytest.raises(ValueError, match="n must not be negative"):
        tok.truncate("a", -1)
    with pytest.raises(KeyError):
        tok.encode_single_token("no such token")
    with pytest.raises(KeyError):
        trained(special_tokens=()).eot_token  # noqa: B018
    with pytest.raises(AttributeError, match="immutable"):
        tok.name = "x"


def test_a_byte_without_a_rank_is_an_error_not_a_loss() -> None:
    ranks = {token: rank for token, rank in BYTES.items() if token != b"z"}
    tok = bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={})
    for text in ("az", "z"):
        with pytest.raises(ValueError, match="byte 0x7A has no token"):
            tok.encode(text)


@pytest.mark.parametrize(
    ("ranks", "special", "message"),
    [
        ({b"a": 0, b"b": 0}, {}, "rank 0 is used twice, by b'a' and b'b'"),
        ({b"a": -1}, {}, "b'a' has rank -1"),
        ({b"a": 1 << 40}, {}, "b'a' has rank 1099511627776: out of range"),
        ({"a": 0}, {}, "'a' is str, not bytes"),
        ({b"a": 0.5}, {}, "the rank of b'a' is 0.5, no integer"),
        ({b"a": 0}, {"<s>": 0}, "'<s>' has the rank 0 of b'a'"),
        ({b"a": 0}, {"": 1}, "'' must be a string with content"),
        ({b"a": 0}, {"<s>": -1}, "'<s>' has the id -1: out of range"),
        ({b"a": 0}, {"<s>": True}, "the id of the special token '<s>' is True, no integer"),
        ({b"a": 0}, {"<s>": "1"}, "the id of the special token '<s>' is '1', no integer"),
        ({b"a": 0}, {"\ud800": 1}, "is no text: surrogates not allowed"),
    ],
)
def test_bad_ranks_are_named(ranks: Any, special: Any, message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=message):
        bc.Tokenizer.from_ranks(ranks, pattern=None, special_tokens=special)


@pytest.mark.parametrize("ranks", [{b"<s>": 256, b"<s": 257}, {b"<s": 256, b"<s>": 257}])
def test_a_special_token_among_the_ranks_is_a_token_like_others_too(
    ranks: dict[bytes, int], tmp_path: Path
) -> None:
    ranks, special = {**BYTES, **ranks}, {"<s>": ranks[b"<s>"]}
    ours = bc.Tokenizer.from_ranks(ranks, pattern=None, special_tokens=special)
    theirs = tiktoken.Encoding(
        "x", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens=special
    )
    ours.save(tmp_path / "x.tiktoken", format="tiktoken")
    ours.save(tmp_path / "x")
    again = [bc.load(tmp_path / "x.tiktoken"), bc.load(tmp_path / "x")]
    for text in ("<s>", "a<s>b", "<s", "<s><s>"):
        for tok in (ours, *again):
            assert tok.encode_ordinary(text) == theirs.encode_ordinary(text)
            ids = theirs.encode(text, allowed_special="all")
            assert tok.encode(text, allowed_special="all") == ids


# Merging


@pytest.mark.parametrize("seed", range(8))
def test_ranks_equal_tiktoken_and_the_textbook(seed: int) -> None:
    """Random token sets, also such that no training would make."""
    rng = random.Random(seed)
    ranks = dict(BYTES)
    while len(ranks) < 320:
        ranks.setdefault(bytes(rng.choices(b"abcd ", k=rng.randrange(2, 7))), len(ranks))
    ours = bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={})
    theirs = tiktoken.Encoding(
        "x", pat_str=PATTERNS["gpt2"].text, mergeable_ranks=ranks, special_tokens={}
    )
    for length in (1, 5, 31, 32, 33, 34, 64, 99, 100, 101, 300, 501, 2000):
        text = "".join(rng.choices("abcd", k=length))
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), length
        if length <= 101:
            expected = [ranks[t] for t in reference.encode_by_ranks(text.encode(), ranks)]
            assert ours.encode_ordinary(text) == expected


@given(st.text("ab", max_size=70))
def test_pairs_equal_the_textbook(text: str) -> None:
    merges = [
        (b"a", b"b"),
        (b"b", b"a"),
        (b"a", b"a"),
        (b"ab", b"ab"),
        (b"aa", b"ab"),
        (b"b", b"b"),
    ]
    ids = {b"a": 0, b"b": 1}
    for left, right in merges:
        ids[left + right] = len(ids)
    spec = TokenizerSpec(tuple(ids), merges=tuple((ids[a], ids[b]) for a, b in merges))
    expected = [ids[token] for token in reference.encode_by_merges(text.encode(), merges)]
    assert bc.Tokenizer(spec).encode(text) == expected


@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000, "ab" * 500_000])
def test_a_million_letters_take_about_a_second(text: str) -> None:
    tok = bc.Tokenizer.from_ranks(
        {**BYTES, b"aa": 256, b"aaaa": 257, b"  ": 258, b"ab": 259, b"abab": 260},
        pattern="gpt2",
        special_tokens={},
    )
    started = time.monotonic()
    assert tok.decode(tok.encode(text)) == text
    assert time.monotonic() - started < 20
