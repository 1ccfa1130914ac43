"""Claims about a whole comparison: what it calls established, what it refuses, what it prints, and that it repeats."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from msgspec import structs
from rich.console import Console

from callscope.comparison import Options, compare, comparison_text, libraries, print_comparison, render_comparison
from callscope.comparison.picture import forest
from callscope.comparison.words import p_text, points
from callscope.contract import Settings
from callscope.errors import EnvironmentProblem, InputError
from callscope.jsontext import dump_faithful
from tests.comparison.planted import Answer, Planted, cases, entry, run, suite, table


def compared(*runs: Planted, **options: Any) -> dict[str, Any]:
    return compare([(f"r{i}", each) for i, each in enumerate(runs, 1)], Options(**options))


def of_table(*cells: int, **options: Any) -> dict[str, Any]:
    first, second = table(*cells)
    return compared(run({"a": first, "b": second}), **options)


def only_pair(data: dict[str, Any]) -> dict[str, Any]:
    (group,) = data["groups"]
    (pair,) = group["pairs"]
    return dict(pair)


def skilled(seed: int, skills: dict[str, float], count: int = 80, repeats: int = 1) -> Planted:
    rng = random.Random(seed)
    answers: dict[str, Any] = {
        name: [[rng.random() < skill for _ in range(repeats)] for _ in range(count)] for name, skill in skills.items()
    }
    return run(answers)


# --------------------------------------------------------------------------------------------------------------- words


def test_a_clear_difference_is_established_with_its_figures() -> None:
    pair = only_pair(of_table(40, 2, 20, 18))
    assert pair["established"] is True
    assert pair["says"][0] == (
        "established: B passes more often than A (p < 0.001, difference +22.5 points, 95% interval +11.6 to +32.6)"
    )


def test_the_better_one_is_named_first_whichever_it_is() -> None:
    pair = only_pair(of_table(40, 20, 2, 18))
    assert pair["says"][0].startswith("established: A passes more often than B (p < 0.001, difference -22.5 points")


def test_what_is_not_established_says_what_could_have_been_seen() -> None:
    pair = only_pair(of_table(30, 7, 10, 13))
    assert pair["established"] is False
    said = pair["says"][0]
    assert said.startswith("not established: which of A and B passes more often (p = 0.629, difference +5.0 points")
    smallest = 100 * pair["difference"]["smallest"]
    assert f"on 60 cases a difference of {smallest:.1f} points could have been seen" in said
    assert f"needs about {pair['difference']['needed']['paired']} cases" in said


def test_nothing_is_ever_called_the_same() -> None:
    for cells in ((30, 0, 0, 30), (30, 5, 5, 20), (1, 0, 0, 1), (30, 7, 10, 13)):
        data = of_table(*cells)
        text = comparison_text(data) + render_comparison(data)
        assert not re.search(r"\b(equal|equivalent|identical|same performance|no difference)\b", text, re.IGNORECASE)
        assert "not established" in text


def test_too_few_cases_say_so() -> None:
    assert "2 cases are too few to see any difference reliably" in only_pair(of_table(1, 0, 0, 1))["says"][0]


def test_a_sentence_says_on_how_many_of_the_planned_cases_it_rests() -> None:
    seen: list[Answer] = [True] * 20 + ["timeout"] * 5
    some = [[answer] for answer in seen]
    said = only_pair(compared(run({"a": some, "b": [[False]] * 25})))["says"][0]
    assert said.startswith("established: A passes more often than B (on 20 of 25 planned cases, p < 0.001")
    assert "planned" not in only_pair(of_table(5, 0, 20, 0))["says"][0]


def test_too_few_families_are_told_from_too_few_cases() -> None:
    kin = suite(cases(10, ["x"] * 10))
    said = only_pair(compared(run({"a": [[True]] * 10, "b": [[False]] * 10}, of=kin)))["says"][0]
    assert "10 cases (1 family) are too few" in said
    assert "; 1 case is too few" in only_pair(of_table(0, 1, 0, 0))["says"][0]


def test_a_pair_without_a_shared_case_is_not_comparable() -> None:
    data = compared(run({"a": [["timeout"], [True]], "b": [[True], ["timeout"]]}))
    pair = only_pair(data)
    assert (pair["difference"], pair["p_adjusted"], pair["established"]) == (None, None, False)
    assert pair["says"][0] == "not comparable: no case has a value for both A and B"
    assert data["family"]["tests"] == 0
    assert "–" in comparison_text(data)
    assert "not comparable" in render_comparison(data)


def test_a_worse_rate_is_named_by_what_it_does() -> None:
    first, second = table(5, 20, 1, 10)
    data = compared(run({"a": first, "b": second}), metric="selection")
    assert "A chooses the right tool more often than B" in only_pair(data)["says"][0]


def test_figures_read_well_and_stay_on_their_side() -> None:
    assert [points(x) for x in (0.0324, -0.0041, 0.0, -0.0001)] == ["+3.2", "-0.4", "0.0", "0.0"]
    assert [p_text(p) for p in (0.0001, 0.0312, 0.05, 0.0500004, 0.7, 1.0)] == [
        "<0.001", "0.031", "0.050", "0.050000", "0.700", "1",
    ]  # fmt: skip
    assert p_text(0.0502) == "0.050200"


def test_one_changed_variable_is_named_and_several_are_a_warning() -> None:
    one = run({"m": [[True]] * 3})
    hot = run({"m": [[True]] * 3}, run_id="run-2", settings=Settings(temperature=1.0))
    other = run(
        {"m": [[True]] * 3}, run_id="run-2", settings=Settings(temperature=1.0), entries={"m": entry("m", model="n")}
    )
    assert only_pair(compared(one, hot))["says"][1] == "A and B differ in one variable: sampling"
    assert only_pair(compared(one, other))["says"][1] == (
        "warning: A and B differ in 2 variables (model, sampling); which of them makes a difference is not established"
    )
    assert not compared(one, hot)["groups"][0]["pairs"][0]["recorded_elsewhere"]
    twin = run({"m": [[True]] * 3}, run_id="run-2")
    assert "differ in no recorded variable" in only_pair(compared(one, twin))["says"][1]


# ------------------------------------------------------------------------------------------------------------ families


def test_three_units_make_a_family_and_its_p_values_are_adjusted() -> None:
    planted = skilled(3, {"a": 0.5, "b": 0.75, "c": 0.6})
    data = compared(planted, family="all")
    pairs = data["groups"][0]["pairs"]
    assert [(p["first"], p["second"]) for p in pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert data["family"] == {
        "declared": "all", "tests": 3, "correction": "holm", "alpha": 0.05, "power": 0.8, "min_coverage": None,
            "omnibus_tests": 1,
    }  # fmt: skip
    raw = [p["difference"]["p"] for p in pairs]
    assert min(p["p_adjusted"] for p in pairs) == pytest.approx(min(1, 3 * min(raw)), rel=1e-4)
    assert [p["difference"]["p"] for p in compared(planted, family="all", correction="bh")["groups"][0]["pairs"]] == raw
    for pair in pairs:
        assert pair["difference"]["smallest_in_family"] > pair["difference"]["smallest"]
    assert all("adjusted p" in p["says"][0] for p in pairs)


def test_the_baseline_is_the_first_and_pairs_can_be_declared() -> None:
    planted = skilled(3, {"a": 0.5, "b": 0.75, "c": 0.6})

    def tested(family: str) -> list[str]:
        return [p["first"] + p["second"] for p in compared(planted, family=family)["groups"][0]["pairs"]]

    assert tested("baseline") == ["AB", "AC"]
    assert tested("C:B, A:C") == ["CB", "AC"]
    for wrong in ("A:D", "A", "A:A", "A:B,B:A", ""):
        with pytest.raises(InputError, match="--family"):
            tested(wrong)


def test_a_family_spans_all_suites_and_experiments_it_tests() -> None:
    one, other = skilled(1, {"a": 0.5, "b": 0.6}), skilled(2, {"a": 0.5, "b": 0.6})
    required = run({"a": [[True]] * 4, "b": [[False]] * 4}, experiment="required")
    joined = Planted(
        structs.replace(one.manifest, plan=one.manifest.plan + required.manifest.plan),
        one.suites,
        one.rows + required.rows,
    )
    data = compared(joined)
    assert [g["experiment"] for g in data["groups"]] == ["auto", "required"]
    assert data["family"]["tests"] == 2
    assert compared(joined, experiment="required")["family"]["tests"] == 1
    assert compared(other)["family"]["tests"] == 1


def test_what_only_one_holds_is_named_and_not_compared() -> None:
    one = run({"a": [[True]] * 4})
    elsewhere = run({"a": [[True]] * 4}, of=suite(cases(4), name="returns"), run_id="run-2")
    with pytest.raises(InputError, match=r"never compared across"):
        compared(one, elsewhere)
    both = Planted(
        structs.replace(
            elsewhere.manifest,
            plan=elsewhere.manifest.plan + one.manifest.plan,
            suites=elsewhere.manifest.suites + one.manifest.suites,
        ),
        {**elsewhere.suites, **one.suites},
        elsewhere.rows + one.rows,
    )
    data = compared(one, both)
    assert data["not_compared"] == [{"suite": "returns", "experiment": "auto", "units": ["B"]}]
    assert "Not compared: returns · auto: only B has it" in comparison_text(data)
    assert "Not compared: returns" in render_comparison(data)


def test_no_established_difference_where_there_is_none_more_often_than_promised() -> None:
    found = 0
    for seed in range(120):
        data = compared(skilled(seed, {"a": 0.6, "b": 0.6, "c": 0.6}, count=40, repeats=2), family="all")
        found += any(pair["established"] for pair in data["groups"][0]["pairs"])
    assert found / 120 <= 0.09


def test_imported_answers_do_not_tell_how_they_were_asked_for() -> None:
    imported = {name: entry(name, provider="recorded", api="recorded/bench") for name in "ab"}
    both = run({"a": [[True]] * 3, "b": [[True]] * 3}, entries=imported)
    said = only_pair(compared(both))["says"][1]
    assert said.startswith("warning: the answers of A and B were recorded elsewhere")
    assert "the cause of a difference is not established; known to differ: model" in said
    assert "one variable" not in said
    mixed = only_pair(compared(run({"a": [[True]] * 3, "b": [[True]] * 3}, entries={"b": imported["b"]})))
    assert mixed["recorded_elsewhere"] == ["B"]
    assert mixed["says"][1].startswith("warning: the answers of B were recorded elsewhere")
    same = only_pair(
        compared(both, run({"a": [[True]] * 3}, entries=imported, run_id="run-2"), family="A:C", models=("a", "b"))
    )
    assert "no recorded variable" not in same["says"][1]


@pytest.mark.parametrize("cells", [(40, 2, 20, 18), (1, 0, 0, 0), (3, 1, 1, 3)])
def test_a_pair_is_written_in_one_way(cells: tuple[int, int, int, int]) -> None:
    data = of_table(*cells)
    for shown in (comparison_text(data).replace("\u00a0", " "), render_comparison(data)):
        assert "B - A" in shown
        assert not re.search(r"A ?[–−] ?B|B ?[–−] ?A", shown)


def test_one_case_is_spoken_of_as_one() -> None:
    few: list[list[Answer]] = [[True], *([["timeout"]] * 20)]
    said = only_pair(compared(run({"a": few, "b": [[True]] * 21}), min_coverage=0.5))["says"][0]
    assert said.startswith("not decided: 1 case of 21 planned (5%) has a value")
    for cells in ((1, 0, 0, 0), (0, 1, 0, 0)):
        assert not re.search(r"\b1 case (are|have)\b|\b1 cases\b", comparison_text(of_table(*cells), width=300))


# ------------------------------------------------------------------------------------------------------------ coverage


def test_coverage_below_what_is_asked_decides_nothing() -> None:
    first, second = table(40, 2, 20, 18)
    for place in range(30):
        first[place] = ["rate_limited"]
    planted = run({"a": first, "b": second})
    low = compared(planted, min_coverage=0.9)
    assert low["coverage"] == {"lowest": 0.625, "asked": 0.9, "enough": False}
    assert only_pair(low)["established"] is False
    assert only_pair(low)["says"][0] == (
        "not decided: 50 cases of 80 planned (62%) have a value for both A and B; 90% are asked for"
    )
    assert "too low to decide" in comparison_text(low)
    assert "too low to decide" in render_comparison(low)
    enough = compared(planted, min_coverage=0.6)
    assert enough["coverage"]["enough"] is True
    assert only_pair(enough)["established"] is True
    assert compared(planted)["coverage"]["enough"] is None


@pytest.mark.parametrize(
    ("options", "field"),
    [({"min_coverage": 90}, "--min-coverage"), ({"seed": -1}, "--seed"), ({"metric": "f1"}, "--metric")],
)
def test_bounds_that_are_none_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=field):
        of_table(1, 1, 1, 1, **options)


def test_a_metric_that_no_case_is_of_is_refused() -> None:
    with pytest.raises(InputError, match="`clarification`"):
        of_table(1, 1, 1, 1, metric="clarification")


def test_without_numpy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(libraries.importlib, "import_module", missing)
    with pytest.raises(EnvironmentProblem, match=r"callscope\[stats\]"):
        of_table(1, 1, 1, 1)


# ----------------------------------------------------------------------------------------------- together, and repeats


def test_three_or_more_are_asked_together_and_ranked() -> None:
    data = compared(skilled(5, {"a": 0.3, "b": 0.6, "c": 0.9}))
    group = data["groups"][0]
    assert group["omnibus"]["says"].startswith("established: among A, B, C, at least one passes more often")
    assert [unit["unit"] for unit in group["ranking"]["units"]] == ["C", "B", "A"]
    assert group["ranking"]["units"][0]["first"] > 0.95
    alike = compared(skilled(5, {"a": 0.6, "b": 0.6, "c": 0.6}))["groups"][0]
    assert alike["omnibus"]["says"].startswith("not established: any difference among A, B, C")
    assert compared(skilled(5, {"a": 0.3, "b": 0.6}))["groups"][0]["omnibus"] is None


def test_all_together_decide_nothing_on_too_few_cases() -> None:
    planted = skilled(5, {"a": 0.3, "b": 0.6, "c": 0.9})
    planted.rows = [row for row in planted.rows if row.verdict.model != "c" or row.verdict.case_id < "case-0040"]
    assert compared(planted, min_coverage=0.5)["groups"][0]["omnibus"]["says"].startswith("established")
    assert compared(planted, min_coverage=0.6)["groups"][0]["omnibus"]["says"].startswith("not decided: any difference")


def several(suites: int, cases_of_each: int, share: float = 0.5) -> Planted:
    """One run of three models over several suites, in each of which `c` passes all and the others a share."""
    passed = int(cases_of_each * share)
    some: list[list[Answer]] = [[i < passed] for i in range(cases_of_each)]
    runs = [
        run({"a": some, "b": some, "c": [[True]] * cases_of_each}, of=suite(cases(cases_of_each), name=f"suite-{i}"))
        for i in range(suites)
    ]
    manifest = structs.replace(
        runs[0].manifest,
        plan=tuple(block for each in runs for block in each.manifest.plan),
        suites=tuple(ref for each in runs for ref in each.manifest.suites),
    )
    return Planted(
        manifest,
        {name: of for each in runs for name, of in each.suites.items()},
        [row for each in runs for row in each.rows],
    )


def test_tests_of_all_together_are_a_family_of_their_own() -> None:
    alone, many = several(1, 20, 0.6), several(40, 20, 0.6)
    one = compared(alone)["groups"][0]["omnibus"]
    assert (one["tests"], one["adjusted_p"]) == (1, one["p"])
    assert "adjusted" not in one["says"]
    data = compared(many)
    assert data["family"]["omnibus_tests"] == 40
    assert "a family of their own, 40 tests, adjusted by Holm" in " ".join(comparison_text(data).split())
    for group in data["groups"]:
        found = group["omnibus"]
        assert found["adjusted_p"] == pytest.approx(min(1, 40 * found["p"]), rel=1e-4)
        assert f"adjusted p = {p_text(found['adjusted_p'])} as one of 40 such tests" in found["says"]
        assert found["says"] in " ".join(comparison_text(data, width=400).split())


def test_a_raw_p_below_the_bound_establishes_nothing_together() -> None:
    rng, found, raw = random.Random(3), 0, 0
    for _ in range(12):
        planted = several(12, 30)
        planted.rows = [
            structs.replace(row, verdict=structs.replace(row.verdict, passed=rng.random() < 0.5))
            for row in planted.rows
        ]
        together = [group["omnibus"] for group in compared(planted)["groups"]]
        raw += any(one["p"] <= 0.05 for one in together)
        found += any(one["says"].startswith("established") for one in together)
    assert raw >= 4, "the planted chance is too tame to tell"
    assert found <= 2


@pytest.mark.parametrize(("telling", "given"), [(3, False), (7, False), (8, True)])
def test_no_p_value_together_where_the_approximation_does_not_hold(telling: int, given: bool) -> None:
    some: list[list[Answer]] = [[i >= telling] for i in range(30)]
    data = compared(run({"a": some, "b": some, "c": [[True]] * 30}))
    found = data["groups"][0]["omnibus"]
    assert (found["telling"], found["telling_needed"]) == (telling, 8)
    assert (found["p"] is not None, found["adjusted_p"] is not None) == (given, given)
    assert data["family"]["omnibus_tests"] == int(given)
    if not given:
        assert found["says"].startswith(
            "not decided: any difference among A, B, C; Cochran's Q is read off the chi-square"
        )
        assert f"{telling} cases tell them apart here (30 cases)" in found["says"]


def test_all_together_rests_on_the_cases_that_all_were_observed_on() -> None:
    answers: dict[str, list[list[Answer]]] = {name: [[True], [False], [True], [False]] for name in "abc"}
    answers["c"][0] = ["timeout"]
    group = compared(run(answers))["groups"][0]
    assert group["ranking"]["cases"] == 3
    assert [pair["difference"]["pairs"] for pair in group["pairs"]] == [4, 3]


def test_repeats_show_trying_again_and_always_succeeding_apart() -> None:
    answers: dict[str, Any] = {"a": [[True, True, False]] * 2, "b": [[True, True, True], [False, None, None]]}
    rows = {(r["unit"], r["k"]): r for r in compared(run(answers))["groups"][0]["repeats"]}
    assert rows["A", 2]["pass_at_k"]["value"] == 1.0
    assert rows["A", 2]["pass_hat_k"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert (rows["A", 3]["pass_at_k"]["value"], rows["A", 3]["pass_hat_k"]["value"]) == (1.0, 0.0)
    assert (rows["B", 1]["cases"], rows["B", 3]["cases"]) == (2, 1)
    assert of_table(3, 1, 1, 3)["groups"][0]["repeats"] == []


# --------------------------------------------------------------------------------------------------------------- shown


def everything() -> dict[str, Any]:
    rng = random.Random(7)
    of = suite(cases(24, [f"f{i // 2}" for i in range(24)]))
    answers: dict[str, Any] = {
        name: [[rng.random() < skill for _ in range(3)] for _ in range(24)]
        for name, skill in (("acme/atlas-large-2026", 0.7), ("acme/atlas-mini", 0.4), ("local/qwen", 0.6))
    }
    answers["local/qwen"][2] = ["rate_limited"] * 3
    entries = {"local/qwen": entry("local/qwen", stand_in=True)}
    return compared(run(answers, of=of, entries=entries, status="interrupted"), family="all")


def test_the_same_input_gives_the_same_bytes_and_another_seed_other_intervals() -> None:
    one, other = everything(), everything()
    assert dump_faithful(one, sort_keys=True) == dump_faithful(other, sort_keys=True)
    assert render_comparison(one) == render_comparison(other)
    assert comparison_text(one) == comparison_text(other)
    planted = skilled(9, {"a": 0.5, "b": 0.7}, repeats=7)
    found, seeded = (only_pair(compared(planted, seed=seed))["difference"] for seed in (0, 1))
    assert (seeded["p"], seeded["difference"]) == (found["p"], found["difference"])
    assert (seeded["low"], seeded["high"]) != (found["low"], found["high"])


def test_the_order_in_which_verdicts_stand_changes_nothing() -> None:
    planted = skilled(9, {"a": 0.5, "b": 0.7}, repeats=3)
    before = dump_faithful(compared(planted), sort_keys=True)
    random.Random(1).shuffle(planted.rows)
    assert dump_faithful(compared(planted), sort_keys=True) == before


@pytest.mark.parametrize("width", [80, 100, 140])
def test_tables_fit_and_hold_every_sentence(width: int) -> None:
    data = everything()
    text = comparison_text(data, width=width)
    assert max(map(len, text.splitlines())) <= width
    flat = re.sub(r"\s+", " ", text)
    for pair in data["groups"][0]["pairs"]:
        for said in (*pair["says"], pair["paired"]):
            assert said in flat
    assert "[stand-in, interrupted]" in flat
    assert "pass^k" in flat
    assert "diff." in text


def test_the_page_is_whole_and_draws_every_difference() -> None:
    data = everything()
    page = render_comparison(data)
    assert "http://" not in page.replace("http-equiv", "")
    assert "<script" not in page
    assert " style=" not in page
    assert page.count('class="ci"') == 3
    for pair in data["groups"][0]["pairs"]:
        assert pair["says"][0].replace("<", "&lt;") in page
    drawing = ET.fromstring(str(forest(data["groups"][0]["pairs"])))
    dots = [float(dot.get("cx", "nan")) for dot in drawing.iter("circle")]
    zero = next(float(p.get("d", "")[1:].split()[0]) for p in drawing.iter("path") if p.get("class") == "zero")
    found = [pair["difference"]["difference"] for pair in data["groups"][0]["pairs"]]
    assert [dot > zero for dot in dots] == [difference > 0 for difference in found]
    scale = max(dots[0] - zero, zero - dots[0]) / abs(found[0])
    assert [dot - zero for dot in dots] == pytest.approx([scale * each for each in found], abs=0.5)


def test_intervals_of_any_width_are_drawn_inside_the_picture() -> None:
    for cells in ((1, 0, 0, 0), (900, 3, 1, 900), (0, 50, 0, 0), (0, 0, 50, 0)):
        drawing = ET.fromstring(str(forest(of_table(*cells)["groups"][0]["pairs"])))
        for path in drawing.iter("path"):
            for x in re.findall(r"[MH](-?[\d.]+)", path.get("d", "")):
                assert 90 <= float(x) <= 590


HOSTILE = "</style><script>x</script>\x1b[31m[bold]\u202egnp"


def test_foreign_names_are_inert() -> None:
    of = suite(cases(3), name=HOSTILE)
    planted = run(
        {HOSTILE: [[True], [False], [True]], "b": [[True]] * 3},
        of=of,
        run_id=HOSTILE,
        entries={HOSTILE: entry(HOSTILE, extra={HOSTILE: HOSTILE})},
    )
    data = compared(planted)
    page, text = render_comparison(data), comparison_text(data)
    for shown in (page, text):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "<script" not in page
    assert "[bold]" in text


def test_a_rate_over_what_models_did_is_marked_as_one() -> None:
    data = of_table(4, 2, 3, 1, metric="exact")
    marked = "The rate's denominator depends on what a model did"
    assert marked in comparison_text(data)
    assert marked in render_comparison(data).replace("&#39;", "'")


def test_a_group_without_a_declared_pair_says_so() -> None:
    planted = run({"a": [[True]] * 2, "b": [[True]] * 2, "c": [[True]] * 2})
    required = run({"b": [[True]] * 2, "c": [[True]] * 2}, experiment="required")
    plan = planted.manifest.plan + required.manifest.plan
    joined = Planted(structs.replace(planted.manifest, plan=plan), planted.suites, planted.rows + required.rows)
    data = compared(joined)
    assert data["groups"][1]["pairs"] == []
    why = "the baseline A has no trials in this suite and experiment; B, C have"
    assert why in " ".join(comparison_text(data).split())
    assert why in render_comparison(data)
    declared = compared(joined, family="A:B,A:C")["groups"]
    assert declared[0]["no_pair"] is None
    assert "of none of the declared pairs (A:B,A:C) have both units trials" in declared[1]["no_pair"]


def test_a_hash_is_shown_short_and_a_missing_value_as_a_dash() -> None:
    one = run({"m": [[True]] * 3})
    other_suite = suite(cases(3), files={"system.txt": "9" * 64, "tools.core.json": "2" * 64, "cases.jsonl": "3" * 64})
    other = run({"m": [[True]] * 3}, of=other_suite, run_id="run-2", entries={"m": entry("m", template="chatml")})
    text = comparison_text(compared(one, other), width=120)
    assert re.search(r"prompt +sha256 1{12} +sha256 9{12}\b", text)
    assert re.search(r"template +– +chatml", text)


def test_colour_is_the_consoles_business(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(everything(), Console(width=100, force_terminal=True, color_system="standard"))
    assert "\x1b[" in capsys.readouterr().out
