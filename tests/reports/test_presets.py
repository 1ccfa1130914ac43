"""The document's exhibits from planned runs: every table and picture, in every form, with its denominators."""

from __future__ import annotations

import io
import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from queries_kit import GPT, GPT_NEGATIVE, Planned, case, planned, run_of, source
from reports_runs import HOSTILE
from rich.console import Console

from callscope.contract import Settings
from callscope.errors import InputError
from callscope.reports import render_html, render_markdown, summarise, terminal_text
from callscope.reports.across import Options, Source
from callscope.reports.difficulty import read_mixes
from callscope.reports.exhibits.draw import MOST_MODELS, bars_beside, levels_figure
from callscope.reports.exhibits.forms import (
    exhibits_html,
    exhibits_json,
    exhibits_markdown,
    print_exhibits,
    svg_files,
)
from callscope.reports.exhibits.parts import Exhibit, Grid
from callscope.reports.presets import PRESETS, exhibits_of


def levelled(easy: int, medium: int, hard: int) -> list[Planned]:
    """Twenty positives a level with so many right, some negatives, and underspecified cases."""
    plans = planned("underspecified", {"asked": 2, "guessed": 1})
    for level, k in (("easy", easy), ("medium", medium), ("hard", hard)):
        plans += planned("positive", {"tp": k, "miss": 10 - k // 2, "temporal": 10 - (k + 1) // 2}, level=level)
        plans += planned("targeted_negative", {"tn": 4, "fp": 2}, level=level, negative_type="B")
    return plans


PLAIN = Options()


def exhibit(preset: Any, *sources: Source, options: Options = PLAIN, mixes: Any = ()) -> Exhibit:
    (one,) = exhibits_of(preset, sources, options, mixes)
    return one


def grids(one: Exhibit) -> dict[str, Grid]:
    return {part.heading: part for part in one.parts if isinstance(part, Grid)}


def cell(grid: Grid, row: str, column: str) -> tuple[str, str]:
    found = dict(grid.rows)[row][grid.columns.index(column)]
    return found.main, found.more


STRONG = source(run_of({"strong": levelled(18, 12, 4), "weak": levelled(10, 4, 0)}))


def test_table_1_prints_the_document_s_figures_of_gpt_5_4() -> None:
    plans = [*planned("positive", GPT), *planned("targeted_negative", GPT_NEGATIVE)]
    found = grids(exhibit("table1", source(run_of({"gpt-5.4": plans}))))
    whole = found["As sampled: the run's own mix"]
    assert cell(whole, "gpt-5.4", "recall")[0] == "1230/2500 49.20%"
    assert cell(whole, "gpt-5.4", "miss recall")[0] == "843/2500 33.72%"
    assert cell(whole, "gpt-5.4", "over recall")[0] == "166/500 33.20%"
    assert cell(whole, "gpt-5.4", "accuracy")[0] == "1564/3000 52.13%"
    assert "no case states its difficulty, so no other mix is defined" in whole.notes
    denominators = found["Denominators"]
    shown = [cell(denominators, "gpt-5.4", name)[0] for name in ("positives", "TP", "FN", "negatives", "FP", "TN")]
    assert shown == ["2500", "1230", "1270", "500", "166", "334"]


def test_table_1_has_the_documents_two_mixes_and_ones_own() -> None:
    found = grids(exhibit("table1", STRONG, mixes=read_mixes(["mine=1/0/0"])))
    assert [name for name in found if "/" in name] == [
        "original .40/.40/.20", "easy-weighted .60/.30/.10", "mine 1.00/.00/.00",
    ]  # fmt: skip
    assert cell(found["original .40/.40/.20"], "strong", "recall")[0] == "64.00%"  # .4*.9 + .4*.6 + .2*.2
    assert cell(found["easy-weighted .60/.30/.10"], "strong", "recall")[0] == "74.00%"
    assert cell(found["mine 1.00/.00/.00"], "strong", "recall")[0] == "90.00%"
    strata = cell(found["original .40/.40/.20"], "strong", "positives: easy / medium / hard")
    assert strata == ("18/20 · 12/20 · 4/20", "recalled")
    notes = found["original .40/.40/.20"].notes
    assert any("post-stratified" in note for note in notes)
    assert any("positives and negatives, each by itself" in note for note in notes)


def test_an_empty_level_is_not_defined_and_says_which() -> None:
    plans = [*planned("positive", {"tp": 2}, level="easy"), *planned("positive", {"tp": 1, "miss": 1}, level="medium")]
    found = grids(exhibit("table1", source(run_of({"m": plans}))), )  # fmt: skip
    assert cell(found["original .40/.40/.20"], "m", "recall") == ("not defined", "no hard positives")
    notes = found["original .40/.40/.20"].notes
    assert any("the positives alone, for no negative states its difficulty" in note for note in notes)
    data = exhibit("table1", source(run_of({"m": plans}))).data["rows"][0]["mixes"]["original"]
    assert data["recall"] == {"not_defined": "no hard positive trial"}


def test_cases_without_a_level_are_counted_beside_the_mix() -> None:
    plans = [*levelled(10, 10, 10), *planned("positive", {"tp": 3}), *planned("global_negative", {"fp": 2})]
    found = grids(exhibit("table1", source(run_of({"m": plans}))))["original .40/.40/.20"]
    assert "m: left out, for they state no difficulty: 3 positives, 2 negatives" in found.notes


def test_all_three_treatments_of_underspecified_cases_are_always_shown() -> None:
    found = grids(exhibit("table1", STRONG))["Underspecified cases, under all three treatments"]
    assert cell(found, "strong", "both empty")[0] == "2/3 66.67%"
    shown = [cell(found, "strong", f"accuracy {policy}")[0].split()[0] for policy in ("separate", "exclude", "tn")]
    assert shown == ["46/78", "46/79", "48/81"]
    assert {cell(found, "strong", f"recall {policy}")[0] for policy in ("separate", "exclude", "tn")} == {
        "34/60 56.67%"
    }


def test_figure_3_has_recall_by_level_with_counts() -> None:
    one = exhibit("figure3", STRONG)
    found = grids(one)["Recall by level"]
    assert [cell(found, "strong", level)[0] for level in ("easy", "medium", "hard")] == [
        "18/20 90.00%", "12/20 60.00%", "4/20 20.00%",
    ]  # fmt: skip
    assert one.data["rows"][1]["recall"]["hard"]["k"] == 0


def test_figure_4_has_misses_over_calls_and_the_three_parameter_errors() -> None:
    found = grids(exhibit("figure4", STRONG))["Miss and over recall, and the parameter errors"]
    assert found.columns == ("miss recall", "over recall", "temporal", "missing arg.", "value")
    assert cell(found, "strong", "over recall")[0] == "6/18 33.33%"
    assert cell(found, "strong", "temporal")[0] == "13/60 21.67%"


def test_models_of_several_runs_stand_in_one_table_and_other_versions_apart() -> None:
    second = source(run_of({"third": levelled(4, 4, 4)}), "second")
    assert [name for name, _ in grids(exhibit("figure3", STRONG, second))["Recall by level"].rows] == [
        "strong", "weak", "third",
    ]  # fmt: skip
    changed = run_of({"third": levelled(4, 4, 4)})
    data = json.loads(json.dumps(summarise(changed)).replace('"suite_version": "1"', '"suite_version": "2"'))
    assert len(exhibits_of("figure3", [STRONG, Source("changed", data)], Options())) == 2


def test_all_holds_every_preset_there_is_something_for() -> None:
    names = [each.name for each in exhibits_of("all", [STRONG], Options())]
    assert set(names) == set(PRESETS)
    negatives = source(run_of({"m": planned("global_negative", {"tn": 1})}))
    assert "figure3" not in [each.name for each in exhibits_of("all", [negatives], Options())]
    with pytest.raises(InputError, match="states its difficulty"):
        exhibits_of("figure3", [negatives], Options())


def test_a_routing_decision_by_itself_has_no_table_1() -> None:
    need = run_of({"m": levelled(4, 4, 4)}, experiment="need", settings=Settings(routing="need"))
    with pytest.raises(InputError, match="confusion matrix"):
        exhibits_of("table1", [source(need)], Options())
    assert [each.name for each in exhibits_of("all", [source(need)], Options())] == ["routing"]
    forced = run_of({"m": levelled(4, 4, 4)}, experiment="required", settings=Settings(tool_choice="required"))
    with pytest.raises(InputError, match="no routing decision"):
        exhibits_of("routing", [source(forced)], Options())


def all_of(*sources: Source) -> list[Exhibit]:
    return exhibits_of("all", sources, Options(), read_mixes(["mine=5/3/2"]))


def printed(exhibits: list[Exhibit], width: int = 100) -> str:
    out = io.StringIO()
    print_exhibits(exhibits, Console(file=out, width=width, no_color=True, highlight=False, force_terminal=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_terminal_shows_every_table_within_its_width(width: int) -> None:
    text = printed(all_of(STRONG), width)
    for title in ("Table 1.", "Table 2.", "Figure 3.", "Figure 4.", "The three routing decisions"):
        assert title in text
    assert max(len(line) for line in text.splitlines()) <= width
    assert "34/60" in text


def test_markdown_and_json_hold_the_same_counts() -> None:
    text = exhibits_markdown(all_of(STRONG))
    assert "34/60 56.67%" in text
    widths = {line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| strong |")}
    assert len(widths) > 1
    data = json.loads(exhibits_json(all_of(STRONG)))
    assert data["schema"] == "callscope/exhibits/1"
    (first,) = [each for each in data["exhibits"] if each["name"] == "table1"]
    recall = first["rows"][0]["queries"]["positives"]["recall"]
    assert (recall["k"], recall["n"]) == (34, 60)
    assert first["rows"][0]["mixes"]["mine"]["recall"]["rate"] == pytest.approx(0.5 * 0.9 + 0.3 * 0.6 + 0.2 * 0.2)


def test_the_same_run_gives_the_same_bytes_in_every_form() -> None:
    first, second = all_of(STRONG), all_of(STRONG)
    assert exhibits_json(first) == exhibits_json(second)
    assert exhibits_html(first, "x") == exhibits_html(second, "x")
    assert svg_files(first) == svg_files(second)


def hostile_sources() -> Source:
    models = {f"m{i} {text}": levelled(10, 5, i % 10) for i, text in enumerate(HOSTILE)}
    return source(run_of(models, suite=f"suite {HOSTILE[0]}", experiment="auto"))


def test_hostile_names_stay_text_in_every_form() -> None:
    made = all_of(hostile_sources())
    page = exhibits_html(made, HOSTILE[0])
    assert "<img" not in page
    assert "<script" not in page
    assert "\x1b" not in printed(made) + exhibits_markdown(made) + page
    for name, data in svg_files(made).items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+\.svg", name)
        root = ET.fromstring(data)
        assert {each.tag.rpartition("}")[2] for each in root.iter()} <= {
            "svg",
            "style",
            "text",
            "rect",
            "path",
            "title",
        }


def test_the_page_carries_its_pictures_and_loads_nothing() -> None:
    page = exhibits_html(all_of(STRONG), "run")
    assert page.count('<svg class="figure"') == 2
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="', page)


def bars(data: bytes) -> list[ET.Element]:
    return [
        each for each in ET.fromstring(data).iter("{http://www.w3.org/2000/svg}rect") if each.get("class") != "back"
    ]


def test_a_bar_is_as_long_as_its_rate() -> None:
    files = {name.partition("-")[0]: data for name, data in svg_files(exhibits_of("all", [STRONG], Options())).items()}
    assert set(files) == {"figure3", "figure4"}
    tall = [float(bar.get("height", "0")) for bar in bars(files["figure3"]) if "easy" in (bar[0].text or "")]
    assert tall == pytest.approx([220 * 0.9, 220 * 0.5])
    wide = {bar[0].text: float(bar.get("width", "0")) for bar in bars(files["figure4"])}
    missed = next(width for text, width in wide.items() if text and text.startswith("weak, miss recall"))
    over = next(width for text, width in wide.items() if text and text.startswith("weak, over recall"))
    assert missed / over == pytest.approx((23 / 60) / (6 / 18), rel=0.01)


def test_a_level_without_trials_is_no_bar_of_height_zero() -> None:
    rates = {"n": 0, "k": 0, "rate": None, "low": None, "high": None}
    some = {"n": 2, "k": 0, "rate": 0.0, "low": 0.0, "high": 0.6}
    drawn = str(levels_figure([("m", {"easy": some, "hard": rates})], ("easy", "hard"), "Recall"))
    assert drawn.count(">none</text>") == 1
    beside = str(bars_beside([("m", (rates, some))], ("a", "b"), (0, 0), "x"))
    assert beside.count("nothing decided") == 1


def test_a_figure_of_very_many_models_says_what_it_leaves_out() -> None:
    models = {f"m{i}": planned("positive", {"tp": 1, "miss": 1}, level="easy") for i in range(MOST_MODELS + 3)}
    one = exhibit("figure3", source(run_of(models)))
    assert f"The first {MOST_MODELS} of {MOST_MODELS + 3} models are drawn" in one.parts[0].notes
    assert len(grids(one)["Recall by level"].rows) == MOST_MODELS + 3


def test_every_report_has_the_query_level_measures_of_its_groups() -> None:
    run = run_of({"strong": levelled(18, 12, 4)})
    data = summarise(run)
    texts = {
        "terminal": terminal_text(data, width=160),
        "markdown": render_markdown(data).replace("&#58;", ":"),
        "html": render_html(run, data),
    }
    for form, written in texts.items():
        text = " ".join(written.split())
        assert "By query (PluginEval" in text, form
        assert "34/60 56.67%" in text, form
        assert "positives 60 (TP 34, FN 26), negatives 18 (FP 6, TN 12), both empty 2, guessed 1" in text, form
        assert "accuracy separate 46/78, exclude 46/79, tn 48/81" in text, form


def test_a_run_in_which_nothing_was_decided_has_no_such_section() -> None:
    run = run_of({"m": [Planned(case("a"), ("lost",))]})
    assert "By query" not in terminal_text(summarise(run))
    with pytest.raises(InputError, match="confusion matrix"):
        exhibits_of("table1", [source(run)], Options())


def test_strict_shows_the_class_that_makes_the_sum_one_again() -> None:
    plans = planned("positive", {"tp": 2, "tp+extra": 1, "miss": 1}, level="easy")
    found = grids(
        exhibit("table1", source(run_of({"m": plans})), options=Options(strict=True), mixes=read_mixes(["e=1/0/0"]))
    )
    whole = found["As sampled: the run's own mix"]
    shown = [cell(whole, "m", name)[0] for name in ("recall", "miss recall", "extra call")]
    assert shown == ["2/4 50.00%", "1/4 25.00%", "1/4 25.00%"]
    assert cell(found["e 1.00/.00/.00"], "m", "extra call")[0] == "25.00%"
