"""Fails where a room's coverage (lines and branches together) is below its threshold.

The thresholds are data: `[tool.callscope.coverage-gate]` in pyproject.toml, module or package -> percent. A room
that matches no measured file fails too, so that a renamed room cannot slip out of the gate.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Room(NamedTuple):
    """What was measured of one gated room; `gaps` says where, one line a file."""

    name: str
    threshold: float
    files: int
    covered: int
    total: int
    gaps: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the room holds its threshold; by counts, so that 99.99 % is never rounded up."""
        return self.files > 0 and self.covered * 100 >= self.threshold * self.total


def belongs(file: str, room: str) -> bool:
    """Whether a measured file is the module `room` or lies in the package `room`."""
    path = room.replace(".", "/")
    inside = file.replace("\\", "/").removeprefix("src/")
    return inside == f"{path}.py" or inside.startswith(f"{path}/")


def measure(name: str, threshold: float, files: dict[str, Any]) -> Room:
    """Sum up one room over coverage.py's JSON report."""
    covered = total = count = 0
    gaps = []
    for file, report in sorted(files.items()):
        if not belongs(file, name):
            continue
        summary = report["summary"]
        count += 1
        total += summary["num_statements"] + summary.get("num_branches", 0)
        covered += summary["covered_lines"] + summary.get("covered_branches", 0)
        if report["missing_lines"] or report.get("missing_branches"):
            branches = [f"{start}->{end}" for start, end in report.get("missing_branches", [])]
            gaps.append(f"{file}: lines {report['missing_lines']}, branches {branches}")
    return Room(name, threshold, count, covered, total, tuple(gaps))


def main(report: Path) -> int:
    """Print one line a room, and the gaps of those that fail."""
    gate = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["callscope"]["coverage-gate"]
    files = json.loads(report.read_text())["files"]
    rooms = [measure(name, threshold, files) for name, threshold in gate.items()]
    for room in rooms:
        found = f"{room.covered}/{room.total}" if room.files else "no measured file"
        print(f"{'ok  ' if room.passed else 'FAIL'} {room.name}: {found}, needs {room.threshold} %")
        for gap in () if room.passed else room.gaps:
            print(f"       {gap}")
    return 0 if all(room.passed for room in rooms) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
