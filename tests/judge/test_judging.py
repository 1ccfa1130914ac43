"""How a judge is asked: once a question, without weakened tools, with a forced call where the provider knows one."""

from __future__ import annotations

import pytest

from callscope import api, judging
from callscope.capture.config import RunConfig
from callscope.errors import InputError


def config(*models: object, **more: object) -> RunConfig:
    return RunConfig(models=api.model_configs(list(models)), **more)  # type: ignore[arg-type]


HOUSE = {"provider": "in-house", "model": "m", "base_url": "http://127.0.0.1:1/v1", "schema_fallback": ["pattern"]}


@pytest.mark.parametrize(
    ("model", "choice"), [("openai/gpt-5-mini", "required"), ("deepseek/deepseek-chat", "auto"), (HOUSE, "auto")]
)
def test_a_call_is_forced_where_the_catalogue_says_that_it_can_be(model: object, choice: str) -> None:
    assert judging.judge_config(config(model), stated=False).tool_choice == choice


def test_a_stated_choice_and_stated_bounds_are_kept() -> None:
    stated = config("openai/gpt-5-mini", tool_choice="named", max_tokens=77, timeout_ms=5000, temperature=None)
    asked = judging.judge_config(stated, stated=True)
    assert (asked.tool_choice, asked.max_tokens, asked.timeout_ms, asked.temperature) == ("named", 77, 5000, None)


def test_each_case_is_asked_once_with_the_tools_as_they_are() -> None:
    asked = judging.judge_config(config(HOUSE, repeats=7, experiments=("strict",), suites=("support",)), stated=True)
    assert (asked.repeats, asked.experiments, asked.suites) == (1, (), ())
    assert asked.models[0].schema_fallback == ()


def test_one_judge_is_asked_at_a_time() -> None:
    with pytest.raises(InputError, match="one judge is asked at a time"):
        judging.judge_config(config("openai/a", "openai/b"), stated=True)


def test_a_judges_folder_is_named_after_its_model() -> None:
    assert judging.default_name("openai/gpt-5-mini") == "openai-gpt-5-mini"
    assert judging.default_name("../../etc [x]") == "etc-x"
    assert judging.default_name("日本") == "judge"
