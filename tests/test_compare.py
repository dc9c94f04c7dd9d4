"""`compare`: what it calls equal is equal, what it calls different differs, and by what proof."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import reference
import samples
import shared_data
from hypothesis import given
from hypothesis import strategies as st
from scanning import NAMES, scan

import bpe_compat as bc
from bpe_compat import patterns
from bpe_compat.cli import main
from bpe_compat.comparing.alphabet import alphabet
from bpe_compat.spec import (
    DecoderStep,
    Normalizer,
    Split,
    Template,
    TemplateItem,
    TokenizerSpec,
)

# Every text of up to five of the letters that the small tokenizers below have.
SHORT = ["".join(t) for n in range(6) for t in itertools.product("abc", repeat=n)]


def of_merges(merges: list[tuple[bytes, bytes]], **options: Any) -> TokenizerSpec:
    """A spec of the letters a, b, c with these merges; ids in the order of appearance."""
    ids = {letter: id for id, letter in enumerate([b"a", b"b", b"c"])}
    for left, right in merges:
        ids.setdefault(left + right, len(ids))
    pairs = [(ids[left], ids[right]) for left, right in merges]
    return TokenizerSpec(tuple(ids), merges=tuple(pairs), **options)


def ids_of(spec: TokenizerSpec, text: str) -> list[int] | None:
    """The ids by the textbook, for specs without splits; None for an error."""
    known = spec.normal_ids()
    piece = text.encode()
    if not piece:
        return []
    if spec.merge_rule == "ranks":
        tokens = reference.encode_by_ranks(piece, known)
        return [known[t] for t in tokens] if all(t in known for t in tokens) else None
    piece = bytes(byte for byte in piece if bytes([byte]) in known)
    if spec.ignore_merges and text.encode() in known:
        return [known[text.encode()]]
    merges = [(spec.tokens[left], spec.tokens[right]) for left, right in spec.merges]
    # A pair that is listed twice has its last place.
    return [known[token] for token in reference.encode_by_merges(piece, merges)]


def check(a: TokenizerSpec, b: TokenizerSpec) -> bc.Comparison:
    """Compares two small tokenizers, and the result with the textbook."""
    found = bc.compare(a, b, most=1000)
    different = [text for text in SHORT if ids_of(a, text) != ids_of(b, text)]
    if found.verdict == "equal":
        assert found
        assert different == []
        assert found.difference is None
        return found
    assert not found
    if found.verdict == "undecided":
        assert different == []
        return found
    difference = found.difference
    assert difference is not None
    assert difference.ids == (ids_of(a, difference.text), ids_of(b, difference.text))
    assert difference.ids[0] != difference.ids[1]
    for at in range(len(difference.text)):
        shorter = difference.text[:at] + difference.text[at + 1 :]
        assert ids_of(a, shorter) == ids_of(b, shorter)
    if different:
        assert len(difference.text) == len(different[0])
    return found


@st.composite
def merge_lists(draw: st.DrawFn, most: int = 8) -> list[tuple[bytes, bytes]]:
    """Merges of tokens that earlier merges make, each pair once."""
    tokens, merges = [b"a", b"b", b"c"], []
    for _ in range(draw(st.integers(0, most))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        if pair not in merges and len(pair[0] + pair[1]) < 7:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    return merges


def with_ids_of(a: TokenizerSpec, merges: list[tuple[bytes, bytes]], **options: Any) -> Any:
    """A spec of other merges whose tokens have the ids that they have in `a`, as far as they do."""
    known = dict(a.normal_ids())
    for left, right in merges:
        known.setdefault(left + right, len(known))
    pairs = tuple((known[left], known[right]) for left, right in merges)
    return TokenizerSpec(tuple(known), merges=pairs, **options)


# What is equal and what is not


@given(merge_lists(), merge_lists(), st.booleans(), st.booleans())
def test_any_two_lists(
    a: list[tuple[bytes, bytes]], b: list[tuple[bytes, bytes]], one: bool, other: bool
) -> None:
    first = of_merges(a, ignore_merges=one)
    check(first, with_ids_of(first, b, ignore_merges=other))


@given(st.data())
def test_one_list_in_another_order(data: st.DataObject) -> None:
    merges = data.draw(merge_lists(most=12))
    spec = of_merges(merges)
    check(spec, with_ids_of(spec, data.draw(st.permutations(merges))))


@given(st.data())
def test_two_neighbours_of_a_list_swapped(data: st.DataObject) -> None:
    merges = data.draw(merge_lists(most=12).filter(lambda merges: len(merges) > 1))
    at = data.draw(st.integers(0, len(merges) - 2))
    spec = of_merges(merges)
    merges[at : at + 2] = merges[at + 1], merges[at]
    found = check(spec, with_ids_of(spec, merges))
    made = [left + right for left, right in merges]
    if len(set(made)) == len(made) and made[at + 1] not in merges[at]:
        assert found.verdict != "undecided"


@given(merge_lists(), st.integers(0, 8), st.booleans())
def test_a_list_with_a_merge_taken_out(
    merges: list[tuple[bytes, bytes]], at: int, ignore_merges: bool
) -> None:
    spec = of_merges(merges, ignore_merges=ignore_merges)
    fewer = with_ids_of(spec, merges[:at] + merges[at + 1 :], ignore_merges=ignore_merges)
    check(spec, replace(fewer, tokens=spec.tokens, kinds=()))


@given(st.lists(st.text("abc", min_size=2, max_size=4), unique=True, max_size=8), st.booleans())
def test_ranks_and_merges(words: list[str], ignore_merges: bool) -> None:
    tokens = [b"a", b"b", b"c", *(word.encode() for word in words)]
    spec = TokenizerSpec(tuple(tokens), merge_rule="ranks", ignore_merges=True)
    every = [
        (left, right)
        for token in tokens
        for left in range(len(tokens))
        for right in range(len(tokens))
        if tokens[left] + tokens[right] == token
    ]
    found = check(spec, replace(spec, merge_rule="pairs", merges=tuple(every)))
    # The bytes that have no token are an error on one side and dropped on the other.
    assert found.verdict == "different"
    whole = [bytes([byte]) for byte in range(256)]
    shift = {old: whole.index(t) if len(t) == 1 else 253 + old for old, t in enumerate(tokens)}
    spec = replace(spec, tokens=(*whole, *tokens[3:]), kinds=())
    pairs = tuple((shift[left], shift[right]) for left, right in every)
    listed = replace(spec, merge_rule="pairs", merges=pairs, ignore_merges=ignore_merges)
    found = check(spec, listed)
    if ignore_merges:
        assert found.verdict == "equal"
        assert "under listed merges and under ranks" in found.reason


def test_the_proofs() -> None:
    ab, bc_, cc, abc = (b"a", b"b"), (b"b", b"c"), (b"c", b"c"), (b"ab", b"c")
    spec = of_merges([ab, cc, (b"cc", b"c")])
    assert check(spec, spec).reason == "the same specification"
    # (a, bc) never happens: (a, b) takes the b first.
    spec = of_merges([ab, abc, bc_])
    assert check(spec, with_ids_of(spec, [ab, abc, bc_, (b"a", b"bc")])).reason == (
        "identical normal forms"
    )
    spec = of_merges([ab, cc, (b"cc", b"c")])
    found = check(spec, with_ids_of(spec, [cc, (b"cc", b"c"), ab]))
    assert found.reason.startswith("the same merges in another order, which never matters")
    spec = of_merges([ab, bc_])
    found = check(spec, with_ids_of(spec, [bc_, ab]))
    assert found.reason == "'abc' becomes [3, 2] and [0, 4]"
    # abc has another last merge; that this changes nothing is not proved.
    spec = of_merges([ab, abc, bc_])
    found = check(spec, with_ids_of(spec, [bc_, (b"a", b"bc"), ab]))
    assert found.verdict == "undecided"
    assert found.reason.startswith("no proof, and no difference on ")


WORDS = samples.trained(special_tokens=["<|a|>", "<|a|>b"]).spec
ADDED = WORDS.added_tokens


@pytest.mark.parametrize(
    "options",
    [
        {"added_tokens": ADDED[::-1]},
        {"added_tokens": tuple(replace(token, normalized=True) for token in ADDED)},
        {"normalizers": (Normalizer("strip", left=False, right=False), Normalizer("prepend"))},
        {"normalizers": (Normalizer("replace", pattern="x", content="x"),)},
        {"splits": (replace(WORDS.splits[0], behavior="removed", invert=True),)},
        {"ignore_merges": True},
        {"byte_fallback": True},
        {"fuse_unknown": True},
        {"template": Template((TemplateItem("A"), TemplateItem(0)), (TemplateItem("A"),))},
        {"decoder": (DecoderStep("fuse"),)},
    ],
)
def test_what_changes_no_id(options: dict[str, Any]) -> None:
    found = bc.compare(WORDS, replace(WORDS, **options))
    assert found.verdict == "equal"
    assert found.reason == "identical normal forms"
    assert bool(found.notes) == ("template" in options or "decoder" in options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"added_tokens": ADDED[:1]}, "<|a|>b"),
        ({"added_tokens": (ADDED[0], replace(ADDED[1], id=ADDED[0].id))}, "<|a|>b"),
        ({"added_tokens": (replace(ADDED[0], special=False), ADDED[1])}, "<|a|>"),
        ({"added_tokens": (replace(ADDED[0], lstrip=True), ADDED[1])}, " <|a|>"),
        ({"added_tokens": (replace(ADDED[0], rstrip=True), ADDED[1])}, "<|a|> "),
        ({"added_tokens": (replace(ADDED[0], single_word=True), ADDED[1])}, "<|a|>a"),
        ({"normalizers": (Normalizer("nfc"),)}, "\u0340"),
        ({"normalizers": (Normalizer("lowercase"),)}, "A"),
        ({"normalizers": (Normalizer("strip"),)}, " "),
        ({"prefix_space": True}, "a"),
        ({"merges": WORDS.merges[:-1]}, None),
        ({"splits": ()}, None),
    ],
)  # fmt: skip
def test_what_changes_ids(options: dict[str, Any], text: str | None) -> None:
    other = replace(WORDS, **options)
    found = bc.compare(WORDS, other, most=20_000)
    assert found.verdict == "different"
    difference = found.difference
    assert difference is not None
    assert text in (None, difference.text)
    for spec, ids in zip((WORDS, other), difference.ids, strict=True):
        tok = bc.Tokenizer(spec)
        made = tok.encode_arrays([difference.text], specials=difference.specials).ids
        assert made.tolist() == ids


# Splits

PATTERNS = ["gpt2", "cl100k", "llama3", "qwen2", "qwen3.5", "o200k"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("other", PATTERNS)
def test_patterns(pattern: str, other: str) -> None:
    """One vocabulary of every two and three characters of a few, so that each cut can be seen."""
    letters = ["a", "B", "1", " ", "\n", "'", "s", "!", "/", "\u0301"]
    tokens: dict[bytes, int] = dict(samples.BYTES)
    for length in (1, 2, 3):
        for token in map("".join, itertools.product(letters, repeat=length)):
            tokens.setdefault(token.encode(), len(tokens))
    a, b = (
        bc.Tokenizer.from_ranks(tokens, pattern=name, special_tokens={})
        for name in (pattern, other)
    )
    found = bc.compare(a, b, most=20_000)
    assert found.verdict == ("equal" if pattern == other else "different")
    if {pattern, other} == {"cl100k", "llama3"}:
        assert found.difference is not None
        assert found.difference.text == "\n "


def test_regexes_of_ones_own() -> None:
    def spec(pattern: str) -> TokenizerSpec:
        return replace(WORDS, splits=(Split(pattern),))

    assert bc.compare(spec(r"\p{N}{2}"), spec(r"\p{N}{2,2}")).verdict == "equal"
    assert bc.compare(spec(r"[ab]|x"), spec(r"(?:[a-b])|x")).verdict == "equal"
    assert bc.compare(spec(r"\w+"), spec(r"\w"), most=5000).verdict == "different"


def test_where_cl100k_and_llama3_are_not_the_same() -> None:
    """At the end of a text, where white space goes on after its last line end."""
    differing = 0
    for letters in itertools.product("a1 \n\t\r!'\u3000\x85", repeat=5):
        a, b = (scan(name, "".join(letters)) for name in ("cl100k", "llama3"))
        if a == b:
            continue
        differing += 1
        assert a == [*b[:-2], b[-2] + b[-1]]
        assert a[-1].decode().isspace()
        assert b[-2].endswith((b"\n", b"\r"))
        assert not {*b"\r\n"} & {*b[-1]}
    assert differing


@pytest.mark.parametrize("name", [name for name in NAMES if name != "falcon"])
def test_a_piece_alone_is_one_piece(name: str) -> None:
    """What `normal_form` relies on; falcon's pieces may end inside a character."""
    specs = bc.Tokenizer.from_ranks(samples.BYTES, pattern="gpt2", special_tokens={}).spec
    spec = replace(specs, splits=patterns.resolve(name))
    letters = alphabet((spec, spec))
    texts = itertools.chain(
        map("".join, itertools.product(letters, repeat=3)),
        map("".join, itertools.product(letters[:18], repeat=4)),
        map("".join, itertools.product("aB1 \n's!/", repeat=5)),
    )
    pieces = {piece for text in texts for piece in scan(name, text)}
    assert all(scan(name, piece) == [piece] for piece in pieces)


