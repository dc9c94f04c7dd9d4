"""Write tests/golden: a small tokenizer in every format, and ids that it must give forever.

Run once for a new format; files that are there already are left alone, since old files must stay
readable.
"""

import json
from pathlib import Path

from stories import stories

import bpe_compat as bc

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
TEXTS = [
    "Once upon a time, there was a fox.",
    "  It's 2026;\n\n\tI'll've NAÏVE café 中文 😀<|endoftext|>",
    "<a>x<b> <a><b>",
    "",
]


def main() -> None:
    tok = bc.train(
        stories(300), 400, pattern="gpt2", special_tokens=["<|endoftext|>", "<a>", "<b>"]
    )
    GOLDEN.mkdir(exist_ok=True)
    for format in bc.converters.FORMATS.values():
        path = GOLDEN / (format.name if format.folder else f"golden.{format.name}")
        if not path.exists():
            tok.save(path, format=format.name)
    ids = [tok.encode(text, allowed_special="all") for text in TEXTS]
    expected = GOLDEN / "expected.json"
    if not expected.exists():
        expected.write_text(json.dumps({"texts": TEXTS, "ids": ids}, indent=1) + "\n")


if __name__ == "__main__":
    main()
