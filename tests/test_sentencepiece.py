"""SentencePiece's models, against SentencePiece."""

import functools
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shared_data
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat.converters import pieces, protobuf, scores
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError
from bpe_compat.spec import Split

LINES = [
    "the cat and the hat, it's 2026! naïve café 中文中文  once   upon a time",
    "there was a little girl named Lily. She's happy; her friends weren't. ﬁne № ½",
    "[A] low lower lowest new newer newest wider widest [AB] e\u0301 a\u00a0b \u3000 ▁ x",
] * 5
VARIANTS: dict[str, dict[str, Any]] = {
    "llama": {"normalization_rule_name": "identity", "byte_fallback": True,
              "remove_extra_whitespaces": False, "vocab_size": 400},
    "default": {},
    "nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "no_prefix": {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    "untidy": {"remove_extra_whitespaces": False, "normalization_rule_name": "nmt_nfkc"},
    "user": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False,
             "user_defined_symbols": ["[A]", "[AB]", "▁▁", "x|y"], "byte_fallback": True,
             "vocab_size": 400},
    "control": {"control_symbols": ["<a>", "<b>"], "pad_id": 3, "split_digits": True},
    "loose": {"split_by_whitespace": False, "allow_whitespace_only_pieces": True,
              "remove_extra_whitespaces": False, "normalization_rule_name": "identity"},
}  # fmt: skip


@functools.cache
def model(variant: str, **more: Any) -> bytes:
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    options = {"vocab_size": 160, "model_type": "bpe", **VARIANTS[variant], **more}
    options.setdefault("character_coverage", 0.98)
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=out, minloglevel=2, **options
    )
    return out.getvalue()


def theirs(data: bytes) -> Any:
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)


@functools.cache
def pair(variant: str) -> tuple[bc.Tokenizer, Any]:
    return ours(model(variant)), theirs(model(variant))


def ours(data: bytes) -> bc.Tokenizer:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.model"
        path.write_bytes(data)
        assert bc.converters.detect(path) == "sentencepiece"
        return bc.load(path)


texts = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.text("  ▁\tae\u0301\u00a0\u3000\x01", max_size=8),
        st.sampled_from([*LINES[:3], "[A]", "[AB]", "<a>", "<s>", "<0x41>", "ﬁ", "x|y", "¨"]),
    ),
    max_size=6,
).map("".join)


@pytest.mark.parametrize("variant", VARIANTS)
@given(text=texts)
def test_the_ids_are_those_of_sentencepiece(variant: str, text: str) -> None:
    tok, reference = pair(variant)
    assert tok.encode_ordinary(text) == reference.encode(text)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_written_is_the_same_tokenizer(variant: str, tmp_path: Path) -> None:
    tok, reference = pair(variant)
    tok.save(tmp_path / "b.model", format="sentencepiece")
    again = (tmp_path / "b.model").read_bytes()
    assert bc.load(tmp_path / "b.model").spec == tok.spec
    written = theirs(again)
    for text in [*LINES, " ", "", "\x01", "▁ ▁", "[A][AB]"]:
        assert written.encode(text) == reference.encode(text)
        assert written.decode(written.encode(text)) == reference.decode(reference.encode(text))
    for role in ("unk_id", "bos_id", "eos_id", "pad_id", "vocab_size"):
        assert getattr(written, role)() == getattr(reference, role)()
    for id in range(written.vocab_size()):
        assert written.id_to_piece(id) == reference.id_to_piece(id)
        assert written.get_score(id) == reference.get_score(id)


@pytest.mark.parametrize("variant", ["llama", "default", "no_prefix", "untidy", "user"])
def test_decoding_what_has_no_unknown_token(variant: str) -> None:
    tok, reference = pair(variant)
    for text in (*LINES[:2], "the  cat", " a", "😀 naïve" if variant in ("llama", "user") else "a"):
        ids = reference.encode(text)
        if reference.unk_id() not in ids:
            assert tok.decode(ids) == reference.decode(ids)


