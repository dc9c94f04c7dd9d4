"""Write tests/golden: a small tokenizer in every format, and ids that it must give forever.

Run once for a new format; files that are there already are left alone, since old files must stay
readable.
"""

import json
from pathlib import Path

from stories import stories

import bpe_compat as bc
from bpe_compat.converters import pieces

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
TEXTS = [
    "Once upon a time, there was a fox.",
    "  It's 2026;\n\n\tI'll've NAÏVE café 中文 😀<|endoftext|>",
    "<a>x<b> <a><b>",
    "",
]


SPECIAL_TOKENS = ["<|endoftext|>", "<a>", "<b>"]


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    text = list(stories(300))
    of_bytes = bc.train(text, 400, pattern="gpt2", special_tokens=SPECIAL_TOKENS)
    of_characters = bc.train(
        text,
        400,
        pattern=bc.converters.subword_nmt.SPLITS[0],
        special_tokens=SPECIAL_TOKENS,
        alphabet="characters",
        end_of_word_suffix=bc.converters.subword_nmt.SUFFIX,
    )
    specials_first = bc.train(
        text, 400, special_tokens=SPECIAL_TOKENS, special_ids="first", tie_break="ids"
    ).spec
    of_ranks = bc.Tokenizer.from_ranks(
        specials_first.normal_ids(), pattern="cl100k", special_tokens=specials_first.special_tokens
    )
    _write("bytes", of_bytes, ["gguf", "gpt2", "huggingface", "js_tiktoken", "minbpe", "tiktoken"])
    _write("characters", of_characters, ["subword_nmt"])
    _write("pieces", _of_pieces(text), ["sentencepiece"])
    _write("ranks", of_ranks, ["tekken"])


def _of_pieces(text: list[str]) -> bc.Tokenizer:
    """A tokenizer as SentencePiece has them: spaces are `▁`, and one is in front of the text."""
    normalizers = pieces.normalizers_of(prefix=True, tidy=False)
    spelled = ["▁" + story.replace(" ", "▁") for story in text]
    spec = bc.train(
        spelled, 400, pattern=r"▁?[^▁]+|▁", special_tokens=["<unk>", *SPECIAL_TOKENS],
        alphabet="characters", unknown_token="<unk>", special_ids="first",
    ).spec  # fmt: skip
    kept = pieces.Pieces(
        [token.decode() for token in spec.tokens],
        [-float(id) for id in range(len(spec.tokens))],
        [pieces.UNKNOWN, *[pieces.CONTROL] * len(SPECIAL_TOKENS)]
        + [pieces.NORMAL] * (len(spec.tokens) - len(SPECIAL_TOKENS) - 1),
    )
    return bc.Tokenizer(
        pieces.spec_of(kept, "golden", byte_fallback=False, normalizers=normalizers)
    )


def _write(kind: str, tok: bc.Tokenizer, formats: list[str]) -> None:
    for name in formats:
        folder = bc.converters.FORMATS[name].folder
        path = GOLDEN / (name if folder else f"golden.{name}")
        if not path.exists():
            tok.save(path, format=name)
    expected = GOLDEN / f"expected-{kind}.json"
    if not expected.exists():
        ids = [tok.encode(text, allowed_special="all") for text in TEXTS]
        lists = {"texts": TEXTS, "ids": ids, "decoded": list(map(tok.decode, ids))}
        expected.write_text(json.dumps(lists, indent=1) + "\n")


if __name__ == "__main__":
    main()
