"""The Berkeley Function-Calling Leaderboard (version 4): cases, gold, recorded results, and its checker's verdict."""

from callscope.importers.bfcl.catalogue import GROUPS, result_file
from callscope.importers.bfcl.results import READER, read_results
from callscope.importers.bfcl.suites import read, wanted
from callscope.importers.bfcl.verdicts import verdict
from callscope.importers.bfcl.words import in_our_words

NAME = "bfcl"
TITLE = "Berkeley Function-Calling Leaderboard, version 4"
EXPECTS = "BFCL_v4_CATEGORY.json, their gold in possible_answer/ beside them"
EXPECTS_RESULTS = 'MODEL/BFCL_v4_CATEGORY_result.json, one object a line: {"id": "simple_python_0", "result": …}'

__all__ = [
    "EXPECTS",
    "EXPECTS_RESULTS",
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
