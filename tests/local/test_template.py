"""Our chat template, rendered as the server renders it."""

from __future__ import annotations

import json
from typing import Any

import jinja2
import pytest

from callscope.errors import InputError
from callscope.local import chat_template

TOOL = {"type": "function", "function": {"name": "find", "description": "Find.", "parameters": {"type": "object"}}}
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello"}


def render(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None, prompt: bool = True) -> str:
    text = chat_template("tools-json").text
    assert text is not None
    environment = jinja2.Environment(autoescape=False, undefined=jinja2.StrictUndefined)
    environment.filters["tojson"] = json.dumps
    filled = [{"tool_calls": None, **message} for message in messages]
    return environment.from_string(text).render(messages=filled, tools=tools, add_generation_prompt=prompt)


def made(name: str, arguments: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_without_tools_it_is_plain_chat() -> None:
    assert render([SYSTEM, USER]) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    )
    assert render([USER], prompt=False) == "<|im_start|>user\nHello<|im_end|>\n"


def test_tools_follow_the_system_text_and_are_shown_whole() -> None:
    text = render([SYSTEM, USER], [TOOL])
    assert text.startswith("<|im_start|>system\nBe brief.\n\n# Tools\n")
    assert json.dumps(TOOL) in text
    assert text.count("<|im_start|>system") == 1
    assert text.endswith("in words.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")


def test_tools_without_a_system_text_still_have_their_turn() -> None:
    assert render([USER], [TOOL]).startswith("<|im_start|>system\n\n\n# Tools\n")


def test_the_text_ahead_of_the_user_is_the_same_for_every_request_of_a_suite() -> None:
    one, two = (render([SYSTEM, {"role": "user", "content": said}], [TOOL]) for said in ("ONE", "TWO"))
    assert one.split("ONE")[0] == two.split("TWO")[0]


@pytest.mark.parametrize("arguments", [{"id": "A-1"}, '{"id": "A-1"}'])
def test_calls_in_the_history_look_as_they_are_asked_for(arguments: Any) -> None:
    calls = [made("find", arguments), made("find", {})]
    text = render([USER, {"role": "assistant", "content": None, "tool_calls": calls}], [TOOL])
    first, second = '{"name": "find", "arguments": {"id": "A-1"}}', '{"name": "find", "arguments": {}}'
    assert f"<|im_start|>assistant\n{first}, {second}<|im_end|>\n" in text


def test_words_before_a_call_and_results_after_it_are_kept() -> None:
    calls = [made("find", {})]
    text = render(
        [USER, {"role": "assistant", "content": "One moment.", "tool_calls": calls}, {"role": "tool", "content": "{}"}],
        [TOOL],
    )
    assert "<|im_start|>assistant\nOne moment.\n{" in text
    assert "<|im_start|>user\n<tool_response>\n{}\n</tool_response><|im_end|>\n<|im_start|>assistant\n" in text


def test_template_hashes_are_of_the_shipped_bytes() -> None:
    template = chat_template("tools-json")
    assert template.sha256 is not None
    assert len(template.sha256) == 64
    assert chat_template("own").text is None
    with pytest.raises(InputError, match="own or tools-json"):
        chat_template("mine")
