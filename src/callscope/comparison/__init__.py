"""Comparison: models of one or several runs, paired case by case, with what is established and what is not.

Reads what was derived and counts nothing anew; sends nothing, judges nothing. Estimators stand in modules of their own
(`paired`, `power`, `ranks`, `repeats`, `corrections`), each with its source, and `estimate` decides between them.
Needs the extra `stats` (numpy, scipy).
"""

from callscope.comparison.compare import SCHEMA, Judged, Options, compare
from callscope.comparison.corrections import CORRECTIONS
from callscope.comparison.metrics import METRICS
from callscope.comparison.picture import render_comparison
from callscope.comparison.terminal import comparison_text, print_comparison

__all__ = [
    "CORRECTIONS",
    "METRICS",
    "SCHEMA",
    "Judged",
    "Options",
    "compare",
    "comparison_text",
    "print_comparison",
    "render_comparison",
]
