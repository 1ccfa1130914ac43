"""NexusRaven's own files: counts, and every reference passes both verdicts."""

import json

import pytest

from callscope.contract import Exchange, Record, Round, Timing, TrialKey
from callscope.importers import nexusraven
from callscope.scoring import evaluate
from callscope.suites import load_suite_bytes


@pytest.fixture(scope="module")
def suites(shared):
    folder = shared / "data" / "nexusraven"
    imported = nexusraven.read({p.name: p.read_bytes() for p in folder.iterdir() if nexusraven.wanted(p.name)})
    assert imported.notes == ()
    return {one.name: load_suite_bytes(one.files, name=one.name) for one in imported.suites}


def test_counts(suites):
    assert {name: (len(suite.tools), len(suite.cases)) for name, suite in suites.items()} == {
        "nexusraven-cve_cpe": (2, 78),
        "nexusraven-virustotal": (12, 151),
    }
    assert not any(case.tags or case.excluded for suite in suites.values() for case in suite.cases)


def test_every_reference_passes_both_verdicts_as_a_prediction(suites):
    cases = {name: {case.id: case for case in suite.cases} for name, suite in suites.items()}
    for name, suite in suites.items():
        data = b"\n".join(
            json.dumps(
                {"id": case.id, "response": case.metadata["benchmark"]["reference"].replace("r = nvdlib.", "")}
            ).encode()
            for case in suite.cases
        )
        (model,) = nexusraven.read_results({"gold.jsonl": data}, cases)
        for answer in model.answers:
            case = cases[name][answer.case_id]
            outcome = nexusraven.READER.parse(200, (), answer.parts[0], stream=False).outcome
            assert evaluate(case, suite.tools, nexusraven.in_our_words(outcome, case)).passed is True, case.id
            exchange = Exchange(0, "RECORDED", "", (), b"", "", 200, (), answer.parts[0], Timing())
            key = TrialKey(name, "recorded", "gold", case.id, 0)
            record = Record(key, "recorded/nexusraven", False, "", (Round((exchange,)),))
            assert nexusraven.verdict(record, case)[0] is True, case.id
