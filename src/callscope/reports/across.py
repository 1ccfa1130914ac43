"""Table 2: one row a model, one column group a benchmark, from any number of runs.

Several suites of one benchmark are joined by pooling their counts, so that every decided trial weighs the same; the
interval takes the suites as strata. A benchmark that a model was not run on is "not run", never a zero. Experiments
are not merged: a model with two of them on one benchmark has two rows. Forced choices and routing decisions, which
measure other things, are left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from callscope.errors import InputError
from callscope.reports.columns import Cell, absent, model_name, plural, words
from callscope.reports.difficulty import Stratum, post_stratified
from callscope.reports.exhibits.parts import Exhibit, Grid, exact_rate
from callscope.reports.numbers import DASH, RATE_DIGITS, rounded
from callscope.reports.queried import accuracy_of, benchmark_name, recall_of
from callscope.reports.queries import POLICIES, Policy
from callscope.reports.safe import one_line

__all__ = ["NOT_RUN", "Options", "Source", "across", "ordinary"]

NOT_RUN = "not run"
_OUTSIDE = ("undecided", "excluded", "not_observed", "not_run")

Group = Mapping[str, Any]


class Options(NamedTuple):
    """How exhibits count: underspecified cases, extra calls; whether Table 2 lists every suite."""

    policy: Policy = "separate"
    strict: bool = False
    full: bool = False


class Source(NamedTuple):
    """A run by the name it was given, and its summary."""

    name: str
    summary: Mapping[str, Any]


class _Row(NamedTuple):
    """A model, under one experiment where it has several on one benchmark."""

    model: str
    experiment: str | None
    label: str


def ordinary(group: Group) -> bool:
    """Whether all the decisions of a trial were the model's own, and made at once."""
    settings = group["settings"][0] if group["settings"] else {}
    return settings.get("tool_choice", "auto") == "auto" and settings.get("routing") is None


def across(sources: Sequence[Source], options: Options) -> Exhibit:
    """Table 2 of some runs.

    Raises InputError where two runs hold the same model on the same suite under the same experiment, or none holds an
    ordinary experiment.
    """
    once(sources)
    groups = [group for source in sources for group in source.summary["groups"]]
    plain = [group for group in groups if ordinary(group)]
    if not plain:
        raise InputError(
            "hold no experiment that can stand in a table across benchmarks",
            found=", ".join(source.name for source in sources),
            hint="Forced choices and routing decisions are left out; run the experiment `auto`",
        )
    columns = list(dict.fromkeys(_column(group) for group in plain))
    cells = {
        (row, column): [group for group in plain if _belongs(group, row) and _column(group) == column]
        for row in _rows(plain)
        for column in columns
    }
    suites = {
        column: tuple(dict.fromkeys(group["suite"] for group in plain if _column(group) == column))
        for column in columns
    }
    pooled = {place: _pooled(found, options) for place, found in cells.items()}
    checked = {column for (_, column), found in pooled.items() if found is not None and found["compatible"] is not None}
    notes = (*_notes(groups, plain, suites, options), *_unchecked(pooled, checked))
    grid = _grid(_rows(plain), columns, pooled, checked, suites, notes)
    parts = [grid, *(_by_suite(plain, column, options) for column in columns if options.full)]
    names = ", ".join(one_line(source.name, 80) for source in sources)
    return Exhibit(
        "table2", "Table 2. Models across benchmarks", names, tuple(parts), _data(_rows(plain), columns, pooled)
    )


def once(sources: Sequence[Source]) -> None:
    """Raise InputError where two runs hold the same model on the same suite under the same experiment."""
    seen: dict[tuple[Any, ...], str] = {}
    for source in sources:
        for group in source.summary["groups"]:
            key = tuple(group[name] for name in ("suite", "suite_version", "experiment", "model"))
            if key in seen:
                raise InputError(
                    f"the model {one_line(group['model'], 60)} on the suite {one_line(group['suite'], 60)} under"
                    f" {one_line(group['experiment'], 40)} is in two runs, and would count twice",
                    found=f"{seen[key]} and {source.name}",
                    hint="Leave one of the runs out",
                )
            seen[key] = source.name


