"""callscope shows exactly where LLM function calling succeeds or breaks.

    import callscope
    suite = callscope.load_suite("support")
    run = callscope.run(suite, models=["openai/<model>"], repeats=5)
    outcome = callscope.normalize("openai-chat", status=200, headers={}, body=raw_bytes, stream=False)
    verdict = callscope.evaluate(case, suite.tools, outcome)
    run.summary().to_frame()

Importing this package is cheap: each name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from callscope._version import __version__

if TYPE_CHECKING:
    from callscope.api import arun, normalize, run
    from callscope.errors import CallscopeError, EnvironmentProblem, InputError, RunFolderError
    from callscope.runs import Run, open_run
    from callscope.scoring import evaluate
    from callscope.suites import load_suite

__all__ = [
    "CallscopeError",
    "EnvironmentProblem",
    "InputError",
    "Run",
    "RunFolderError",
    "__version__",
    "arun",
    "evaluate",
    "load_suite",
    "normalize",
    "open_run",
    "run",
]

_HOMES = {
    "api": ("arun", "normalize", "run"),
    "errors": ("CallscopeError", "EnvironmentProblem", "InputError", "RunFolderError"),
    "runs": ("Run", "open_run"),
    "scoring": ("evaluate",),
    "suites": ("load_suite",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"callscope.{home}"), name)
    raise AttributeError(f"module 'callscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
