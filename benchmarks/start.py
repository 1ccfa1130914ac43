"""What starting costs: CPU of `callscope --help` and of `import callscope`, as ratios to an empty interpreter.

python benchmarks/start.py [--runs 7]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys


def cpu_of(command: list[str], runs: int) -> float:
    """Median CPU seconds of `command` over `runs` runs, after one that warms the caches (byte code among them)."""
    times = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs + 1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        times.append(used.ru_utime + used.ru_stime)
    return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    empty = cpu_of([sys.executable, "-c", "pass"], runs)
    for name, command in {
        "callscope --help": [sys.executable, "-m", "callscope", "--help"],
        "callscope run --help": [sys.executable, "-m", "callscope", "run", "--help"],
        "import callscope": [sys.executable, "-c", "import callscope"],
    }.items():
        used = cpu_of(command, runs)
        print(f"{name:<22} {used * 1e3:7.0f} ms CPU   empty interpreter {empty * 1e3:5.0f}   ratio {used / empty:5.1f}")


if __name__ == "__main__":
    main()
