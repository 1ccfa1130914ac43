"""Claims about corrected rates, against judges whose errors are known: right on the average, and intervals that hold
the truth as often as they say."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from callscope.audit.calibration import calibrate, corrected_rate
from callscope.audit.confusion import confusion
from callscope.audit.designs import ATTRIBUTIONS, DESIGNS

CLASSES = tuple(ATTRIBUTIONS)
Truths = Mapping[str, Mapping[str, float]]
"""The judge's class -> how its trials are truly divided over the classes."""

ERRS_LITTLE: Truths = {
    "correct": {"correct": 0.95, "parameter": 0.05},
    "missed": {"missed": 0.9, "correct": 0.1},
    "spurious": {"spurious": 0.9, "missed": 0.1},
    "parameter": {"parameter": 0.85, "correct": 0.15},
}
ERRS_MUCH: Truths = {
    **ERRS_LITTLE,
    "correct": {"correct": 0.75, "parameter": 0.25},
    "parameter": {"parameter": 0.7, "correct": 0.3},
}
VERDICTS = {"correct": 1200, "missed": 240, "spurious": 100, "parameter": 460}
TIMES = 250


@pytest.mark.parametrize("truths", [ERRS_LITTLE, ERRS_MUCH], ids=["errs little", "errs much"])
def test_an_audit_by_quotas_gives_the_runs_true_rates(truths: Truths) -> None:
    """The preset's sample has hardly any class in proportion; read as if it had, it would be far off."""
    chance = random.Random(7)
    total = sum(VERDICTS.values())
    true = {name: sum(VERDICTS[said] * truths[said].get(name, 0) for said in CLASSES) / total for name in CLASSES}
    found: dict[str, list[float]] = {name: [] for name in CLASSES}
    held = dict.fromkeys(CLASSES, 0)
    for _ in range(TIMES):
        judged = {
            f"{said} {number}": said for said, count in DESIGNS["judge"].quotas.items() for number in range(count)
        }
        human: dict[str, str | None] = {
            item: chance.choices(CLASSES, [truths[said].get(name, 0) for name in CLASSES])[0]
            for item, said in judged.items()
        }
        matrix = confusion(judged, human)
        for name in CLASSES:
            rate = corrected_rate(VERDICTS[name], total, calibrate(matrix, {name}, population=VERDICTS)).corrected
            assert rate.value is not None
            assert rate.low is not None
            assert rate.high is not None
            found[name].append(rate.value)
            held[name] += rate.low <= true[name] <= rate.high
    for name in CLASSES:
        assert sum(found[name]) / TIMES == pytest.approx(true[name], abs=0.006), name
        assert held[name] >= 0.93 * TIMES, name


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "prevalence"), [(0.9, 0.9, 0.5), (0.95, 0.8, 0.7), (0.9, 0.95, 0.1)]
)
def test_an_audit_drawn_at_random_gives_the_true_rate(
    sensitivity: float, specificity: float, prevalence: float
) -> None:
    chance = random.Random(11)

    def one() -> tuple[str, str]:
        truly = chance.random() < prevalence
        says = chance.random() < (sensitivity if truly else 1 - specificity)
        return ("correct" if says else "missed"), ("correct" if truly else "missed")

    found, held = [], 0
    for _ in range(TIMES):
        audited = {str(number): one() for number in range(200)}
        matrix = confusion(
            {item: said for item, (said, _) in audited.items()}, {item: truth for item, (_, truth) in audited.items()}
        )
        k = sum(one()[0] == "correct" for _ in range(800))
        rate = corrected_rate(k, 800, calibrate(matrix, {"correct"})).corrected
        assert rate.value is not None
        assert rate.low is not None
        assert rate.high is not None
        found.append(rate.value)
        held += rate.low <= prevalence <= rate.high
    assert sum(found) / TIMES == pytest.approx(prevalence, abs=0.008)
    assert held >= 0.93 * TIMES
