"""Recorded results as BFCL's handlers decode them, notation by notation, losses included."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.importers.bfcl.decode import DECODER_FAILED, WRONG_FORMAT, Decoded, decode
from callscope.importers.bfcl.decoders import DECODERS
from callscope.importers.bfcl.models import _LISTED, profile

PROMPTED = "gpt-4.1-2025-04-14"
NATIVE = "gpt-4.1-2025-04-14-FC"


def calls(result: Any, model: str = PROMPTED, language: Any = "python") -> Any:
    return decode(result, language=language, model=model).calls


VALUES = [
    ("1", 1),
    ("+1", -1),
    ("not 1", -1),
    ("-True", -1),
    ("'a' 'b'", "ab"),
    ("true", "true"),
    ("None", None),
    ("...", "..."),
    ("(1, 2)", (1, 2)),
    ("{'a': [1]}", {"a": [1]}),
    ("2 * 3.5", 7.0),
    ("(1 + 2) * 3", 9),
    ("'a' * 3", "aaa"),
    ("abs(-3) * 2", 6),
    ("len({1, 2}) + len({'a': 1}) + len((1,))", 4),
    ("len([1]) << 3", 8),
    ("(not 1) + ~1", -2),
    ("g()", "g()"),
    ("g(1)", "g(1)"),
    ("g(k=1)", {"g": {"k": 1}}),
    ("x[0]", "x[0]"),
    ("'\\d'", "\\d"),
]


@pytest.mark.parametrize(("written", "value"), VALUES)
def test_values_in_python_text(written: str, value: Any) -> None:
    assert calls(f"[f(x={written})]") == ({"f": {"x": value}},)


@pytest.mark.parametrize(
    "written",
    ["x.y", "-x", "-'a'", "{1}", "lambda: 1", "f'{x}'", "1 < 2", "1 + x", "1 / 0", "{**x}", "{[1]: 2}", "{**x} + 1"],
)
def test_one_value_that_cannot_be_read_makes_the_whole_text_undecodable(written: str) -> None:
    assert decode(f"[f(x={written}), g(y=1)]", language="python", model=PROMPTED).fault == DECODER_FAILED


@pytest.mark.parametrize("written", ["9 ** 9 ** 9", "1 << 10 ** 9", "[0] * 10 ** 9", "'%99999999d' % 1"])
def test_arithmetic_that_would_fill_the_memory_is_not_done(written: str) -> None:
    assert decode(f"[f(x={written})]", language="python", model=PROMPTED).fault == DECODER_FAILED


SHAPES = [
    ("f(x=1)", ({"f": {"x": 1}},)),
    ("```[f(x=1)]```", ({"f": {"x": 1}},)),
    ("f(x=1)(y=2)", ({"": {"y": 2}},)),
    ("f(x=1), a.b.g(y=2)", ({"f": {"x": 1}}, {"a.b.g": {"y": 2}})),
    ("[f(1, x=2)]", ({"f": {"x": 2}},)),
    ("[f(**y)]", ({"f": {None: "y"}},)),
    ("[f(x=1, x=2)]", ({"f": {"x": 2}},)),
    ("[]", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "wanted"), SHAPES)
def test_the_text_of_prompted_models(text: str, wanted: Any) -> None:
    assert calls(text) == wanted


@pytest.mark.parametrize(
    "text", ["```python\n[f(x=1)]\n```", "I cannot.", "[f]", "[f(x=1", "f(class=1)", "Error during inference: 500"]
)
def test_other_texts_of_prompted_models_are_undecodable(text: str) -> None:
    found = decode(text, language="python", model=PROMPTED)
    assert found.calls is None
    assert found.fault == DECODER_FAILED
    assert found.reason


JSON_ARGUMENTS = [
    ([{"f": '{"x": 1}'}], Decoded(({"f": {"x": 1}},))),
    ([{"f": '{"x": 1}', "g": "{}"}], Decoded(({"f": {"x": 1}},))),
    ([], Decoded(())),
    ([{"f": "[]"}], WRONG_FORMAT),
    ([{"f": ""}], DECODER_FAILED),
    ([{"f": {"x": 1}}], DECODER_FAILED),
    ([{}], DECODER_FAILED),
    (["text"], DECODER_FAILED),
    ("text", DECODER_FAILED),
    (None, DECODER_FAILED),
]


@pytest.mark.parametrize(("result", "wanted"), JSON_ARGUMENTS)
def test_calls_with_json_arguments(result: Any, wanted: Any) -> None:
    found = decode(result, language="python", model=NATIVE)
    assert (found.fault if isinstance(wanted, str) else found) == wanted


ONE = ({"f": {"x": 1}},)
NOTATIONS = [
    ("gemini-2.5-flash", "```tool_code\n[f(x=1)]\n```", ONE),
    ("gemini-2.5-flash-FC", [{"f": {"x": 1}}], ONE),
    ("gemini-2.5-flash-FC", {"f": {"x": 1}}, ONE),
    ("microsoft/phi-4", "```python\n[f(x=1)]\n```", ONE),
    ("gorilla-openfunctions-v2", "f(x=1)", ONE),
    ("nvidia/llama-3.1-nemotron-ultra-253b-v1", "so <TOOLCALL>[f(x=1)]</TOOLCALL>", ONE),
    ("nvidia/llama-3.1-nemotron-ultra-253b-v1", "so", ()),
    ("nova-pro-v1.0", [{"f": {"x": 1}}], ONE),
    ("katanemo/Arch-Agent-7B", [{"f": {"x": 1}}], ONE),
    ("katanemo/Arch-Agent-7B", ["f"], None),
    ("command-a-03-2025-FC", [{"tool_name": "f", "parameters": {"x": 1}}], ONE),
    ("command-a-03-2025-FC", "prose", ()),
    ("xiaoming-14B", [{"name": "f", "arguments": {"x": 1}}], ONE),
    ("Qwen_Qwen3-8B-FC", '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>', ONE),
    ("Qwen/Qwen3-8B-FC", "<tool_call>\n{broken\n</tool_call>", ()),
    ("Qwen/Qwen3-8B-FC", "<tool_call>\n[1]\n</tool_call>", None),
    ("tiiuae/Falcon3-7B-Instruct-FC", '<tool_call>```json\n{"name": "f", "arguments": {"x": 1}}```</tool_call>', ONE),
    ("tiiuae/Falcon3-7B-Instruct-FC", "prose", None),
    ("THUDM/glm-4-9b-chat", 'f\n{"x": 1}', ONE),
    ("THUDM/glm-4-9b-chat", "prose", None),
    ("ibm-granite/granite-20b-functioncalling", '<function_call> {"name": "f", "arguments": {"x": 1}}', ONE),
    ("ibm-granite/granite-20b-functioncalling", '<function_call> {"name": "no_function"}', None),
    ("ibm-granite/granite-20b-functioncalling", "prose", None),
    ("BitAgent/BitAgent-Bounty-8B", '{"name": "f", "arguments": {"x": 1}}', ONE),
    ("Salesforce/xLAM-2-1b-fc-r", '{"name": "f", "arguments": {"x": 1}}', ONE),
    (
        "Salesforce/xLAM-2-1b-fc-r",
        '{"name": "f", "arguments": {}}; {"name": "g", "arguments": {}}',
        ({"f": {}}, {"g": {}}),
    ),
    ("MadeAgents/Hammer2.1-7b", '```[{"name": "f", "arguments": {"x": 1}}]```', ONE),
    ("MadeAgents/Hammer2.1-7b", "prose", ()),
    ("meta-llama/Llama-3.1-8B-Instruct-FC", '<|python_tag|>{"name": "f", "parameters": {"x": 1}}', ONE),
    (
        "meta-llama/Llama-3.1-8B-Instruct-FC",
        '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}',
        ({"f": {}}, {"g": {}}),
    ),
    ("meta-llama/Llama-3.1-8B-Instruct-FC", '{"name": "f", "parameters": {"x": true}}', None),
    ("ThinkAgents/ThinkAgent-1B", "<think>a</think>[{'name': 'f', 'arguments': {'x': 1}}]", ONE),
    ("ThinkAgents/ThinkAgent-1B", "prose", ()),
    ("openbmb/MiniCPM3-4B-FC", "<|tool_call_start|>\n```python\nf(x=1)\n```\n<|tool_call_end|>", ONE),
    ("openbmb/MiniCPM3-4B-FC", "<|thought_start|>a<|thought_end|><|tool_call_start|>f(x=1)<|tool_call_end|>", ONE),
    ("openbmb/MiniCPM3-4B-FC", "<|tool_call_start|>x = 1<|tool_call_end|>", None),
    ("openbmb/MiniCPM3-4B-FC", "<|thought_end|>a<|thought_start|>", None),
    ("openbmb/MiniCPM3-4B-FC", "prose", None),
    ("google/functiongemma-270m-it-FC", "<start_function_call>call:f{x:1}<end_function_call>", ONE),
    (
        "google/functiongemma-270m-it-FC",
        "<start_function_call>call:f{a:<escape>b,c<escape>,d:[1,{e:true}],g:null,h:1.5}<end_function_call>",
        ({"f": {"a": "b,c", "d": [1, {"e": True}], "g": None, "h": 1.5}},),
    ),
    ("google/functiongemma-270m-it-FC", "<start_function_call>call:f<end_function_call>", ({"f": {}},)),
    (
        "google/functiongemma-270m-it-FC",
        "<start_function_call>call:f{x:<escape>a<end_function_call>",
        ({"f": {"x": "<escape>a"}},),
    ),
    ("google/functiongemma-270m-it-FC", "<start_function_call>f{x:1}<end_function_call>", ()),
    ("google/functiongemma-270m-it-FC", "prose", ()),
    ("not-listed", [{"f": '{"x": 1}'}], ONE),
    ("not-listed", [{"f": {"x": 1}}], ONE),
    ("not-listed", {"f": {"x": 1}}, ONE),
    ("not-listed", "[f(x=1)]", ONE),
    ("Org/not-listed-FC", '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>', ONE),
    ("not-listed-FC", "[f(x=1)]", None),
]


@pytest.mark.parametrize(("model", "result", "wanted"), NOTATIONS)
def test_each_notation_is_read_as_its_handler_reads_it(model: str, result: Any, wanted: Any) -> None:
    assert calls(result, model) == wanted


JAVA = [
    ('[A.f(x="a", y=1L)]', {"A.f": {"x": "a", "y": "1L"}}),
    ("[f(x=new ArrayList<>(Arrays.asList(1, 2)))]", {"f": {"x": "new ArrayList<>(Arrays.asList(1, 2))"}}),
    ("[f(x=new int[]{1, 2})]", {"f": {"x": "new int[]{1,2}"}}),
    ("[A.f(x=a + 1)]", {"A.f": {"x": "a+1"}}),
    ('[f(x=new HashMap<String, A>() {{ put("a", 1); }})]', {"f": {"x": "new HashMap<String,A>()"}}),
    ("[f(name, 1, x=2)]", {"f": {None: "name", "x": "2"}}),
    ("[f(x='c', y=1)]", {"f": {"x": "c", "y": "1"}}),
]


@pytest.mark.parametrize(("text", "wanted"), JAVA)
def test_java_text_gives_source_text_without_its_spaces(text: str, wanted: Any) -> None:
    assert calls(text, language="java") == (wanted,)


def test_java_text_beyond_ascii_is_cut_at_the_wrong_places() -> None:
    assert calls('[f(a="ü", x=1)]', language="java") == ({"f": {"a": 'ü"', "=": ")"}},)


def test_java_text_of_one_plain_argument_is_undecodable() -> None:
    # Without the semicolon that BFCL does not ask for, its grammar takes this for something else (as measured).
    assert decode("[f(x=1)]", language="java", model=PROMPTED).fault == DECODER_FAILED


JAVASCRIPT = [
    ("[f(x='a', y=[1, 2])]", {"f": {"x": "a", "y": "[1, 2]"}}),
    ("[a.f(x={b: 1})]", {"a.f": {"x": "{b: 1}"}}),
    ("[f(true)]", {"f": {None: "true"}}),
    ("[f(x=() => 1)]", {"f": {"x": "() => 1"}}),
]


@pytest.mark.parametrize(("text", "wanted"), JAVASCRIPT)
def test_javascript_text_gives_source_text(text: str, wanted: Any) -> None:
    assert calls(text, language="javascript") == (wanted,)


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize("text", ["[f(x=1, x=2)]", "[f(x={'a': 1]", "I cannot do that.", "\ud800"])
def test_other_source_text_is_undecodable(text: str, language: Any) -> None:
    assert decode(text, language=language, model=PROMPTED).fault == DECODER_FAILED


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_source_text_without_a_call_is_in_the_wrong_format(language: Any) -> None:
    assert decode("[]", language=language, model=PROMPTED).fault == WRONG_FORMAT


def test_every_listed_model_has_a_decoder_and_stands_once() -> None:
    names = [name for each in _LISTED.values() for name in each.split()]
    assert len(names) == len(set(names))
    assert {profile(name).decoder for name in names} <= DECODERS.keys()
    assert all(profile(name).listed and profile(name.replace("/", "_")).listed for name in names)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PIECES = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "f",
    "x=1",
    ",",
    "'",
    '"',
    "<tool_call>\n",
    "\n</tool_call>",
    "=",
    " ",
    "\\",
    "ü",
]


@given(
    result=JSON | st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    decoder=st.sampled_from(sorted(DECODERS)),
    language=st.sampled_from(["python", "java", "javascript"]),
)
def test_no_recorded_value_makes_a_decoder_raise_what_decode_does_not_take(
    result: Any, decoder: str, language: Any
) -> None:
    model = next((names.split()[0] for (name, _), names in _LISTED.items() if name == decoder), "not-listed")
    found = decode(result, language=language, model=model)
    assert (found.calls is None) == bool(found.fault) == bool(found.reason)
