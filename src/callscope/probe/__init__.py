"""The compatibility suite: which schema keywords a provider accepts, rejects, or accepts and then ignores.

A probe run is an ordinary run of a suite of kind `compatibility`, so it is recorded and replays like any other; this
room makes the suite and reads the findings out of what was derived. Its results are never part of a score.
"""

from callscope.probe.results import FINDINGS, Finding, ProbeResult, fallback_lines, probe_results, suggestions
from callscope.probe.suite import SUITE_NAME, compatibility_suite
from callscope.probe.table import CONTROL, FALLBACKS, PROBES, Probe

__all__ = [
    "CONTROL",
    "FALLBACKS",
    "FINDINGS",
    "PROBES",
    "SUITE_NAME",
    "Finding",
    "Probe",
    "ProbeResult",
    "compatibility_suite",
    "fallback_lines",
    "probe_results",
    "suggestions",
]
