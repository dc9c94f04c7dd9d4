"""What llama.cpp calls the splits of the field: `tokenizer.ggml.pre`.

A name stands for the split of the tokenizer that it is called after; llama.cpp runs some of them
by regexes that are simpler than the original. Several names may stand for one split; the first is
written. Source: `llm_tokenizer_bpe` and `llama_vocab::impl::load` in `llama-vocab.cpp`.
"""

from ...patterns import PATTERNS
from ...spec import Split

__all__ = ["IGNORES_MERGES", "name_of", "splits_of"]

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LETTERS_BY_CASE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
)
_TEKKEN = _LETTERS_BY_CASE + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = PATTERNS["gpt2"].text


def _characters(ranges: str) -> str:
    """A class of the characters in some ranges of code points."""
    bounds = [part.split("-") for part in ranges.split()]
    return "[" + "".join("-".join(rf"\x{{{b}}}" for b in part) for part in bounds) + "]"


_CASED = _characters("""
    41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376-377 37B-37D 37F 386
    388-38A 38C 38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA
    1CBD-1CBF 1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57
    1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB
    1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D
    212F-2134 2139 213C-213F 2145-2149 214E 2183-2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2-2CF3
    A640-A66D A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A
    FF41-FF5A 10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF
    1E900-1E943
""")
_PUNCTUATION = _characters("21-2F 3A-7E FF01-FF0F FF1A-FF5E 2018-201F 3000-3002")
_CHINESE = _characters("4E00-9FA5 800-4E00 AC00-D7FF")
_DEEPSEEK3 = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
_QWEN35 = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_WORDS = " ?[^(\\s|.,!?…。，、।۔،)]+"
IGNORES_MERGES = {
    "llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
    "tekken",
}  # fmt: skip
"""The names under which a piece that is a token is that token."""

# Regexes that cut one after the other, and the names for them.
_TABLE: tuple[tuple[tuple[str, ...], str], ...] = (
    ((_GPT2,), "gpt-2 mpt olmo jais trillion granite-docling phi-2 jina-es jina-de jina-v2-es"
               " jina-v2-de gigachat mellum modern-bert a.x-4.0 exaone4"),
    ((PATTERNS["llama3"].text,), "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0"
                                 " lfm2"),
    ((PATTERNS["llama3"].text,), "dbrx smaug-bpe glm4 chatglm-bpe"),
    ((PATTERNS["qwen2"].text,), "qwen2 stablelm2 deepseek-r1-qwen megrez hunyuan solar-open"
                                " grok-2 kormo f2llmv2"),
    ((PATTERNS["o200k"].text,), "gpt-4o llama4 kanana2 talkie minimax-m2"),
    ((_TEKKEN,), "tekken"),
    ((_QWEN35,), "qwen35"),
    ((r"\p{N}", _GPT2), "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"),
    ((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"), "falcon"),
    ((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"), "default"),
    (("[\r\n]", rf"\s?{_CASED}+", rf"\s?{_PUNCTUATION}+", r"\s+\z",
      f"{_CHINESE}+", r"\p{N}+"), "deepseek-llm"),
    (("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", f"{_CHINESE}+", r"\p{N}"), "deepseek-coder"),
    ((r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", _DEEPSEEK3),
     "deepseek-v3 hunyuan-dense joyai-llm hy_v4"),
    ((_WORDS,), "poro-chat bloom gpt3-finnish"),
    ((_WORDS, r"\p{N}"), "viking"),
)  # fmt: skip
_SPLITS = {name: tuple(map(Split, regexes)) for regexes, names in _TABLE for name in names.split()}


def splits_of(name: str) -> tuple[Split, ...] | None:
    """The split steps that a name stands for; None if it is not known.

    >>> splits_of("qwen2") == PATTERNS["qwen2"].splits
    True
    """
    return _SPLITS.get(name)


def name_of(splits: tuple[Split, ...], *, ignore_merges: bool) -> str | None:
    """A name for some split steps; None if llama.cpp has none.

    >>> name_of(PATTERNS["llama3"].splits, ignore_merges=False)
    'dbrx'
    """
    for name, steps in _SPLITS.items():
        if steps == splits and (name in IGNORES_MERGES) == ignore_merges:
            return name
    return None
