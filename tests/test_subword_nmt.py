"""subword-nmt's codes, against subword-nmt."""

import io
from pathlib import Path
from typing import Any

import pytest
import shared_data
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat.converters import subword_nmt
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore:the text has only")

TEXT = "low lower lowest newer newest wider widest the the théâtre 中文 low low newest\n" * 2


def trained(end_of_word: Any = "attached", text: str = TEXT, size: int = 90) -> bc.Tokenizer:
    return bc.train(
        [text], size, pattern=subword_nmt.SPLITS[0], special_tokens=(), alphabet="characters",
        end_of_word_suffix="</w>", end_of_word=end_of_word,
    )  # fmt: skip


def theirs(codes: str) -> Any:
    return pytest.importorskip("subword_nmt.apply_bpe").BPE(io.StringIO(codes))


def words_of(tok: bc.Tokenizer, text: str) -> list[str]:
    """Tokens as subword-nmt prints them."""
    words: list[str] = []
    for id in tok.encode(text):
        token = tok.spec.tokens[id].decode()
        if token == "</w>":
            words[-1] = words[-1].removesuffix("@@")
        else:
            bare = token.removesuffix("</w>")
            words.append(bare if bare != token else token + "@@")
    return words


@pytest.mark.parametrize("end_of_word", ["attached", "separate"])
def test_trained_tokenizers_encode_as_subword_nmt(end_of_word: str, tmp_path: Path) -> None:
    tok, path = trained(end_of_word), tmp_path / "codes"
    tok.save(path, format="subword_nmt")
    assert bc.converters.detect(path) == "subword_nmt"
    again = bc.load(path)
    assert again.spec == tok.spec
    bpe = theirs(path.read_text())
    for text in (TEXT, "slowest  wt \n\ndetest", "", " ", "low  \r\n wider", "文中文 théâtre"):
        expected = " ".join(bpe.process_line(line) for line in text.splitlines())
        assert words_of(again, text) == expected.split()


@given(st.text(st.sampled_from("abc </w>\né"), max_size=30), st.sampled_from(["0.1", "0.2"]))
def test_random_text_without_a_file_beside_the_codes(text: str, version: str) -> None:
    codes = "a b\nb </w>\na b</w>\nab ab\nc a\n< /\n</ w\nab c</w>\nb c\nca b</w>\n"
    codes = f"#version: {version}\n{codes}"
    pairs, apart = subword_nmt.parse(codes, "codes")
    assert apart == (version == "0.1")
    tok = bc.Tokenizer(read_text(codes))
    known = "".join(c for c in text if c in "abc</w \n")
    expected = " ".join(map(theirs(codes).process_line, known.split("\n"))).split()
    assert [w.removesuffix("@@") for w in words_of(tok, known)] == [
        w.removesuffix("@@") for w in expected
    ]
    assert len(tok.spec.merges) == len(pairs)


def read_text(codes: str, beside: str | None = None) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes"
        path.write_text(codes)
        if beside is not None:
            subword_nmt.sidecar_of(path).write_text(beside)
        return bc.converters.read(path, format="subword_nmt")


def test_what_has_no_token_is_unknown_and_characters_have_both_forms() -> None:
    tok = bc.Tokenizer(read_text("#version: 0.2\na b</w>\n"))
    assert [tok.spec.tokens[i] for i in tok.encode("ab b xa")] == [
        b"ab</w>", b"b</w>", b"<unk>", b"a</w>",
    ]  # fmt: skip
    assert tok.decode(tok.encode("ab b a")) == "ab b a"


def test_the_first_of_equal_lines_counts() -> None:
    tok = bc.Tokenizer(read_text("a b\nb c\na b\nx </w>\n"))
    assert tok.decode(tok.encode("abc")[:1]) == "ab"


@pytest.mark.parametrize(
    ("codes", "beside", "error", "message"),
    [
        ("#version: 0.3\na b\n", None, UnsupportedError, "version '0.3'"),
        ("#version:\na b\n", None, UnsupportedError, "version '#version:'"),
        ("a b\na  c\n", None, FormatError, "line 2: 'a  c' is not two tokens"),
        ("a b\n\nab c\n", None, FormatError, "line 2: ''"),
        ("#version: 0.2\na b c\n", None, FormatError, "line 2"),
        ("a b\n", '{"vocab": {"a": 0}}', FormatError, "'b', which has no id"),
        ("a b\n", '{"vocab": {"a": 0, "b": 1, "ab": 2}}', FormatError, "'</w>', which has no id"),
        ("a b\n", '{"vocab": {"a": 0, "b": 0}}', FormatError, "id 0 is used twice"),
        ("a b\n", '{"vocab": [], "more": 1}', UnsupportedError, "'more' is not known"),
        (
            "#version: 0.2\na b\n", '{"vocab": {"a": 0, "b": 1, "ab": 2}, "unknown": "u"}',
            FormatError, "unknown token 'u' has no id",
        ),
    ],
)  # fmt: skip
def test_bad_codes(codes: str, beside: str | None, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        read_text(codes, beside)


def test_losses(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="these tokens are bytes"):
        bc.train([TEXT], 260).save(tmp_path / "x", format="subword_nmt")
    other = bc.train([TEXT], 60, alphabet="characters", end_of_word_suffix="</e>")
    with pytest.raises(LossyConversionError) as caught:
        other.save(tmp_path / "x", format="subword_nmt")
    assert [loss.split(" ")[-1] for loss in caught.value.losses][:2] == ["'</w>'", "ends"]
    assert "which has white space" in " ".join(caught.value.losses)
    assert not list(tmp_path.iterdir())


def test_tokenizer_json_refuses_a_suffix_apart(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="a symbol of its own"):
        trained("separate").save(tmp_path / "x")
    trained("attached").save(tmp_path / "x")
    text = "lowest of the newest"
    assert bc.load(tmp_path / "x").encode(text) == trained("attached").encode(text)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name", ["subword_nmt/bpe.ref", "opennmt_bpe/bpe_code.v0.2", "opennmt_bpe/testcode.v0.1"]
)
def test_published_codes(name: str) -> None:
    path = shared_data.unpacked(f"tokenizers/{name}")
    tok, bpe = bc.load(path), theirs(path.read_text(encoding="utf-8"))
    text = shared_data.unpacked("tokenizers/subword_nmt/corpus.en").read_text(encoding="utf-8")
    alphabet = {chr(c) for c in b" \n"} | {
        token.removesuffix(b"</w>").decode() for token in tok.spec.normal_ids()
    }
    known = "".join(c for c in text if c in alphabet)
    assert len(known) > 50_000
    assert words_of(tok, known) == bpe.segment(known.replace("\n", " ")).split()
