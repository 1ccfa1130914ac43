"""BFCL's published files, imported once."""

from pathlib import Path

import pytest

from callscope.contract import Suite
from callscope.importers import bfcl
from callscope.suites import load_suite_bytes


@pytest.fixture(scope="session")
def published(shared: Path) -> tuple[dict[str, Suite], tuple[str, ...]]:
    """The suites by name, and the notes of the import."""
    where = shared / "data" / "bfcl_v4"
    paths = [path for path in where.rglob("*") if path.is_file() and bfcl.wanted(path.relative_to(where).as_posix())]
    imported = bfcl.read({path.relative_to(where).as_posix(): path.read_bytes() for path in paths})
    suites = {suite.name: load_suite_bytes(suite.files, name=suite.name) for suite in imported.suites}
    return suites, imported.notes
