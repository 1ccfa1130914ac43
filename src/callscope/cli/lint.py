"""`callscope lint`: faults in a suite, each with its place; exit code 1 where there is an error.

With `--for PROVIDER` also what that provider is known to refuse, ignore or drop, before any call.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from callscope.cli._console import out, put, say
from callscope.errors import InputError

if TYPE_CHECKING:
    from callscope.contract import Difference, Suite
    from callscope.suites import Finding

__all__ = ["lint"]


def lint(
    suite: str,
    /,
    *,
    for_: Annotated[tuple[str, ...], Parameter(name="--for", negative="")] = (),
    strict_tools: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    against: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Look for faults in a suite.

    Parameters
    ----------
    suite:
        A bundled suite's name or a suite folder.
    for_:
        A provider, a format, or provider:format: compares with its schema limits too; may be given several times.
    strict_tools:
        With --for: compare with the provider's strict schema mode.
    strict:
        Exit with 1 on warnings too.
    against:
        An earlier copy of the suite, or a run that used it: cases changed since then under the same version are an
        error.
    json:
        Print the findings as JSON.
    """
    import msgspec

    from callscope.jsontext import dump_faithful
    from callscope.suites import lint_suite, load_suite

    loaded = load_suite(suite)
    if strict_tools and not for_:
        raise InputError("says for which provider", field="--strict-tools", hint="Add --for PROVIDER")
    findings = lint_suite(loaded)
    for name in for_:
        findings.extend(_for_provider(loaded, name, strict=strict_tools))
    if against is not None:
        findings.extend(_since(loaded, against))
    if json:
        put(dump_faithful([msgspec.to_builtins(one) for one in findings], indent=2) + b"\n")
    else:
        console = out()
        for one in findings:
            place = f"{one.file}:{one.line}" if one.line is not None else one.file
            case = f" {one.case_id}" if one.case_id else ""
            field = f": {one.field}" if one.field else ""
            console.print(Text(f"{one.severity:<8}{place}{case}{field}: {one.message} [{one.rule}]"))
    counts = {name: sum(one.severity == name for one in findings) for name in ("error", "warning", "info")}
    if not json:
        for difference in loaded.differences:
            console.print(Text(_told(difference)))
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    say(f"{loaded.name} {loaded.version}: {len(loaded.cases)} cases, {len(loaded.tools)} tools; {said}")
    return 1 if counts["error"] or (strict and counts["warning"]) else 0


def _told(difference: Difference) -> str:
    """A difference of a provider-optimised suite on one line: what, how, why, whence."""
    from msgspec import to_builtins

    told = to_builtins(difference)
    what, reason, source = (told.pop(name) for name in ("what", "reason", "source"))
    how = ", ".join(
        f"{name} {value!r}"
        for name, value in told.items()
        if value is not None and (name, value) != ("null_means_absent", False)
    )
    return f"differs {what}: {how}. {reason} [{source}]"


def _since(loaded: Suite, where: Path) -> Sequence[Finding]:
    """What changed under the same version since an earlier copy, in a folder or frozen in a run."""
    from callscope.suites import Finding, load_suite
    from callscope.suites.lint_version import RULES, changed_since

    if (where / "manifest.json").exists():
        from callscope.runs import open_run

        used = open_run(where).suites
        if loaded.name not in used:
            raise InputError("used no suite of this name", file=where, found=loaded.name, expected=" | ".join(used))
        earlier = used[loaded.name]
    else:
        earlier = load_suite(where)
    (rule,) = RULES
    return [
        Finding(rule.severity, spot.file, None, None, spot.field, rule.name, spot.message)
        for spot in changed_since(loaded, earlier)
    ]


def _for_provider(loaded: Suite, name: str, *, strict: bool) -> Sequence[Finding]:
    """What the catalogue knows against the suite's tools at one provider. Rules are named `for-…`."""
    from callscope.providers.catalog import catalog, dialects
    from callscope.providers.schemas import check_tools
    from callscope.suites import Finding
    from callscope.suites.faults import dotted
    from callscope.suites.lint_base import Lintable

    provider, _, api = name.partition(":")
    if provider not in catalog() and not api:  # a format's name stands for the provider that speaks it first
        api = provider
        provider = next((each for each, entry in catalog().items() if entry.api == api), provider)
    entry = catalog().get(provider)
    if entry is None:
        raise InputError("unknown provider", field="--for", found=provider, expected=f"one of {', '.join(catalog())}")
    wire = entry.wire(api or entry.api)
    if wire is None:
        spoken = " or ".join(f"{provider}:{each.api}" for each in entry.wires)
        raise InputError("speaks no such format", field="--for", found=name, expected=spoken)
    dialect = dialects()[wire.dialect] if wire.dialect else None
    limits = None if dialect is None else dialect.strict if strict else dialect.plain
    if dialect is None or limits is None:
        say(f"{name}: no {'strict mode' if strict else 'schema limits'} known")
        return ()
    file = Lintable(loaded).tools_file
    return [
        Finding(
            severity=breach.severity,
            file=file,
            line=None,
            case_id=None,
            field=dotted(("tools", *breach.path)) if breach.path else None,
            rule=f"for-{provider}-{breach.limit.replace('_', '-')}",
            message=f"{entry.title}: {f'{breach.tool}: ' if breach.tool else ''}{breach.message}"
            + (" (not verified)" if breach.limit in dialect.unverified else ""),
        )
        for breach in check_tools(loaded.tools, limits)
    ]
