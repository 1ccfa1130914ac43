"""Scoring: what an outcome means, stage by stage. Pure functions over contract types; no wire, no files, no clock.

One stage a module, its decision table in the docstring: acceptance, selection, structure, semantics, then
violations and attribution; `evaluate` composes them. `stability` and `statistics` summarise many trials.
"""

from callscope.scoring.equality import Equality, compare_values
from callscope.scoring.evaluate import evaluate
from callscope.scoring.stability import Stability, outcome_hash, stability, text_hash, verdict_hash
from callscope.scoring.statistics import ClusterEffect, Rate, cluster_effect, clustered, percentile, rate, wilson
from callscope.scoring.structure import Problem, validate_arguments
from callscope.scoring.turns import evaluate_turns

__all__ = [
    "ClusterEffect",
    "Equality",
    "Problem",
    "Rate",
    "Stability",
    "cluster_effect",
    "clustered",
    "compare_values",
    "evaluate",
    "evaluate_turns",
    "outcome_hash",
    "percentile",
    "rate",
    "stability",
    "text_hash",
    "validate_arguments",
    "verdict_hash",
    "wilson",
]
