"""The document's exhibits for any run: Table 1, Table 2, Figures 3 and 4, and the routing decisions.

A preset chooses which grids and pictures are made of which groups; what a figure is, is said where it is computed.
Tables 4 and 5 are made of an audit's findings, by `audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from callscope.errors import InputError
from callscope.reports.across import Options, Source, across, once
from callscope.reports.columns import Cell, group_title, model_name, plural
from callscope.reports.difficulty import MIXES, EmptyStratum, Estimate, Mix, under_mix, weights_negatives
from callscope.reports.exhibits.draw import MOST_MODELS, bars_beside, levels_figure
from callscope.reports.exhibits.parts import Exhibit, Grid, Picture, exact_percent, exact_rate
from callscope.reports.queried import (
    class_words,
    denominators_grid,
    kinds_grid,
    measures_grid,
    negatives_grid,
    policies_grid,
    recall_of,
    routing_grids,
)
from callscope.reports.queries import CLASSES, LEVELS, SUBTYPES, UNDECLARED

__all__ = ["PRESETS", "Preset", "exhibits_of"]

Preset = Literal["table1", "table2", "figure3", "figure4", "routing"]
PRESETS: tuple[Preset, ...] = get_args(Preset)

Group = Mapping[str, Any]

_MIXED = ("recall", "accuracy", CLASSES[0], CLASSES[1], *SUBTYPES, CLASSES[2])


def exhibits_of(
    preset: Preset | Literal["all"], sources: Sequence[Source], options: Options, mixes: Sequence[Mix] = ()
) -> list[Exhibit]:
    """The exhibits of a preset, or of all, from one or several runs; `mixes` stand beside the document's two.

    Groups of one suite, version and experiment stand together, from whichever run they come. Raises InputError where
    the runs hold nothing to show, or the same model on the same suite and experiment twice.
    """
    once(sources)
    groups = [group for source in sources for group in source.summary["groups"]]
    queried = [found for found in _together(groups) if any(_shown(group) for group in found)]
    made: list[Exhibit] = []
    for name in PRESETS if preset == "all" else (preset,):
        if name == "table2":
            made += [across(sources, options)] if preset != "all" or queried else []
        elif name == "routing":
            made += _routing(groups)
        else:
            fits, one = _OF_GROUPS[name]
            chosen = [[group for group in found if _shown(group) and fits(group)] for found in queried]
            made += [one(found, options, (*MIXES, *mixes)) for found in chosen if found]
    if not made:
        raise InputError(
            _NOTHING.get(preset, "no trial of these runs has a place in the confusion matrix"),
            found=", ".join(source.name for source in sources),
            field="--preset",
        )
    return made


_NOTHING = {
    "routing": "no routing decision can be read off these runs",
    "figure3": "no decided positive of these runs states its difficulty",
}


def _together(groups: Sequence[Group]) -> list[list[Group]]:
    found: dict[tuple[Any, ...], list[Group]] = {}
    for group in groups:
        found.setdefault((group["suite"], group["suite_version"], group["experiment"]), []).append(group)
    return list(found.values())


def _shown(group: Group) -> bool:
    """Whether a group has a confusion matrix: not one decision by itself, and something was decided."""
    trials, routing = group["queries"]["trials"], group["routing"]
    if routing is not None and routing["isolated"]:
        return False
    return any(trials[state] for state in ("tp", "fn", "fp", "tn", "both_empty", "guessed"))


def _about(groups: Sequence[Group]) -> str:
    return group_title(groups[0])


def _table1(groups: Sequence[Group], options: Options, mixes: Sequence[Mix]) -> Exhibit:
    whole = measures_grid(groups, options.policy, strict=options.strict)
    whole = whole._replace(heading="As sampled: the run's own mix")
    if any(_levelled(group) for group in groups):
        mixed = [_mix_grid(groups, mix, options) for mix in mixes]
    else:
        whole = whole._replace(notes=(*whole.notes, "no case states its difficulty, so no other mix is defined"))
        mixed = []
    beside = [denominators_grid(groups), policies_grid(groups, strict=options.strict), kinds_grid(groups)]
    kinds = negatives_grid(groups)
    parts = (whole, *mixed, *beside, *([kinds] if kinds else []))
    data = {
        "rows": [
            {
                **_who(group),
                "queries": {name: each for name, each in group["queries"].items() if name != "levels"},
                "mixes": {mix.name: _mix_data(group, mix, options) for mix in mixes},
            }
            for group in groups
        ],
        **_options(options),
    }
    return Exhibit("table1", "Table 1. Models under mixes of difficulty", _about(groups), parts, data)


def _who(group: Group) -> dict[str, Any]:
    return {name: group[name] for name in ("suite", "suite_version", "experiment", "model")}


def _options(options: Options) -> dict[str, Any]:
    return {"both_empty": options.policy, "strict_extra": options.strict}


def _levelled(group: Group) -> bool:
    """Whether any decided positive states its difficulty."""
    return any(group["queries"]["levels"][level]["positives"]["recall"]["n"] for level in LEVELS)


def _mixed(group: Group, mix: Mix, name: str, options: Options) -> Estimate | EmptyStratum:
    try:
        return under_mix(group["queries"], mix, name, options.policy, strict=options.strict)
    except EmptyStratum as empty:
        return empty


def _mixed_names(options: Options) -> tuple[str, ...]:
    return (*_MIXED, *(("extra_call",) if options.strict else ()), "over_recall")


def _mix_grid(groups: Sequence[Group], mix: Mix, options: Options) -> Grid:
    names = _mixed_names(options)
    rows = []
    for group in groups:
        cells = [_estimate_cell(_mixed(group, mix, name, options)) for name in names]
        rows.append((model_name(group), (*cells, *_strata_cells(group, options))))
    named = class_words(groups)
    columns = [named.get(name, name.replace("_", " ")) for name in names]
    columns += [f"{what}: {' / '.join(LEVELS)}" for what in ("positives", "negatives")]
    notes = [
        f"post-stratified: the rates of the levels, weighted {mix.text}; no trial is drawn again",
        *_weighting(groups, options),
    ]
    return Grid(f"{mix.name} {mix.text}", "model", tuple(columns), tuple(rows), tuple(notes))


def _estimate_cell(found: Estimate | EmptyStratum) -> Cell:
    if isinstance(found, EmptyStratum):
        return Cell("not defined", f"no {found.stratum}s" if found.stratum != "negative" else "no negatives")
    return Cell(exact_percent(found.rate), f"[{100 * found.low:.1f}–{100 * found.high:.1f}]")


def _strata_cells(group: Group, options: Options) -> tuple[Cell, Cell]:
    levels = group["queries"]["levels"]
    positives = [levels[level]["positives"]["recall"] for level in LEVELS]
    negatives = [levels[level]["policies"][options.policy]["over_recall"] for level in LEVELS]
    return (
        Cell(" · ".join(f"{rate['k']}/{rate['n']}" for rate in positives), "recalled"),
        Cell(" · ".join(f"{rate['k']}/{rate['n']}" for rate in negatives), "over"),
    )


def _weighting(groups: Sequence[Group], options: Options) -> list[str]:
    both = [group for group in groups if weights_negatives(group["queries"], options.policy)]
    alone = [group for group in groups if group not in both]
    said = []
    if both:
        names = "" if not alone else f" ({', '.join(map(model_name, both))})"
        said.append(
            f"accuracy: the mix weights positives and negatives, each by itself{names}; the share of positives stays"
        )
    if alone:
        names = "" if not both else f" ({', '.join(map(model_name, alone))})"
        said.append(f"accuracy: the mix weights the positives alone, for no negative states its difficulty{names}")
    for group in groups:
        level = group["queries"]["levels"][UNDECLARED]
        p, n = level["positives"]["recall"]["n"], level["policies"][options.policy]["over_recall"]["n"]
        if p or (n and group in both):
            left = [plural(p, "positive")] if p else []
            left += [plural(n, "negative")] if n and group in both else []
            said.append(f"{model_name(group)}: left out, for they state no difficulty: {', '.join(left)}")
    return said


def _mix_data(group: Group, mix: Mix, options: Options) -> dict[str, Any]:
    found = {name: _mixed(group, mix, name, options) for name in _mixed_names(options)}
    return {
        "shares": mix.shares,
        "weights_negatives": weights_negatives(group["queries"], options.policy),
        **{
            name: {"not_defined": f"no {each.stratum} trial"} if isinstance(each, EmptyStratum) else each.as_json()
            for name, each in found.items()
        },
    }


def _figure3(groups: Sequence[Group], options: Options, _: Sequence[Mix]) -> Exhibit:
    found = {id(group): _recall_by_level(group, options) for group in groups}
    stated = [*LEVELS, *([UNDECLARED] if any(levels[UNDECLARED]["n"] for levels in found.values()) else [])]
    rows = tuple(
        (model_name(group), tuple(exact_rate(found[id(group)][level]) for level in stated)) for group in groups
    )
    grid = Grid(
        "Recall by level", "model", tuple(stated), rows, (f"over decided positives of the level{_strictly(options)}",)
    )
    drawn = [(model_name(group), found[id(group)]) for group in groups]
    picture = Picture(
        "Recall by level, with 95 % intervals", levels_figure(drawn, LEVELS, "Recall by level"), _most(groups)
    )
    data = {"rows": [{**_who(group), "recall": found[id(group)]} for group in groups], **_options(options)}
    return Exhibit(
        "figure3",
        "Figure 3. Recall by level of difficulty",
        _about(groups),
        (picture, grid, denominators_grid(groups)),
        data,
    )


def _recall_by_level(group: Group, options: Options) -> dict[str, Mapping[str, Any]]:
    return {level: recall_of(part, strict=options.strict) for level, part in group["queries"]["levels"].items()}


def _strictly(options: Options) -> str:
    return "; an extra call makes a positive wrong (strict)" if options.strict else ""


def _most(groups: Sequence[Group]) -> tuple[str, ...]:
    return (f"The first {MOST_MODELS} of {len(groups)} models are drawn",) if len(groups) > MOST_MODELS else ()


def _figure4(groups: Sequence[Group], options: Options, _: Sequence[Mix]) -> Exhibit:
    def rates(group: Group) -> dict[str, Mapping[str, Any]]:
        block = group["queries"]
        over = block["policies"][options.policy]["over_recall"]
        return {CLASSES[0]: block["positives"][CLASSES[0]], "over_recall": over} | {
            name: block["positives"][name] for name in SUBTYPES
        }

    panels = ("miss recall", "over recall", "temporal", "missing arg.", "value")
    rows = tuple((model_name(group), tuple(exact_rate(rate) for rate in rates(group).values())) for group in groups)
    note = (
        "over recall is over negatives, all others over positives; in the picture the first two share a scale, and the"
        " last three"
    )
    grid = Grid("Miss and over recall, and the parameter errors", "model", panels, rows, (note,))
    drawn = [(model_name(group), list(rates(group).values())) for group in groups]
    svg = bars_beside(drawn, panels, (0, 0, 1, 1, 1), "Miss recall, over recall and parameter errors")
    picture = Picture("Miss and over recall, and the parameter errors, with 95 % intervals", svg, _most(groups))
    data = {"rows": [{**_who(group), **rates(group)} for group in groups], **_options(options)}
    return Exhibit(
        "figure4", "Figure 4. Where models fail", _about(groups), (picture, grid, denominators_grid(groups)), data
    )


_OF_GROUPS: Mapping[
    str, tuple[Callable[[Group], bool], Callable[[Sequence[Group], Options, Sequence[Mix]], Exhibit]]
] = {
    "table1": (_shown, _table1),
    "figure3": (_levelled, _figure3),
    "figure4": (_shown, _figure4),
}
"""Preset -> which groups it is about, and what makes it of those of one suite and experiment."""


def _routing(groups: Sequence[Group]) -> list[Exhibit]:
    suites: dict[tuple[Any, ...], list[Group]] = {}
    for group in groups:
        if group["routing"] is not None:
            suites.setdefault((group["suite"], group["suite_version"]), []).append(group)
    made = []
    for (suite, version), mine in suites.items():
        about = f"{suite} {version or ''}".rstrip()
        data = {"rows": [{**_who(group), **group["routing"]} for group in mine]}
        made.append(Exhibit("routing", "The three routing decisions", about, tuple(routing_grids(mine)), data))
    return made
