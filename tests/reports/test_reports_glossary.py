"""The glossary names everything that a verdict, an outcome or lint may say, and the page is what the code writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import callscope
from callscope.contract import Acceptance, Attribution, Selection, Semantics, Structure, Violation
from callscope.providers.flags import FLAGS
from callscope.reports.glossary import NAMES, SCORING_FLAGS, glossary_markdown, write_glossary
from callscope.suites.lint import RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"
SCORING = Path(callscope.__file__).parent / "scoring"
KINDS = {
    "acceptance": Acceptance,
    "selection": Selection,
    "structure": Structure,
    "semantics": Semantics,
    "attribution": Attribution,
    "violations": Violation,
}


def test_the_page_is_what_the_code_writes(tmp_path: Path) -> None:
    write_glossary(tmp_path / "glossary.md")
    again = 'callscope.reports.glossary.write_glossary("docs/glossary.md")'
    assert PAGE.read_text("utf-8") == (tmp_path / "glossary.md").read_text("utf-8"), f"write it again: {again}"


@pytest.mark.parametrize("stage", KINDS)
def test_every_value_of_a_stage_is_explained_in_the_order_of_the_contract(stage: str) -> None:
    assert tuple(NAMES[stage]) == get_args(KINDS[stage])


@pytest.mark.parametrize("name", [*FLAGS, *SCORING_FLAGS, *(rule.name for rule in RULES)])
def test_every_flag_and_lint_rule_is_listed(name: str) -> None:
    assert f"\n| `{name}` | " in glossary_markdown()


def test_no_flag_of_scoring_is_left_out() -> None:
    source = "\n".join(path.read_text("utf-8") for path in SCORING.glob("*.py"))
    added = re.findall(r'flags\.append\("(\w+)"\)|flags = \("(\w+)",\)', source)
    assert {one or other for one, other in added} <= {*FLAGS, *SCORING_FLAGS}