def _column(group: Group) -> str:
    if group["benchmark"]:
        return benchmark_name(group["benchmark"])
    return f"{one_line(group['suite'], 40)} {one_line(group['suite_version'] or '', 20)}".rstrip()


def _rows(groups: Sequence[Group]) -> list[_Row]:
    rows: dict[_Row, None] = {}
    for group in groups:
        mine = [each for each in groups if each["model"] == group["model"]]
        places: dict[str, set[str]] = {}
        for each in mine:
            places.setdefault(_column(each), set()).add(each["experiment"])
        name = model_name(group)
        if all(len(found) == 1 for found in places.values()):
            rows[_Row(group["model"], None, name)] = None
        else:
            experiment = group["experiment"]
            rows[_Row(group["model"], experiment, f"{name} · {one_line(experiment, 40)}")] = None
    return list(rows)


def _belongs(group: Group, row: _Row) -> bool:
    return group["model"] == row.model and row.experiment in (None, group["experiment"])


def _pooled(groups: Sequence[Group], options: Options) -> dict[str, Any] | None:
    """The counts of the suites of a benchmark together; None where there is no suite."""
    if not groups:
        return None
    blocks = [group["queries"] for group in groups]
    theirs = [block["compatible"] for block in blocks if block["compatible"] is not None]
    return {
        "suites": [group["suite"] for group in groups],
        "experiments": sorted({group["experiment"] for group in groups}),
        "recall": _together(recall_of(block, strict=options.strict) for block in blocks),
        "accuracy": _together(accuracy_of(block, options.policy, strict=options.strict) for block in blocks),
        "compatible": _together(each["passed"] for each in theirs) if theirs else None,
        "says_nothing": sum(each["says_nothing"] for each in theirs),
        "nothing_for": _sums(each["nothing_for"] for each in theirs),
    }


