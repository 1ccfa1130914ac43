"""numpy and scipy, loaded only where an estimator needs them, so that the core install starts without them."""

from __future__ import annotations

import importlib
from typing import Any

from callscope.errors import EnvironmentProblem

__all__ = ["numpy", "scipy_stats"]


def numpy() -> Any:
    """The module numpy. Raises EnvironmentProblem where it is not installed."""
    return _load("numpy")


def scipy_stats() -> Any:
    """The module scipy.stats. Raises EnvironmentProblem where it is not installed."""
    return _load("scipy.stats")


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        raise EnvironmentProblem(
            f"comparing runs needs {library}, which is not installed", hint="pip install 'callscope[stats]'"
        ) from None
