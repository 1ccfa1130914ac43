"""Very many pieces cost about as much as their length: joined once, looked at once, found without searching."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Text, ToolCalls
from callscope.providers import get_adapter
from callscope.providers.calls import Call
from callscope.providers.pieces import TextInPieces, whole_objects


def steps(run: Callable[[], object]) -> int:
    """Lines of callscope that `run` executes: a count of operations, not a time."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        if "callscope" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


def events(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def chat(times: int, piece: dict[str, Any]) -> bytes:
    first = {"index": 0, "id": "x", "function": {"name": "f", "arguments": '{"a":['}}
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]} for each in (first, *[piece] * times)]
    return events(*deltas) + b"data: [DONE]\n\n"


def items(times: int) -> bytes:
    made = [{"type": "message", "id": f"m{i}", "content": [{"type": "output_text", "text": "x"}]} for i in range(times)]
    streamed = [
        {"type": f"response.output_item.{step}", "output_index": i, "item": item}
        for i, item in enumerate(made)
        for step in ("added", "done")
    ]
    loose = [{"type": "response.output_text.delta", "delta": "y"}] * times
    return events(
        *streamed, *loose, {"type": "response.completed", "response": {"status": "completed", "output": made}}
    )


STREAMS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "arguments": ("openai-chat", lambda times: chat(times, {"index": 0, "function": {"arguments": "1,"}})),
    "names": ("openai-chat", lambda times: chat(times, {"index": 0, "function": {"name": "f", "arguments": "{},"}})),
    "ends": ("openai-chat", lambda times: chat(times, {"index": 0, "function": {"name": "f", "arguments": ",{}"}})),
    "loose": ("openai-chat", lambda times: chat(times, {"function": {"name": "f", "arguments": ",{}"}})),
    "items": ("openai-responses", items),
}


@pytest.mark.parametrize(("api", "stream"), STREAMS.values(), ids=STREAMS)
def test_four_times_the_stream_takes_about_four_times_the_steps(api: str, stream: Callable[[int], bytes]) -> None:
    parse = get_adapter(api).parse
    small, large = (steps(lambda n=n: parse(200, (), stream(n), stream=True)) for n in (150, 600))  # type: ignore[misc]
    assert large < 4.5 * small


def test_each_final_item_takes_one_streamed_item_and_loose_text_goes_to_the_last_open_one() -> None:
    made = [{"type": "message", "content": [{"type": "output_text", "text": text}]} for text in "abc"]
    streamed = [{"type": "response.output_item.done", "item": item} for item in made]
    loose = [{"type": "response.output_text.delta", "delta": text} for text in ("", "d", "")]
    final = {"type": "response.completed", "response": {"status": "completed", "output": made}}
    for values, text in (((*streamed, final), "abc"), ((*streamed, *loose, final), "abcd")):
        outcome = get_adapter("openai-responses").parse(200, (), events(*values), stream=True).outcome
        assert outcome == Text(text)


@pytest.mark.parametrize("name", ["f" * 100_000, "ab" * 50_000])
def test_a_name_beyond_all_reason_is_not_looked_at_for_several_names(name: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}{}"}}
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    outcome = get_adapter("openai-chat").parse(200, (), json.dumps(body).encode(), stream=False).outcome
    assert isinstance(outcome, ToolCalls)
    assert [call.name for call in outcome.calls] == [name]


def pieces_of(text: str, cuts: list[int]) -> TextInPieces:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    made = TextInPieces(text[: places[0]] if places else text)
    for start, end in zip(places, [*places[1:], len(text)], strict=False):
        made.add(text[start:end])
        made.one_object()  # asked at every moment, it changes nothing
    return made


JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='"\\{}[] a'),
    lambda v: st.lists(v) | st.dictionaries(st.text(alphabet='"\\{} a', max_size=3), v),
    max_leaves=6,
)


@given(
    JSON.map(json.dumps) | st.text(alphabet='{}[]" \\a:,'),
    st.text(alphabet=" {}a", max_size=2),
    st.lists(st.integers(0, 99), max_size=5),
)
def test_pieces_are_one_object_exactly_where_the_whole_is(text: str, behind: str, cuts: list[int]) -> None:
    whole = text + behind
    pieces = pieces_of(whole, cuts)
    assert pieces.one_object() is (len(whole_objects(whole)) == 1)
    assert str(pieces) == whole
    assert bool(pieces) is bool(whole)


def test_a_call_can_be_gone_on_with_whatever_it_held() -> None:
    call = Call()
    call.extend("{")
    call.extend("}")
    assert (call.arguments, call.complete()) == ("{}", True)
    call.arguments = None
    assert not call.complete()
    call.arguments = {"a": 1}
    assert call.complete()
    call.name = "f"
    call.name = ""
    assert call.name == ""
