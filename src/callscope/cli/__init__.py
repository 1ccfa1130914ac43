"""The command line: one small module per verb, loaded only when its verb is called.

Exit codes: 0 ok, 1 differences found, 2 bad input or configuration, 3 budget spent, 4 coverage too low to decide,
5 gate failed, 6 construction stalled, 130 interrupted. Results go to stdout, progress and messages to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from keyword import iskeyword
from typing import TextIO

from cyclopts import App, CycloptsError

from callscope._version import __version__
from callscope.errors import CallscopeError

__all__ = ["app", "main"]

_VERBS = {
    "run": """Run suites against models, score every stage, write the report.

With no CONFIG the bundled support suite runs on embedded models, with no key. A run that was stopped, however it was
stopped, goes on with --resume --out DIR.

Example: callscope run benchmark.config.json --limit 10 --out results/first""",
    "replay": """Derive a run again from its stored bytes: verdicts, summary, report.

Example: callscope replay results/first --check""",
    "report": """Show a run as terminal tables, or as HTML, JSON, Markdown, JUnit or CSV.

Example: callscope report results/first --html report.html
Example: callscope report results/first results/bfcl --across""",
    "compare": """Compare models on the cases both were observed on: what is established, and what is not.

Example: callscope compare results/before results/after --family all""",
    "inspect": """Show failures by category and model, with their raw evidence.

Example: callscope inspect results/first --category wrong_tool""",
    "normalize": """Read one raw response body on stdin, print its canonical outcome as JSON.

Example: callscope normalize --api openai-chat < body.json""",
    "probe": """Ask which JSON Schema keywords a model's provider accepts, rejects, or accepts and ignores.

Example: callscope probe local/qwen2.5-coder-0.5b""",
    "lint": """Look for faults in a suite's tools, cases and gold.

Example: callscope lint suites/support --for openai""",
    "import": """Import another benchmark: its files as suites, its recorded answers as a run.

Example: callscope import bfcl bfcl_v4 --results bfcl_v4_results --out results/bfcl""",
    "judge": """Put what the rules left open in a run to a judge, with sentinels, and apply what it rules.

Which of two values is the reference is hidden, every question is asked in both orders, and a judge that fails its
sentinels decides nothing.

Example: callscope judge results/first --model openai/gpt-5-mini""",
    "models": """Show wire formats, providers, what their tool choices mean, key variables found, and models.

Example: callscope models anthropic""",
}
_AUDIT = """Let people check references and a judge: sample, review, agreement; check published tables.

Example: callscope audit sample results/first --design judge --out audits/judge"""

app = App(
    name="callscope",
    help="Shows exactly where LLM function calling succeeds or breaks.",
    help_epilogue="Start with `callscope run`: it needs no key (and the extra `local`). "
    "`callscope VERB --help` has an example of each.",
    version=__version__,
    help_format="plaintext",  # markdown would double the CPU time of every start
)
for _verb, _help in _VERBS.items():
    _function = f"{_verb}_" if iskeyword(_verb) else _verb
    app.command(f"callscope.cli.{_function}:{_function}", name=_verb, help=_help, help_epilogue="")
app.command("callscope.cli.audit:audit", name="audit", help=_AUDIT)  # a group of verbs


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the `callscope` command; always ends by SystemExit."""
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    try:
        code = app(arguments, exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError:
        sys.exit(2)
    except CallscopeError as error:
        print(f"callscope: {error}", file=sys.stderr)  # noqa: T201 - the last word of a command
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _discard_stdout()
        sys.exit(0)
    except OSError as error:
        _discard_stdout()
        print(f"callscope: cannot write: {error.strerror or error}", file=sys.stderr)  # noqa: T201 - likewise
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _nowhere() -> TextIO:
    """A stream for a command that was started with stdout or stderr closed."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - lives as long as the command


def _discard_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not complain at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