@pytest.mark.parametrize("variant", ["llama", "no_prefix", "user", "loose"])
def test_tokenizer_json_gives_the_same_ids(variant: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tok, reference = pair(variant)
    tok.save(tmp_path / "hf")
    hf = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    hf.encode_special_tokens = True
    for text in [*LINES, "  the  cat ", "[AB] [A]", "\u3000", "[A]<s>[A]</s>[AB]<unk>x|y<0x41>[A]"]:
        assert hf.encode(text, add_special_tokens=False).ids == reference.encode(text)
    if variant == "user":
        return
    back = bc.load(tmp_path / "hf")
    assert back.spec == tok.spec
    back.save(tmp_path / "b.model", format="sentencepiece")
    assert bc.load(tmp_path / "b.model").spec == tok.spec


def test_compiled_rules_are_a_loss_elsewhere(tmp_path: Path) -> None:
    tok, _ = pair("default")
    with pytest.raises(LossyConversionError, match="compiled normalization rules"):
        tok.save(tmp_path / "hf")


@pytest.mark.parametrize(
    ("variant", "options", "message"),
    [
        ("default", {"model_type": "unigram"}, "a SentencePiece Unigram model, which is not BPE"),
        ("default", {"model_type": "word"}, "word model"),
        ("default", {"model_type": "char"}, "character model"),
        ("default", {"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix"),
        ("default", {"user_defined_symbols": ("[A]",)}, "pieces that the user defined"),
    ],
)
def test_what_is_refused_by_name(variant: str, options: Any, message: str) -> None:
    sizes = {"unigram": 60, "word": 40, "char": 55}
    if (kind := options.get("model_type")) in sizes:
        options = options | {"vocab_size": sizes[kind]}
    with pytest.raises(UnsupportedError, match=message):
        ours(model(variant, **options))


def vocabulary(*entries: tuple[str, float, int]) -> pieces.Pieces:
    strings, numbers, types = zip(("<unk>", 0.0, pieces.UNKNOWN), *entries, strict=True)
    return pieces.Pieces(strings, numbers, types)


def spec_of(vocab: pieces.Pieces, *, byte_fallback: bool = False) -> Any:
    steps = pieces.normalizers_of(prefix=False, tidy=False)
    return pieces.spec_of(vocab, "x", byte_fallback=byte_fallback, normalizers=steps)


def test_bad_pieces() -> None:
    for vocab, error, message in [
        (vocabulary(("a", 0, 1), ("a", 0, 1)), FormatError, "piece 2 is 'a', as piece 1 is"),
        (vocabulary(("", 0, 1)), FormatError, "piece 1 is empty"),
        (vocabulary(("a", 0, 9)), FormatError, "piece 1 has the type 9"),
        (vocabulary(("a", 0, 2)), FormatError, "2 pieces have the type UNKNOWN"),
        (vocabulary(("a", float("nan"), 1)), FormatError, "the score of piece 1 is no number"),
        (vocabulary(("<0x41>", 0, 6)), FormatError, "stands for no byte"),
        (vocabulary(("a", 0, 5)), UnsupportedError, "piece 1 has the type UNUSED"),
        (vocabulary(("a" * 2000, 0, 1)), UnsupportedError, "a piece of 2000 characters"),
        (
            vocabulary(("a", 0, 1), ("b", 0, 1), ("ab", -1, 1), ("ba", -1, 1)),
            UnsupportedError,
            "the pieces 'ab' and 'ba' have one score",
        ),
    ]:
        with pytest.raises(error, match=message):
            spec_of(vocab)
    with pytest.raises(FormatError, match="255 bytes have no piece"):
        spec_of(vocabulary(("<0x41>", 0, 6)), byte_fallback=True)


@given(st.lists(st.integers(2, 12), unique=True, max_size=8), st.integers(1, 60))
def test_runs_with_one_score_are_merged_as_sentencepiece_does_or_refused(
    lengths: list[int], count: int
) -> None:
    vocab = vocabulary(("▁", -9, 1), ("a", -9, 1), *[("▁" * n, -9.0, 1) for n in lengths])
    try:
        spec = spec_of(vocab)
    except UnsupportedError:
        return
    reference = theirs(written(spec))
    for text in (" " * count, "a" + " " * count + "a"):
        assert bc.Tokenizer(spec).encode(text) == reference.encode(text)


@given(
    st.lists(st.text("ab", min_size=2, max_size=7), unique=True, max_size=12),
    st.randoms(use_true_random=False),
    st.text("abc", max_size=40),
)
def test_scores_and_all_pairs_are_one_order(made: list[str], random: Any, text: str) -> None:
    """Pieces in any order: longer ones may have better scores than what they are made of."""
    random.shuffle(made)
    vocab = vocabulary(
        ("a", -50, 1), ("b", -51, 1), *[(s, -float(i), 1) for i, s in enumerate(made)]
    )
    spec = spec_of(vocab)
    reference = theirs(written(spec))
    assert bc.Tokenizer(spec).encode(text) == reference.encode(text)


def written(spec: Any) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        bc.converters.write(spec, Path(folder) / "m", format="sentencepiece")
        return (Path(folder) / "m").read_bytes()


def test_merges_of_one_pair_each_become_scores() -> None:
    """As trainers list them: SentencePiece allows every pair, but no other ever comes about."""
    spec = spec_of(vocabulary(*[(c, 0, 1) for c in "abc"], ("ab", -1, 1), ("abc", -2, 1)))
    listed = replace(spec, metadata={}, merges=((1, 2), (4, 3)))
    assert bc.converters.FORMATS["sentencepiece"].losses(listed) == []
    assert theirs(written(listed)).encode("abcab") == bc.Tokenizer(listed).encode("abcab")
    other = replace(spec, metadata={}, merges=((4, 3),))
    with pytest.raises(LossyConversionError, match="the merges of 'ab'"):
        written(other)


def test_losses() -> None:
    spec, _ = pair("llama")[0].spec, None
    for change, message in [
        ({"normalizers": ()}, "normalizers other than"),
        ({"decoder": ()}, "a decoder other than"),
        ({"splits": (Split("a"),)}, "this split"),
        ({"ignore_merges": True}, "this split together with"),
        ({"byte_fallback": False}, "256 tokens for bytes"),
        ({"added_tokens": ()}, "that the token 0 is not cut out"),
    ]:
        with pytest.raises(LossyConversionError, match=message):
            written(replace(spec, **change))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="without an unknown token"):
        written(replace(spec, unknown=None))
    with pytest.raises(UnsupportedError, match="these tokens are bytes"):
        written(bc.train(["ab"], 257).spec)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0a\x05\x0a\x01a", "field 1 has 5 bytes, but 3 are left"),
        (b"\x0a\x03\x0a\x01\xff", "piece 0: field 1: .* can't decode"),
        (b"\x0a\x03\x0a\x01a\x03", "field 0 has the wire type 3|number 0"),
        (b"\x0a\x03\x0a\x01a\x0f", "field 1 has the wire type 7"),
        (b"\x0a\x03\x0a\x01a\x80", "a number that does not end"),
        (b"\x0a\x05\x0a\x01a\x18" + b"\x80", "a number that does not end"),
        (b"\x0a\x04\x0a\x00\x10\x01", "field 2 must be bytes, not 1"),
        (b"\x0a\x03\x0a\x01a\x12\x02\x18\x02\x08\x01", "field 1 must be a message"),
    ],
)
def test_broken_files(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(FormatError, match=message):
        bc.converters.read(tmp_path / "m", format="sentencepiece")


MODELS = [
    "llama2_spm/tokenizer.model",
    "mistral/tokenizer.model.v1",
    "mistral/mistral_instruct_tokenizer_240216.model.v2",
    "mistral/mistral_instruct_tokenizer_240323.model.v3",
    "mistral/mistral_instruct_tokenizer_241114.model.v7",
    "bpemb_en/en.wiki.bpe.vs100000.model",
    "tinystories_spm/tinystories_tokenizer.model",
]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", MODELS)
def test_published_models(name: str) -> None:
    path = shared_data.unpacked(f"tokenizers/{name}")
    tok, reference = bc.load(path), theirs(path.read_bytes())
    for documents in shared_data.corpora():
        for text in documents:
            assert tok.encode_ordinary(text) == reference.encode(text)
    runs = "".join("\n" + " " * n + "x" for n in range(80)) + "[REF][REFERENCE_DOC_3] x"
    assert tok.encode_ordinary(runs) == reference.encode(runs)


def test_no_published_model_is_left_out(shared: Path) -> None:
    """All that SentencePiece reads and that are BPE; the other one-model files hold ranks."""
    folder = shared / "data" / "tokenizers"
    found = set()
    for path in folder.glob("*/*.model*"):
        name = str(path.relative_to(folder)).removesuffix(".gz")
        try:
            bc.load(shared_data.unpacked(f"tokenizers/{name}"), format="sentencepiece")
        except (FormatError, UnsupportedError):
            continue
        found.add(name)
    assert found == set(MODELS)


@pytest.mark.usefixtures("shared")
def test_mistrals_model_is_its_tokenizer_json() -> None:
    model = bc.load(shared_data.unpacked("tokenizers/mistral/tokenizer.model.v1")).spec
    json = bc.load(shared_data.unpacked("tokenizers/mistral_7b_hf/tokenizer.json")).spec
    assert replace(json, template=None) == model
    assert len(model.merges) == 58980


def test_protobuf_numbers_come_back() -> None:
    for value in (0, 1, 127, 128, 300, -1, 1 << 62):
        fields = protobuf.Fields(protobuf.varint(7, value), "x")
        assert fields.number(7, 5) == value
    assert protobuf.Fields(protobuf.floats(2, -1.5), "x").float(2) == -1.5
    assert scores.unmade({"a": 0, "aa": 1}, []) == ["aa"]


def test_a_special_token_that_cannot_be_kept_from_being_a_piece(tmp_path: Path) -> None:
    """Wherever "<a>" is cut, a piece goes across; tokenizer.json would make it of text."""
    listed = [
        ("<unk>", 2),
        ("<a>", 3),
        ("<a", 1),
        ("a>", 1),
        ("▁", 1),
        ("<", 1),
        ("a", 1),
        (">", 1),
    ]
    vocab = [*listed, ("[x]", 4)]
    model_ = pieces.Pieces(
        [string for string, _ in vocab],
        [-float(id) for id in range(len(vocab))],
        [type for _, type in vocab],
    )
    normalizers = pieces.normalizers_of(prefix=False, tidy=False)
    spec = pieces.spec_of(model_, "x", byte_fallback=False, normalizers=normalizers)
    with pytest.raises(LossyConversionError, match=r"'<a>' .* lets ordinary text become it"):
        bc.converters.write(spec, tmp_path / "hf", format="huggingface")
    bc.converters.write(spec, tmp_path / "m", format="sentencepiece")
    assert bc.load(tmp_path / "m").spec == spec
    reference = theirs((tmp_path / "m").read_bytes())
    for text in ("[x]<a>[x]", "<unk>", "a<a>"):
        assert bc.Tokenizer(spec).encode_ordinary(text) == reference.encode(text)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("version", ["240323.model.v3", "241114.model.v7"])
def test_pieces_of_users_in_a_tokenizer_json(version: str, tmp_path: Path) -> None:
    """Control tokens and names of bytes stay text, also where they are all that is left of it."""
    tokenizers = pytest.importorskip("tokenizers")
    path = shared_data.unpacked(f"tokenizers/mistral/mistral_instruct_tokenizer_{version}")
    tok, reference = bc.load(path), theirs(path.read_bytes())
    assert bc.convert(path, tmp_path / "hf", to="huggingface") == []
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    live.encode_special_tokens = True
    names = [token.content for token in tok.spec.added_tokens]
    texts = [f"[REFERENCE_DOC_1]{n}[REFERENCE_DOC_2] {n}[REFERENCE_DOC_2]<0x41>" for n in names]
    texts += ["[REFERENCE_DOC_1]".join(names), *shared_data.documents("code", 20_000)]
    expected = reference.encode(texts)
    assert [tok.encode_ordinary(text) for text in texts] == expected
    assert [e.ids for e in live.encode_batch(texts, add_special_tokens=False)] == expected
    assert [bc.load(tmp_path / "hf").encode_ordinary(text) for text in texts[:9]] == expected[:9]