def _sums(counted: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in counted:
        for name, count in each.items():
            found[name] = found.get(name, 0) + count
    return found


def _together(rates: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found = [rate for rate in rates if rate["n"]]
    if len(found) == 1:
        return dict(found[0])
    n = sum(rate["n"] for rate in found)
    if not n:
        return {"k": 0, "n": 0, "rate": None, "low": None, "high": None}
    strata = {str(i): Stratum(rate["k"], rate["n"], rate["effective"]) for i, rate in enumerate(found)}
    estimate = post_stratified({name: stratum.n / n for name, stratum in strata.items()}, strata)
    k = sum(rate["k"] for rate in found)
    bounds = {name: rounded(getattr(estimate, name), RATE_DIGITS) for name in ("low", "high")}
    return {"k": k, "n": n, "rate": rounded(k / n, RATE_DIGITS), **bounds}


def _grid(
    rows: Sequence[_Row],
    columns: Sequence[str],
    pooled: Mapping[tuple[_Row, str], dict[str, Any] | None],
    checked: set[str],
    suites: Mapping[str, tuple[str, ...]],
    notes: tuple[str, ...],
) -> Grid:
    headings: list[str] = []
    for column in columns:
        headings += [f"{column} recall", f"{column} accuracy"]
        headings += [f"{column}'s own checker"] if column in checked else []
    laid = []
    for row in rows:
        cells: list[Cell] = []
        for column in columns:
            found, width = pooled[row, column], 3 if column in checked else 2
            cells += [Cell(NOT_RUN)] * width if found is None else _filled(found, width, len(suites[column]))
        laid.append((row.label, tuple(cells)))
    return Grid("", "model", tuple(headings), tuple(laid), notes)


def _filled(found: Mapping[str, Any], width: int, suites: int) -> list[Cell]:
    short = f"{len(found['suites'])} of {suites} suites" if len(found["suites"]) < suites else ""
    cells = [exact_rate(found["recall"]), exact_rate(found["accuracy"])]
    if width == 3:
        cells.append(exact_rate(found["compatible"]) if found["compatible"] is not None else Cell("none"))
    if not short:
        return cells
    return [Cell(cell.main, ", ".join(filter(None, (cell.more, short)))) for cell in cells]


def _notes(
    groups: Sequence[Group], plain: Sequence[Group], suites: Mapping[str, tuple[str, ...]], options: Options
) -> tuple[str, ...]:
    several = [f"{column} ({len(names)})" for column, names in suites.items() if len(names) > 1]
    said = [f"underspecified cases: {options.policy}" + ("; strict: extra calls are errors" if options.strict else "")]
    if several:
        said.append(
            f"several suites: {', '.join(several)}; their counts are pooled, so a suite weighs by its decided trials"
        )
    left = sorted({one_line(group["experiment"], 40) for group in groups if not ordinary(group)})
    said += [f"left out, for they measure other things: experiments {', '.join(left)}"] if left else []
    said += [
        f"{column}: the models' denominators differ; `callscope compare` pairs them on the same cases"
        for column in suites
        if len(_sizes(plain, column, options)) > 1
    ]
    lost: dict[str, dict[str, int]] = {}
    for group in plain:
        counts = lost.setdefault(f"{model_name(group)} on {_column(group)}", {})
        for name in _OUTSIDE:
            said_so = absent(group) if name == "not_run" else words(name)
            counts[said_so] = counts.get(said_so, 0) + group["queries"]["trials"][name]
    for what, counts in lost.items():
        if any(counts.values()):
            beside = (f"{name} {count}" for name, count in counts.items() if count)
            said.append(f"in no denominator: {what}: {', '.join(beside)}")
    return (*said, *_treatments(plain, options))


def _unchecked(pooled: Mapping[tuple[_Row, str], dict[str, Any] | None], checked: set[str]) -> list[str]:
    """Why a benchmark's own checker says nothing of some or all trials of a row."""
    said = []
    for (row, column), found in pooled.items():
        if found is None or column not in checked:
            continue
        if found["compatible"] is None:
            said.append(f"none: {row.label} on {column}: its trials hold no verdict of the benchmark's own checker")
        elif found["says_nothing"]:
            why = ", ".join(f"{words(one_line(name, 60))} {count}" for name, count in found["nothing_for"].items())
            mark = "" if found["compatible"]["n"] else f"{DASH}: "
            trials = plural(found["says_nothing"], "trial")
            said.append(f"{mark}{row.label} on {column}: its own checker says nothing of {trials} ({why})")
    return said


def _treatments(plain: Sequence[Group], options: Options) -> list[str]:
    """Underspecified cases of each model and column, and the accuracy under every treatment of them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for group in plain:
        found.setdefault(f"{model_name(group)} on {_column(group)}", []).append(group["queries"])
    said = []
    for what, blocks in found.items():
        empty, guessed = (sum(block["trials"][name] for block in blocks) for name in ("both_empty", "guessed"))
        if empty + guessed:
            rates = (
                (policy, [accuracy_of(block, policy, strict=options.strict) for block in blocks]) for policy in POLICIES
            )
            each = (f"{policy} {sum(r['k'] for r in of)}/{sum(r['n'] for r in of)}" for policy, of in rates)
            said.append(f"both empty {empty}, guessed {guessed}: {what}: accuracy {', '.join(each)}; recall unchanged")
    return said


def _sizes(plain: Sequence[Group], column: str, options: Options) -> set[int]:
    sizes: dict[tuple[str, str], int] = {}
    for group in plain:
        if _column(group) == column:
            key = (group["model"], group["experiment"])
            n = accuracy_of(group["queries"], options.policy, strict=options.strict)["n"]
            sizes[key] = sizes.get(key, 0) + int(n)
    return set(sizes.values())


def _by_suite(plain: Sequence[Group], column: str, options: Options) -> Grid:
    mine = [group for group in plain if _column(group) == column]
    rows = []
    for group in mine:
        found = _pooled([group], options)
        assert found is not None
        label = f"{one_line(group['suite'], 60)} · {model_name(group)} · {one_line(group['experiment'], 40)}"
        rows.append((label, tuple(_filled(found, 3, 1))))
    return Grid(f"{column}, suite by suite", "suite", ("recall", "accuracy", "own checker"), tuple(rows))


def _data(
    rows: Sequence[_Row], columns: Sequence[str], pooled: Mapping[tuple[_Row, str], dict[str, Any] | None]
) -> dict[str, Any]:
    return {
        "rows": [
            {
                "model": row.model,
                "experiment": row.experiment,
                "benchmarks": {column: pooled[row, column] for column in columns},
            }
            for row in rows
        ]
    }
