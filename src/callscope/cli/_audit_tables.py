"""Tables 4 and 5 of `callscope report`: what an audit has found, read from its agreement.json."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from callscope.audit.findings import Findings
from callscope.audit.store import AGREEMENT
from callscope.audit.tables import agreement_tables
from callscope.cli._console import out, put
from callscope.errors import InputError

__all__ = ["audit_exhibit"]

_DESIGN = {"table4": "reference", "table5": "judge"}


def audit_exhibit(preset: Literal["table4", "table5"], folder: Path, *, json: bool) -> int:
    """Print the table. Raises InputError where the folder holds no findings, or those of the other design."""
    file = folder / AGREEMENT
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "`callscope audit agreement AUDIT_DIR` writes it"
        raise InputError(f"cannot be read: {error.strerror}", file=file, hint=hint) from None
    try:
        found = msgspec.json.decode(data, type=Findings)
    except msgspec.DecodeError as error:
        raise InputError(f"holds no audit's findings: {error}", file=file) from None
    if found.design != _DESIGN[preset]:
        other = next(name for name, design in _DESIGN.items() if design == found.design)
        raise InputError(
            f"is of the design {found.design}, and {preset} is about the design {_DESIGN[preset]}",
            file=file,
            hint=f"Use --preset {other}",
        )
    if json:
        put(data)
        return 0
    console = out()
    for part in agreement_tables(found):
        console.print(part)
    return 0