# Published tokenizers


def published(name: str, like: bc.Tokenizer | None = None, pattern: str | None = None) -> Any:
    path = shared_data.find(f"tokenizers/{name}")
    if path is None:
        pytest.skip(f"needs {name}")
    special = like.spec.special_tokens if like else None
    return bc.load(path, pattern=pattern, special_tokens=special)


def test_published_files_of_the_same_tokenizer(shared: Path) -> None:
    closure = "identical normal forms: under listed merges and under ranks"
    gpt2 = published("gpt2/tokenizer.json")
    r50k = bc.load(shared_data.rank_file("r50k_base"))
    assert bc.compare(gpt2, r50k).reason.startswith(closure)
    llama3 = published("llama3/tokenizer.json")
    ranks = published("llama3_tiktoken/tokenizer.model", llama3, "llama3")
    assert bc.compare(llama3, ranks).reason.startswith(closure)
    assert bc.compare(published("gguf_vocab/ggml-vocab-llama-bpe.gguf"), llama3)


def test_both_patterns_of_cl100k_give_the_same_ids(shared: Path) -> None:
    """No token of this vocabulary stands across the only place that one of them cuts."""
    found = bc.compare(published("gpt35turbo/tokenizer.json"), shared_data.rank_file("cl100k_base"))
    assert found.verdict == "equal"
    assert "behind its last line end" in found.reason


