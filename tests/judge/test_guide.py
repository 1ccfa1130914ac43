"""What docs/guides/calibrate-a-judge.md states holds: its configurations, its numbers, the form of an answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from callscope import judging
from callscope.capture.config import check_config, load_config
from callscope.capture.plan import resolve_models
from callscope.contract import Text
from callscope.judge.answers import Said, read_answer
from callscope.judge.planned import ANSWER_TOKENS, tokens_about
from callscope.judge.questions import first_orders, make_question, question_id
from callscope.judge.sentinels import known_questions
from callscope.judge.suite import judge_suite

GUIDE = (Path(__file__).resolve().parents[2] / "docs/guides/calibrate-a-judge.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("provider", ["my-server", "local"])
def test_a_whole_configuration_of_the_guide_is_one(tmp_path: Path, provider: str) -> None:
    (block,) = [block for block in BLOCKS if f'"provider": "{provider}"' in block]
    path = tmp_path / "judge.config.json"
    path.write_text(block)
    config = judging.judge_config(load_config(path), stated=True)
    check_config(config)
    (entry,) = resolve_models(config.models)
    assert (entry.embedded is not None) == (provider == "local")


def test_an_answer_as_the_guide_shows_it_is_read() -> None:
    (block,) = [block for block in BLOCKS if '"verdicts"' in block]
    question = make_question(
        query="Send a warm welcome.", tool="send_card", description="", argument="text", schema={"type": "string"},
        values=("a warm welcome", "a friendly greeting"),
    )  # fmt: skip
    assert read_answer(Text(block.strip()), question).verdict == "equivalent"
    assert read_answer(Text(f"```json\n{block}```"), question).verdict == "equivalent"
    assert read_answer(Text(f"Sure: {block}"), question) == Said("unreadable", "no_verdicts")
    other = {**json.loads(block)["verdicts"][0], "quote": '"a warm welcome"'}
    assert read_answer(Text(json.dumps({"verdicts": [other]})), question) == Said("unreadable", "quote_not_found")


def test_the_numbers_of_the_guide_are_those_of_the_sentinels() -> None:
    known = {question_id(question): (sentinel, question) for sentinel, question in known_questions()}
    orders = {name: first_orders(question) for name, (_, question) in known.items()}
    calls = sum(len(each) for each in orders.values())
    alike = sum(len(each) == 1 for each in orders.values())
    text = " ".join(GUIDE.split())
    assert f"There are {len(known)} sentinels." in text
    assert f"but for the {alike} with two identical values" in text
    assert f"request: {calls} calls" in text
    assert f"A run with 100 questions thus makes {calls + 200} calls" in text
    suite = judge_suite(
        {name: question for name, (_, question) in known.items()}, {name: s for name, (s, _) in known.items()}, orders
    )
    tokens = tokens_about(suite)
    each = re.search(r"some (\d+) tokens in and (\d+) out a call", text)
    assert each is not None
    assert tokens.input / calls == pytest.approx(int(each[1]), rel=0.05)
    assert tokens.output / calls == ANSWER_TOKENS == int(each[2])
