"""What `callscope audit sample` draws from: a suite, or a run, as its options say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from callscope.cli._console import say
from callscope.errors import InputError

if TYPE_CHECKING:
    from callscope.audit.material import Material

__all__ = ["material_of", "prior_notice"]


def prior_notice(counts: Mapping[str, int], sampled: Mapping[str, int]) -> None:
    """Says so where the sampled classes are not in the proportion of the population's, beyond rounding. `sampled` holds
    the classes that were asked for."""
    from callscope.audit.sample import allocate

    size = sum(sampled.values())
    kept = allocate(size, {name: counts[name] for name in sampled})
    if any(abs(kept[name] - sampled[name]) > 1 for name in sampled):
        shares = ", ".join(f"{number} {name}" for name, number in kept.items())
        say(f"The class prior is not kept; in a sample of {size} that would be {shares}")


def material_of(
    source: str, design: str, suites: Sequence[str], models: Sequence[str], experiments: Sequence[str]
) -> Material:
    from callscope.audit.material import of_run, of_suites
    from callscope.runs import open_run
    from callscope.suites import load_suite

    is_run = Path(source).is_file() or (Path(source) / "manifest.json").exists()
    if not is_run:
        if design == "judge":
            hint = "Pass the folder of a run: `callscope run` makes one"
            raise InputError("an audit of a judge samples the trials of a run", found=source, hint=hint)
        for flag, given in (("--suite", suites), ("--model", models), ("--experiment", experiments)):
            if given:
                raise InputError("chooses among what a run holds, and this is a suite", field=flag, found=source)
        loaded = load_suite(source)
        return of_suites({loaded.name: loaded})
    run = open_run(source)
    for name in suites:
        if name not in run.suites:
            known = f"one of {', '.join(run.suites)}"
            raise InputError("the run has no such suite", field="--suite", found=name, expected=known)
    chosen = {name: each for name, each in run.suites.items() if not suites or name in suites}
    if design == "reference":
        if models or experiments:
            raise InputError("choose trials, and an audit of references samples cases", field="--model, --experiment")
        return of_suites(chosen, run_id=run.manifest.run_id)
    derived = (each for each in run.derived() if each.verdict.suite in chosen)
    routings = {block.experiment: block.settings.routing for block in run.manifest.plan}
    return of_run(derived, chosen, run.manifest.run_id, models=models, experiments=experiments, routings=routings)