@pytest.mark.parametrize(
    ("a", "b", "text", "specials"),
    [
        ("openai_tiktoken/r50k_base.tiktoken", "openai_tiktoken/p50k_base.tiktoken", "  ", "text"),
        ("gptoss/tokenizer.json", "openai_tiktoken/o200k_base.tiktoken", "<|end|>", "encode"),
        ("gpt2/tokenizer.json", "roberta/tokenizer.json", "a", "text"),
    ],
)
def test_published_tokenizers_that_differ(
    shared: Path, a: str, b: str, text: str, specials: str
) -> None:
    found = bc.compare(published(a), published(b))
    assert found.difference is not None
    assert (found.difference.text, found.difference.specials) == (text, specials)


def test_digits_one_by_one(shared: Path) -> None:
    ranks = shared_data.rank_file("cl100k_base")
    special = bc.load(ranks).spec.special_tokens
    a, b = (bc.load(ranks, pattern=name, special_tokens=special) for name in ("llama3", "qwen2"))
    found = bc.compare(a, b)
    assert found.difference is not None
    assert found.difference.text == "11"


# The command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = samples.trained()
    tok.save(tmp_path / "a")
    tok.save(tmp_path / "b.tiktoken", format="tiktoken")
    samples.trained(pattern="llama3").save(tmp_path / "c")
    spec = of_merges([(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")])
    other = with_ids_of(spec, [(b"b", b"c"), (b"a", b"bc"), (b"a", b"b")])
    for name, one in (("d", spec), ("e", other)):
        bc.converters.write(one, tmp_path / name, format="huggingface")

    def run(a: str, b: str) -> int:
        return main(["compare", str(tmp_path / a), str(tmp_path / b)])

    assert run("a", "b.tiktoken") == 0
    assert capsys.readouterr().out.startswith("equal: identical normal forms: under listed")
    assert run("a", "c") == 1
    assert capsys.readouterr().out.startswith("different: ")
    assert run("d", "e") == 3
    assert capsys.readouterr().out.startswith("undecided: no proof, and no difference on ")
    bare = tmp_path / "bare.tiktoken"
    bare.write_bytes((tmp_path / "b.tiktoken").read_bytes())
    assert run("a", "bare.tiktoken") == 2
    options = ["--pattern", "gpt2", "--special", f"<|endoftext|>={tok.eot_token}"]
    assert main(["compare", str(tmp_path / "a"), str(bare), *options]) == 0
    capsys.readouterr()
    assert run("a", "missing") == 2
    assert "no such file or folder" in capsys.readouterr().err
