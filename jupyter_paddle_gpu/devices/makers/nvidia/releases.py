"""Which builds of Paddle's releases run on which driver and which card: CUDA's rules."""

from __future__ import annotations

from ...maker import DriverRule, ReleaseRules, Version

_COMPATIBILITY = "https://docs.nvidia.com/deploy/cuda-compatibility/"


def _runs(compiled: Version, card: Version) -> bool:
    """A binary for x.y runs on x.z with z >= y, never on another major version (CUDA C++ Programming Guide, binary
    compatibility)."""
    return compiled[0] == card[0] and compiled[1] <= card[1]


RELEASES = ReleaseRules(
    drivers=(
        DriverRule(
            runtime="10.2",
            minimum="440.33",
            standing="documented",
            source="https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/ table 3",
        ),
        DriverRule(
            runtime="11",
            minimum="450.80.02",
            standing="documented",
            source=f"{_COMPATIBILITY} minor version compatibility",
        ),
        DriverRule(
            runtime="12",
            minimum="525.60.13",
            standing="documented",
            source=f"{_COMPATIBILITY} minor version compatibility",
        ),
        DriverRule(
            runtime="12.6",
            minimum="550.54.14",
            standing="documented",
            source="Paddle 3.x pip installation page: CUDA 12.6 asks for 550.54.14",
        ),
        DriverRule(
            runtime="12.9",
            minimum="550.54.14",
            standing="inferred",
            source="not below what Paddle asks for CUDA 12.6",
        ),
        DriverRule(
            runtime="13",
            minimum="580.65.06",
            standing="documented",
            source=f"{_COMPATIBILITY} CUDA 13 asks for the 580 branch",
        ),
    ),
    runs=_runs,
)
