"""What all tests share: the way random examples are drawn, and the shelf of public reference data."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The gate draws the same examples every time, so that a red test is red for everyone; `make soak` looks further.
settings.register_profile("gate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "explore", deadline=None, max_examples=2_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public benchmark data kept outside the repository; tests that need it skip where it is absent."""
    stated = os.environ.get("CALLSCOPE_SHARED")
    folder = Path(stated) if stated else Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the reference data is not here; CALLSCOPE_SHARED can name its folder (CONTRIBUTING.md)")
    return folder
