"""Reads, checks and describes what people write: suite folders, and the suites that come with callscope.

    suite = load_suite("support")
    for finding in lint_suite(suite): ...

Runs nothing and calls no model.
"""

from callscope.suites.faults import SuiteFaults
from callscope.suites.files import MAX_FILE_BYTES, SUITE_FILES, bundled_suites, read_suite_files
from callscope.suites.lint import RULES, Finding, Rule, lint_suite
from callscope.suites.load import SuiteToml, load_suite, load_suite_bytes
from callscope.suites.schema import published_schemas

__all__ = [
    "MAX_FILE_BYTES",
    "RULES",
    "SUITE_FILES",
    "Finding",
    "Rule",
    "SuiteFaults",
    "SuiteToml",
    "bundled_suites",
    "lint_suite",
    "load_suite",
    "load_suite_bytes",
    "published_schemas",
    "read_suite_files",
]
