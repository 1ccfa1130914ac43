"""The Berkeley Function-Calling Leaderboard (version 4): cases, gold, recorded results, and its checker's verdict."""

from callscope.importers.bfcl.catalogue import GROUPS, result_file
from callscope.importers.bfcl.results import READER, read_results
from callscope.importers.bfcl.suites import read, wanted
from callscope.importers.bfcl.verdicts import verdict
from callscope.importers.bfcl.words import in_our_words

NAME = "bfcl"
TITLE = "Berkeley Function-Calling Leaderboard, version 4"

__all__ = [
    "GROUPS",
    "NAME",
    "READER",
    "TITLE",
    "in_our_words",
    "read",
    "read_results",
    "verdict",
    "wanted",
    "wanted_results",
]


def wanted_results(path: str) -> bool:
    """Whether a file holds recorded answers in BFCL's result format."""
    return result_file(path) is not None
