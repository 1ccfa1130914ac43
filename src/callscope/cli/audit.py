"""`callscope audit`: samples for human review, the review page, sheets, agreement, corrections, published tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.text import Text

from callscope.cli._audit_source import material_of, prior_notice
from callscope.cli._console import out as console
from callscope.cli._console import put, say
from callscope.errors import EnvironmentProblem, InputError, RunFolderError

if TYPE_CHECKING:
    from callscope.audit.store import AuditFolder

__all__ = ["audit"]

_Flag = Annotated[bool, Parameter(negative="")]
_Names = Annotated[tuple[str, ...], Parameter(negative="")]

audit = App(name="audit", help_format="plaintext", help_epilogue="", version_flags=())


@audit.command
def sample(
    source: str,
    /,
    *,
    design: Literal["reference", "judge"],
    out: Path,
    seed: int | None = None,
    size: int | None = None,
    per_class: Literal["prior", "equal"] | None = None,
    quota: _Names = (),
    allow_fewer: _Flag = False,
    suite: _Names = (),
    model: _Names = (),
    experiment: _Names = (),
) -> int:
    """Draw a sample for review: seeded, the same on every machine.

    Without --size and --quota a design's preset is drawn: 250 positive and 50 negative cases (reference), or 100
    correct, 50 missed, 50 spurious and 100 parameter-error trials (judge).

    Example: callscope audit sample suites/support --design reference --size 60 --out audits/support

    Parameters
    ----------
    source:
        A run folder, or for references a suite: a bundled suite's name or a suite folder.
    design:
        reference: people check the gold of cases. judge: people attribute trials, and are compared with the judge.
    out:
        The audit's folder, a new one.
    seed:
        Default: 20260725.
    size:
        So many in all, divided over the classes as --per-class says.
    per_class:
        With --size. prior: in proportion to how frequent each class is (the default); equal: the same of each.
    quota:
        STRATUM=COUNT, such as correct=100; may be given several times. Strata that are not named get none.
    allow_fewer:
        Where a stratum holds too few, take what there is.
    suite:
        Of a run: only the suite of this name; may be given several times.
    model:
        Of a run, for a judge: only trials of the model of this label; may be given several times.
    experiment:
        Of a run, for a judge: only trials of this experiment; may be given several times.
    """
    from callscope.audit.designs import DESIGNS, PRESET_SEED, quotas_from
    from callscope.audit.sample import allocate, draw
    from callscope.audit.store import AuditFolder
    from callscope.audit.tables import sample_table

    if size is not None and quota:
        raise InputError(
            "say either how many in all, or how many of each", field="--size", hint="Drop --quota or --size"
        )
    if per_class is not None and size is None:
        raise InputError("divides --size, and there is none", field="--per-class", hint="Add --size N")
    chosen, seed = DESIGNS[design], PRESET_SEED if seed is None else seed
    material = material_of(source, design, suite, model, experiment)
    counts = {name: sum(unit.stratum == name for unit in material.units) for name in chosen.strata}
    if size is not None:
        per_class = per_class or "prior"
        quotas = allocate(size, counts, per_class)
    else:
        quotas = quotas_from(quota, chosen) if quota else dict(chosen.quotas)
    drawn = draw(material.units, quotas, seed, chosen, allow_fewer=allow_fewer)
    folder = AuditFolder.create(out, material, drawn, seed, per_class)
    console().print(sample_table(drawn.strata, chosen.units))
    for why, number in material.left_out.items():
        say(f"Left out, since nothing is attributed or can be judged: {number} {chosen.units} ({why})")
    for name, stratum in drawn.strata.items():
        if stratum.sampled < stratum.wanted:
            say(f"Fewer than asked for: {name} has {stratum.population}, and {stratum.wanted} were wanted")
    if design == "reference":
        prior_notice(counts, {name: each.sampled for name, each in drawn.strata.items() if each.wanted})
    say(f"Written: {folder.path} ({len(folder.items)} items, seed {seed})")
    say(f"Review them with: callscope audit serve {folder.path} --reviewers NAME,NAME,NAME")
    return 0


@audit.command
def serve(folder: Path, /, *, reviewers: str, port: int = 0) -> int:
    """Show the items to reviewers, on this machine alone; each has a link of their own. Ends with Ctrl-C.

    Every answer is on the disk before it is confirmed. Started again on the same --port, the same links go on.
    The reviewer name `adjudicator` is shown the items on which reviewers differ, with what they said.

    Example: callscope audit serve audits/support --reviewers ann,ben,cy --port 8765

    Parameters
    ----------
    folder:
        The audit's folder.
    reviewers:
        Names, joined by commas.
    port:
        The port on 127.0.0.1; 0 takes a free one.
    """
    import asyncio

    from callscope.audit.store import AuditFolder, check_names

    names = [name.strip() for name in reviewers.split(",")]
    check_names(names, field="--reviewers")
    if not 0 <= port <= 65535:
        raise InputError("there is no such port", field="--port", found=port, expected="0 to 65535")
    opened = AuditFolder.open(folder)
    check_names(names, field="--reviewers", there=opened.known_names())
    with opened.lock():
        asyncio.run(_serve(opened, names, port))
    return 0


async def _serve(folder: AuditFolder, names: Sequence[str], port: int) -> None:
    import asyncio
    import signal

    from callscope.audit.server import ReviewServer

    server = ReviewServer(folder, folder.tokens(names))
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    try:
        for name, link in (await server.start(port)).items():
            put(f"{name}\t{link}\n".encode())
        sys.stdout.flush()
        say("Each link is one reviewer's own. Ctrl-C ends; what is answered stays.")
        await stopped.wait()
    finally:
        await server.stop()


@audit.command
def export(folder: Path, /, *, csv: Path | None = None, jsonl: Path | None = None, reviewer: str | None = None) -> int:
    """Write a sheet to fill in, for those who prefer a spreadsheet to the page.

    Example: callscope audit export audits/support --csv ann.csv --reviewer ann

    Parameters
    ----------
    folder:
        The audit's folder.
    csv:
        The CSV file to write.
    jsonl:
        The JSON Lines file to write.
    reviewer:
        In this reviewer's order, with what they answered so far; `adjudicator` gets what reviewers differ in.
    """
    from callscope.audit.corrections import undecided
    from callscope.audit.queue import disputed, order_for
    from callscope.audit.sheets import to_csv, to_jsonl
    from callscope.audit.store import ADJUDICATOR, AuditFolder, check_names
    from callscope.capture.folder import write_atomically

    if csv is None and jsonl is None:
        raise InputError("say what to write", field="export", expected="--csv FILE or --jsonl FILE")
    opened = AuditFolder.open(folder)
    items, answers = list(opened.items), {}
    if reviewer is not None:
        check_names([reviewer], field="--reviewer", there=opened.known_names())
        answers = opened.answers(reviewer)
        items = [opened.by_id[item] for item in order_for(reviewer, opened.items, opened.about.seed)]
    if reviewer == ADJUDICATOR:
        everybody = {name: opened.answers(name) for name in opened.reviewers()}
        open_ = disputed(opened.items, everybody).keys() | undecided(opened.items, everybody)
        items = [item for item in items if item.id in open_ or item.id in answers]
    try:
        if csv is not None:
            text = to_csv(opened.about.design, items, answers)
            write_atomically(csv, b"\xef\xbb\xbf" + text.encode("utf-8", "replace"))  # the mark makes Excel read UTF-8
        if jsonl is not None:
            write_atomically(jsonl, to_jsonl(items, answers))
    except RunFolderError as error:
        raise EnvironmentProblem(str(error)) from None
    say(f"Written: {csv or jsonl} ({len(items)} items)")
    return 0


@audit.command(name="import")
def import_(folder: Path, file: Path, /, *, reviewer: str) -> int:
    """Read a filled sheet back. Rows that say nothing new are passed over; nothing is taken of a sheet with a fault.

    Example: callscope audit import audits/support ann.csv --reviewer ann

    Parameters
    ----------
    folder:
        The audit's folder.
    file:
        A sheet as `callscope audit export` wrote it, filled in.
    reviewer:
        Whose answers they are.
    """
    from datetime import UTC, datetime

    from msgspec.structs import replace

    from callscope.audit.sheets import read_sheet
    from callscope.audit.store import AuditFolder, check_names

    check_names([reviewer], field="--reviewer")
    opened = AuditFolder.open(folder)
    check_names([reviewer], field="--reviewer", there=opened.known_names())
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    with opened.lock():
        before = opened.answers(reviewer)
        answers = read_sheet(data, opened.about.design, opened.by_id, before, file=str(file))
        at = datetime.now(UTC).isoformat(timespec="seconds")
        log = opened.log(reviewer)
        for answer in answers:
            log.append(replace(answer, at=at))
        log.close()
    whole = len(opened.answers(reviewer))
    say(f"{reviewer}: {len(answers)} answers taken; {whole} of {len(opened.items)} items have an answer")
    return 0


@audit.command
def agreement(folder: Path, /, *, draws: int = 2000, json: _Flag = False) -> int:
    """Show how far reviewers agree, and what is to be adjudicated; writes agreement.json into the folder.

    Example: callscope audit agreement audits/support

    Parameters
    ----------
    folder:
        The audit's folder.
    draws:
        How often the bootstrap of each interval draws.
    json:
        Print agreement.json instead of the tables.
    """
    import msgspec

    from callscope.audit.findings import find
    from callscope.audit.store import AGREEMENT, AuditFolder
    from callscope.audit.stratified import Resampling
    from callscope.audit.tables import agreement_tables
    from callscope.capture.folder import write_atomically
    from callscope.jsontext import dump_faithful

    if draws < 1:
        raise InputError("must be at least 1", field="--draws", found=draws)
    opened = AuditFolder.open(folder)
    found = find(opened, Resampling(draws=draws))
    data = dump_faithful(msgspec.to_builtins(found), indent=2) + b"\n"
    try:
        write_atomically(folder / AGREEMENT, data)
    except RunFolderError as error:
        raise EnvironmentProblem(str(error)) from None
    if json:
        put(data)
        return 0
    shown = console()
    for part in agreement_tables(found):
        shown.print(part)
    return 0


@audit.command
def correct(
    folder: Path, /, *, suite: str, version: str, out: Path, why: str | None = None, partial: _Flag = False
) -> int:
    """Write a new version of a suite with the gold that reviewers settled. The old one is not touched.

    Example: callscope audit correct audits/support --suite suites/support --version 1.1.0 --out suites/support-1.1

    Parameters
    ----------
    folder:
        The audit's folder.
    suite:
        The suite that was audited: a bundled suite's name or a suite folder.
    version:
        The new version; one that was never used.
    out:
        The new suite's folder.
    why:
        What versions.json says of the new version (default: who corrected how many cases).
    partial:
        Correct what is settled and leave the rest as it is, instead of stopping.
    """
    from callscope.audit.corrections import corrected_files, settle
    from callscope.audit.store import ADJUDICATOR, AuditFolder
    from callscope.suites import load_suite
    from callscope.suites.files import OVERLAY

    opened, loaded = AuditFolder.open(folder), load_suite(suite)
    sealed = [kept for kept in opened.sealed if kept.suite == loaded.name]
    if not sealed:
        known = ", ".join(opened.about.source.suites)
        raise InputError("no case of this suite was audited", field="--suite", found=loaded.name, expected=known)
    if OVERLAY in loaded.sources:
        raise InputError(
            "its cases are another suite's", field="--suite", found=suite, hint="Correct the one it extends"
        )
    names = opened.reviewers()
    answers = {name: opened.answers(name) for name in names}
    corrections = settle(opened.by_id, sealed, answers, opened.answers(ADJUDICATOR))
    for case, reason in corrections.open.items():
        console().print(Text(f"open     {case}: {reason}"))
    if corrections.open and not partial:
        hint = "Let them be decided (serve --reviewers adjudicator), or correct only the others with --partial"
        raise InputError(
            "not everything is settled", file=folder, found=f"{len(corrections.open)} cases open", hint=hint
        )
    if not corrections.gold:
        raise InputError("there is nothing to correct", file=folder, found="no settled case with corrected gold")
    here = Path(suite)
    extra = {file.name: file.read_bytes() for file in (here / "versions.json",) if file.is_file()}
    said = why or f"{len(corrections.gold)} cases corrected after review by {', '.join(names)}"
    files = corrected_files(loaded, extra, sealed, corrections, version, said)
    _write_suite(out, here if here.is_dir() else None, files)
    for case in corrections.gold:
        console().print(Text(f"corrected {case}"))
    say(f"Written: {out} ({loaded.name} {version}, {len(corrections.gold)} cases corrected)")
    return 0


def _write_suite(out: Path, here: Path | None, files: dict[str, bytes]) -> None:
    """A new folder with these files, and with whatever else stood beside the old ones (a datasheet, a licence)."""
    from callscope.audit.store import write_new_folder

    try:
        beside = {
            file.name: file.read_bytes()
            for file in (() if here is None else sorted(here.iterdir()))
            if file.is_file() and file.name not in files and not file.name.startswith(".")
        }
    except OSError as error:
        raise EnvironmentProblem(f"{here}: cannot be read: {error.strerror}") from None
    first = {name: data for name, data in files.items() if name != "cases.jsonl"}
    write_new_folder(out, beside | first | {"cases.jsonl": files["cases.jsonl"]}, what="the suite")


audit.command(
    "callscope.cli.audit_check_table:check_table",
    name="check-table",
    help="""Check whether the percentages of a published table are possible.

Exit code 0 where every row is consistent, 1 where one is impossible or needs other denominators.

Example: callscope audit check-table table.csv --mix original""",
)
