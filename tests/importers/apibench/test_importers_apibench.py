"""APIBench imported: small files of our own, hostile ones, and what becomes of recorded text."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Exchange, ProviderError, Record, Round, Text, Timing, ToolCall, ToolCalls, TrialKey
from callscope.errors import InputError
from callscope.importers import apibench
from callscope.importers.apibench.checker import NO_API_CALL, answer_text, database, found_entry
from callscope.importers.apibench.hubs import HUBS
from callscope.importers.apibench.loads import stated
from callscope.scoring import evaluate
from callscope.suites import load_suite_bytes


def row(api_call, domain="Classification", question="Which cat is it?"):
    return {
        "code": f"###Instruction: {question}\n###Output: <<<api_call>>>: {api_call}",
        "api_call": api_call,
        "provider": "x",
        "api_data": {"domain": domain, "api_call": api_call},
    }


def entry(api_call, domain="Classification"):
    return {"domain": domain, "api_call": api_call, "api_name": "x"}


def lines(*rows):
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


LOAD = "torch.hub.load(repo_or_dir='o/{0}', model='{0}', pretrained=True)"
TORCH = {
    "apibench/torchhub_eval.json": lines(
        row(LOAD.format("cat")), row(LOAD.format("dog"), question='Say "dog"'), row(LOAD.format("fox"), "Audio")
    ),
    "api/torchhub_api.jsonl": lines(
        entry(LOAD.format("cat")),
        entry(LOAD.format("dog")),
        entry(LOAD.format("cow")),
        entry(LOAD.format("fox"), "Audio"),
    ),
    "questions/questions_torchhub_0_shot.jsonl": lines(
        {"question_id": 1, "text": " Which cat is it?\\n"},
        {"question_id": 2, "text": ' Say \\"dog\\"\\n'},
        {"question_id": 3, "text": " Which cat is it?\\n"},
    ),
}
HF = {
    "huggingface_eval.json": lines(
        row("AutoModel.from_pretrained('o/m')"),
        row("pipeline('text-generation', model='o/g')"),
        row("joblib.load(hf_hub_download('o/j', 'file.joblib'))"),
        row("./run.sh --download_model o/m"),
        row("S2THubInterface()"),
        row("pipeline('text-to-image', model=o/Bare_V1.4)"),
        row("TapasForQuestionAnswering.from_pretrained('o/t'), TapasTokenizer.from_pretrained('o/t')"),
    ),
    "huggingface_api.jsonl": lines(
        entry("AutoModel.from_pretrained('o/m')"),
        entry("pipeline('fill-mask', model='o/m')"),
        entry("BertModel.from_pretrained('o/m')", "Another domain"),
    ),
}


def suites_of(files):
    imported = apibench.read(files)
    return {one.name: load_suite_bytes(one.files, name=one.name) for one in imported.suites}, imported.notes


def judged(suites, suite, number, text):
    """(ours, theirs, evidence) of an answer."""
    cases = {name: {case.id: case for case in one.cases} for name, one in suites.items()}
    hub = suite.removeprefix("apibench-")
    files = {f"response_{hub}_m.jsonl": lines({"question_id": number, "text": text})}
    ((answer,),) = [model.answers for model in apibench.read_results(files, cases)]
    case = cases[suite][answer.case_id]
    outcome = apibench.in_our_words(
        apibench.READER.parse(200, answer.headers, answer.parts[0], stream=False).outcome, case
    )
    verdict = evaluate(case, suites[suite].tools, outcome)
    passed, evidence = apibench.verdict(recorded(answer), case)
    return verdict.passed, passed, evidence.get("verdict")


def recorded(answer, api="recorded/apibench"):
    exchange = Exchange(0, "RECORDED", "", (), b"", "", 200, answer.headers, answer.parts[0], Timing())
    return Record(TrialKey(answer.suite, "recorded", "m", answer.case_id, 0), api, False, "", (Round((exchange,)),))


def api(call):
    return f"<<<domain>>>: x\n<<<api_call>>>: {call}\n<<<api_provider>>>: y\n<<<code>>>: z"


def test_a_suite_of_each_hub_with_its_questions_as_they_were_meant():
    suites, notes = suites_of(TORCH | HF)
    assert sorted(suites) == ["apibench-huggingface", "apibench-torchhub"]
    torch = suites["apibench-torchhub"]
    assert torch.benchmark == "apibench"
    assert [case.id for case in torch.cases] == [f"torchhub-{n}" for n in (1, 2, 3)]
    assert [case.prompt for case in torch.cases] == ["Which cat is it?", 'Say "dog"', "Which cat is it?"]
    assert "gold-defect:duplicate-question" in torch.cases[2].tags
    assert any("no questions file" in note for note in notes)


def test_ours_is_the_model_and_theirs_the_domain():
    suites, _ = suites_of(TORCH)
    suite = "apibench-torchhub"
    assert judged(suites, suite, 1, api("torch.hub.load('o/cat', 'cat', pretrained=True)")) == (True, True, "correct")
    assert judged(suites, suite, 1, api("torch.hub.load('o/cow', 'cow')")) == (False, True, "correct")
    assert judged(suites, suite, 1, api("torch.hub.load('o/fox', 'fox')")) == (False, False, "wrong")
    assert judged(suites, suite, 1, api("torch.hub.load('o/emu', 'emu')")) == (False, False, "hallucination")
    assert judged(suites, suite, 1, "I would use a network.") == (False, False, "no_api_call")


def test_an_option_may_be_left_out_and_not_contradicted():
    suites, _ = suites_of(TORCH)
    for options, passed in (
        ("", True),
        (", pretrained=True", True),
        (", pretrained=False", False),
        (", source='x'", True),
    ):
        assert judged(suites, "apibench-torchhub", 1, api(f"hub.load('o/cat', model='cat'{options})"))[0] is passed


def test_a_call_in_single_quotes_is_a_call_for_us_and_a_string_for_their_parser():
    suites, _ = suites_of(TORCH)
    text = "{'api_call': 'model = torch.hub.load('o/cat', 'cat', pretrained=True)', 'api_provider': 'PyTorch'}"
    assert judged(suites, "apibench-torchhub", 1, text) == (True, False, "hallucination")


def test_quoted_once_more_it_reads_the_same():
    suites, _ = suites_of(TORCH)
    text = json.dumps('{"api_call": "torch.hub.load(repo_or_dir=\'o/cat\', model=\'cat\')", "api_provider": "x"}')
    assert judged(suites, "apibench-torchhub", 1, text)[0] is True
    text = """{'api_call': \\"torch.hub.load(repo_or_dir=\\"o/cat\\", model=\\"cat\\")\\", 'api_provider': 'x'}"""
    assert judged(suites, "apibench-torchhub", 1, text)[0] is True


@pytest.mark.parametrize(
    ("number", "call", "passed"),
    [
        (1, "transformers.AutoModel.from_pretrained('o/m', trust_remote_code=True)", True),
        (1, "pipeline('fill-mask', model='o/m')", True),  # the database lists it, in the same domain
        (1, "pipeline(model='o/m')", True),
        (1, "BertModel.from_pretrained('o/m')", False),  # listed, in another domain
        (1, "AutoModel.from_pretrained('o/m-large')", False),
        (1, "AutoModel.from_pretrained(model_name)", False),
        (2, "pipeline('text-generation', 'o/g')", True),
        (2, "pipeline('summarization', model='o/g')", False),
        (3, "joblib.load(cached_download(hf_hub_url('o/j', 'file.joblib')))", True),
        (6, "pipeline('text-to-image', model='o/Bare_V1.4')", True),
        (7, "AutoTokenizer.from_pretrained('o/t'); TapasForQuestionAnswering.from_pretrained('o/t')", True),
        (7, "AutoTokenizer.from_pretrained('o/t')", False),
    ],
)
def test_hugging_face_calls(number, call, passed):
    suites, _ = suites_of(HF)
    assert judged(suites, "apibench-huggingface", number, api(call))[0] is passed


def test_gold_that_no_answer_can_meet_is_excluded_and_said():
    suites, notes = suites_of(HF)
    cases = suites["apibench-huggingface"].cases
    assert [case.excluded for case in cases if case.excluded] == ["the gold is no call", "the gold names no model"]
    assert "gold-defect:no-call" in cases[3].tags
    assert "gold-defect:no-model" in cases[4].tags
    assert {"gold-defect:not-python", "gold-defect:not-in-database"} <= set(cases[5].tags)
    assert any("gold-defect:no-call" in note and "huggingface-4" in note for note in notes)
    assert judged(suites, "apibench-huggingface", 4, api("AutoModel.from_pretrained('o/m')"))[0] is None


def test_a_question_beside_the_gold_of_another_is_excluded():
    files = TORCH | {
        "questions/questions_torchhub_0_shot.jsonl": lines({"question_id": 2, "text": " Which cat is it?"})
    }
    suites, notes = suites_of(files)
    (case,) = suites["apibench-torchhub"].cases
    assert case.excluded
    assert "gold-defect:misaligned" in case.tags
    assert any("2 golds have no question" in note for note in notes)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"torchhub_eval.json": b"{"}, "torchhub_eval.json:1:"),
        ({"torchhub_eval.json": lines(row("f()"), {"api_call": 3})}, "torchhub_eval.json:2: code: this must be text"),
        ({"torchhub_eval.json": b"\xff"}, "torchhub_eval.json:1"),
        (TORCH | {"api/torchhub_api.jsonl": lines({"domain": "x"})}, "torchhub_api.jsonl:1: api_call"),
        (
            TORCH | {"questions/questions_torchhub_0_shot.jsonl": lines({"question_id": 9, "text": "x"})},
            "questions_torchhub_0_shot.jsonl:1: question_id: names no gold (found 9",
        ),
    ],
)
def test_files_at_fault_are_named_with_the_line(files, says):
    with pytest.raises(InputError) as fault:
        apibench.read(files)
    assert says in str(fault.value)


RESPONSE = "r/response_torchhub_m.jsonl"


def cases_of(files):
    suites, _ = suites_of(files)
    return {name: {case.id: case for case in one.cases} for name, one in suites.items()}


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (b'{"question_id": 4, "text": "x"}', "2: question_id: names no case (found 4; expected a question of"),
        (b'{"question_id": "1", "text": "x"}', "2: question_id: names no case"),
        (b'{"question_id": true, "text": "x"}', "2: question_id: names no case"),
        (b'{"question_id": 3, "tex', "2: this is no JSON (truncated)"),
        (b"[1]", "2: this is no row (found [1]; expected a JSON object)"),
        (b'{"question_id": 3, "text": "\xff"}', "2: this is no JSON (invalid_utf8"),
    ],
)
def test_a_row_that_is_of_no_use_is_left_out_with_a_note_and_the_others_stay(spoilt, says):
    data = lines({"question_id": 1, "text": "x"}) + spoilt + b"\n" + lines({"question_id": 2, "text": "y"})
    (model,) = apibench.read_results({RESPONSE: data}, cases_of(TORCH))
    assert [answer.case_id for answer in model.answers] == ["torchhub-1", "torchhub-2"]
    (note,) = model.notes
    assert note.startswith(f"{RESPONSE}:{says}")
    assert note.endswith("; left out")
    assert "\n" not in note


def test_several_are_counted_and_a_file_without_one_row_is_refused():
    data = b"{\n" * 3 + lines({"question_id": 1, "text": "x"}, {"question_id": 8}, {"question_id": 9})
    (model,) = apibench.read_results({RESPONSE: data}, cases_of(TORCH))
    assert len(model.answers) == 1
    assert "jsonl:1: this is no JSON" in model.notes[0]
    assert "left out, and 2 lines more of this file" in model.notes[0]
    assert "jsonl:5: question_id: names no case (found 8" in model.notes[1]
    assert "and 1 rows more of this file" in model.notes[1]
    with pytest.raises(InputError) as fault:
        apibench.read_results({RESPONSE: b'\n{"question_id": 1, "te'}, cases_of(TORCH))
    assert (fault.value.file, fault.value.line) == (RESPONSE, 2)


def test_a_number_that_json_does_not_have_spoils_its_own_field_alone():
    text = api(LOAD.format("cat"))
    data = (
        b'{"question_id": 1, "text": %s, "latency": NaN}\n{"question_id": 2, "text": NaN}' % json.dumps(text).encode()
    )
    (model,) = apibench.read_results({RESPONSE: data}, cases_of(TORCH))
    first, second = (
        apibench.READER.parse(200, each.headers, each.parts[0], stream=False).outcome for each in model.answers
    )
    assert first.calls[0].malformed is None
    assert isinstance(second, ProviderError)
    assert model.notes == ()


def test_the_first_answer_stays_and_a_failed_request_gives_way():
    failed = {"question_id": 1, "text": "Error during inference: 500"}
    data = lines(failed, {"question_id": 1, "text": "x"}, {"question_id": 1, "text": "y"}, failed)
    (model,) = apibench.read_results({RESPONSE: data}, cases_of(TORCH))
    assert [(answer.case_id, answer.source) for answer in model.answers] == [("torchhub-1", f"{RESPONSE}:2")]
    assert model.notes == (
        f"{RESPONSE}: lines 3 (torchhub-1), 4 (torchhub-1) answer a case again; the first answer stays",
        f"{RESPONSE}: lines 2 (torchhub-1) are asked again after an error; the last of these counts",
    )


def test_answers_to_a_hub_that_was_not_imported_are_noted():
    file = "response_huggingface_m.jsonl"
    (model,) = apibench.read_results({file: lines({"question_id": 1, "text": "x"})}, cases_of(TORCH))
    assert model.answers == ()
    assert model.notes == (f"{file}: the benchmark's folder holds no huggingface_eval.json; left out",)


def test_requests_that_failed_are_no_answers():
    suites, _ = suites_of(TORCH)
    cases = {name: {case.id: case for case in one.cases} for name, one in suites.items()}
    data = b"null\n" + lines({"question_id": 1, "text": None}, {"question_id": 2, "text": "x", "error": "429"})
    (model,) = apibench.read_results({"response_torchhub_GPT-4_0_shot.jsonl": data}, cases)
    assert model.model == "GPT-4_0_shot"
    assert len(model.answers) == 2
    assert "1 requests failed" in model.notes[0]
    for answer in model.answers:
        assert isinstance(
            apibench.READER.parse(200, answer.headers, answer.parts[0], stream=False).outcome, ProviderError
        )
    error = json.dumps({"text": "Error during inference: 500"}).encode()
    assert isinstance(apibench.READER.parse(200, (), error, stream=False).outcome, ProviderError)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        (api("torch.hub.load('o/cat',"), ToolCalls, "truncated"),
        (api("torch.hub.load('o/cat' 'x' lambda)"), ToolCalls, None),
        (api("yolov5s"), ToolCalls, "not_a_call"),
        (api(""), Text, None),
        ("a cat", Text, None),
    ],
)
def test_an_attempt_that_cannot_be_read_is_a_malformed_call_and_words_are_words(text, outcome, reason):
    found = apibench.READER.parse(
        200, (("callscope-suite", "apibench-torchhub"),), json.dumps({"text": text}).encode(), stream=False
    )
    assert isinstance(found.outcome, outcome)
    if reason is not None:
        assert found.outcome.calls[0].malformed.reason == reason


def test_a_trial_that_is_no_recorded_answer_has_no_verdict_of_theirs():
    suites, _ = suites_of(TORCH)
    case = suites["apibench-torchhub"].cases[0]
    record = Record(TrialKey("s", "e", "m", case.id, 0), "openai-chat", False, "", ())
    assert apibench.verdict(record, case) == (None, {"why": "not_a_recorded_answer"})


def test_a_call_that_a_model_made_itself_is_left_alone():
    suites, _ = suites_of(TORCH)
    case = suites["apibench-torchhub"].cases[0]
    outcome = ToolCalls((ToolCall("1", "torch_hub_load", {"*": ["o/cat"]}),), ())
    assert apibench.in_our_words(outcome, case) is outcome


def test_the_search_is_the_published_one():
    torch = database("torchhub", [LOAD.format("cat"), "torch.hub.load(repo_or_dir='o/any')", LOAD.format("dog")])
    assert found_entry(torch, "no call here") == NO_API_CALL
    assert found_entry(torch, api("torch.hub.load('o/dog', 'dog')")) == 2
    assert found_entry(torch, api("torch.hub.load('o/anything', 'x')")) == 1  # a substring is enough
    assert found_entry(torch, api("tf.load('o/dog', 'dog')")) == -1
    assert found_entry(database("huggingface", ["pipeline(model='a')"]), "pipeline('x', model='bar')") == 0
    assert found_entry(database("torchhub", [""]), api("f()")) is None  # their script crashes on an empty entry
    assert answer_text("tensorflow", "plain") == "plain"
    assert answer_text("torchhub", "plain") is None
    assert answer_text("torchhub", "api_call': 'f(x)', 'api_provider") == "'f(x)"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000,
        "api_call: " + "torch.hub.load(" * 5_000,
        "api_call: torch.hub.load('\0')",
        "api_call" * 9_000,
        "\\" * 40_000 + "f(",
    ],
)
@pytest.mark.parametrize("hub", HUBS)
def test_hostile_text_is_read(hub, text):
    stated(HUBS[hub], text)
    body = json.dumps({"question_id": 1, "text": text}).encode()
    apibench.READER.parse(200, (("callscope-suite", f"apibench-{hub}"),), body, stream=False)


def test_code_in_an_answer_is_never_run(tmp_path):
    suites, _ = suites_of(TORCH)
    mark = tmp_path / "mark"
    judged(suites, "apibench-torchhub", 1, api(f"torch.hub.load(open({str(mark)!r}, 'w').write('x'), exit())"))
    assert not mark.exists()


junk = st.binary() | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question_id", "text", "api_call", "api_data", "domain", "code"]) | st.text(), inner
        )
    ),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())
PATHS = (*TORCH, "huggingface_eval.json", "tensorflow_eval.json")


@given(st.dictionaries(st.sampled_from(PATHS), junk | st.lists(junk).map(b"\n".join)), junk)
def test_files_of_junk_are_input_errors_at_most(files, results):
    for read in (lambda: apibench.read(TORCH | files), lambda: apibench.read(files)):
        with contextlib.suppress(InputError):
            read()
    suites, _ = suites_of(TORCH)
    cases = {name: {case.id: case for case in one.cases} for name, one in suites.items()}
    with contextlib.suppress(InputError):
        apibench.read_results({"response_torchhub_m.jsonl": results}, cases)


@given(st.binary() | junk, st.text())
def test_the_reader_reads_anything(body, text):
    apibench.READER.parse(200, (), body, stream=False)
    for hub in HUBS:
        apibench.READER.parse(
            200, ((("callscope-suite"), f"apibench-{hub}"),), json.dumps({"text": text}).encode(), stream=True
        )
