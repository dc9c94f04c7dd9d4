"""Every field case of ../shared/cases that this package claims to get right.

The cases come with inputs and right answers; each check's `op` has a function here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from case_operations import OPS
from case_tokenizers import Check


def load_cases() -> list[dict[str, Any]]:
    path = Path(__file__).resolve().parent.parent.parent / "shared" / "cases" / "cases.jsonl"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as lines:  # str.splitlines would cut at U+2028, too
        return [json.loads(line) for line in lines]


def all_checks() -> Iterator[Any]:
    for case in load_cases():
        for number, check in enumerate(case.get("checks", ())):
            name = f"{case['id']}-{number}-{check['op']}"
            yield pytest.param(check, id=name)


@pytest.mark.filterwarnings("ignore:the text has only", "ignore:.* has no rank")
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("check", list(all_checks()))
def test_case(check: Check) -> None:
    OPS[check["op"]](check)


@pytest.mark.usefixtures("shared")
def test_no_case_is_missing() -> None:
    ids = {case["id"] for case in load_cases()}
    assert len(ids) == 102
