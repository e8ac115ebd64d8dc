"""Paddle's builds for CUDA: their images' tags, which driver and which card they run on."""

from __future__ import annotations

import re

from ...releases import Build, DriverRule, ReleaseBuilds

_COMPATIBILITY = "https://docs.nvidia.com/deploy/cuda-compatibility/"


def _runs(compiled: tuple[int, int], card: tuple[int, int]) -> bool:
    """A binary for x.y runs on x.z with z >= y, never on another major version (CUDA C++ Programming Guide, binary
    compatibility)."""
    return compiled[0] == card[0] and compiled[1] <= card[1]


_BUILDS = (
    Build(
        tag="cuda10.2-cudnn7.6-trt7.0",
        runtime="10.2",
        architectures=("6.0", "6.1", "7.0", "7.5"),
        standing="inferred",
        source="architectures known to CUDA 10.2",
    ),
    Build(
        tag="cuda11.2-cudnn8.2-trt8.0",
        runtime="11.2",
        architectures=("6.0", "6.1", "7.0", "7.5", "8.0", "8.6"),
        standing="inferred",
        source="architectures known to CUDA 11.2",
    ),
    Build(
        tag="cuda11.7-cudnn8.4-trt8.4",
        runtime="11.7",
        architectures=("6.0", "6.1", "7.0", "7.5", "8.0", "8.6"),
        standing="inferred",
        source="architectures known to CUDA 11.7",
    ),
    Build(
        tag="cuda12.0-cudnn8.9-trt8.6",
        runtime="12.0",
        architectures=("7.0", "7.5", "8.0", "8.6", "9.0"),
        standing="inferred",
        source="Paddle's list for CUDA 12",
    ),
    Build(
        tag="cuda11.8-cudnn8.9-trt8.6",
        runtime="11.8",
        architectures=("6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9"),
        standing="reported",
        source="Paddle's cu118 wheels lack sm_90",
    ),
    Build(
        tag="cuda12.6-cudnn9.5-trt10.5",
        runtime="12.6",
        architectures=("7.0", "7.5", "8.0", "8.6", "8.9", "9.0"),
        standing="documented",
        source="Paddle 3.x installation page",
    ),
    Build(
        tag="cuda11.8-cudnn8.9",
        runtime="11.8",
        architectures=("6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9"),
        standing="reported",
        source="Paddle's cu118 wheels lack sm_90",
    ),
    Build(
        tag="cuda12.6-cudnn9.5",
        runtime="12.6",
        architectures=("7.0", "7.5", "8.0", "8.6", "8.9", "9.0"),
        standing="documented",
        source="Paddle 3.x installation page",
    ),
    Build(
        tag="cuda12.9-cudnn9.9",
        runtime="12.9",
        architectures=("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"),
        since={"12.0": "3.2.1"},
        standing="reported",
        source="Paddle's issues on RTX 50: sm_120 from 3.2.1 on",
    ),
    Build(
        tag="cuda13.0-cudnn9.13",
        runtime="13.0",
        architectures=("7.5", "8.0", "8.6", "9.0", "10.0"),
        standing="documented",
        source="Paddle's list for CUDA 13: 75 80 86 90 100",
    ),
)
_PUBLISHED = {
    "2.5.2": (
        "cuda10.2-cudnn7.6-trt7.0",
        "cuda11.2-cudnn8.2-trt8.0",
        "cuda11.7-cudnn8.4-trt8.4",
        "cuda12.0-cudnn8.9-trt8.6",
    ),
    "2.6.1": ("cuda11.2-cudnn8.2-trt8.0", "cuda11.7-cudnn8.4-trt8.4", "cuda12.0-cudnn8.9-trt8.6"),
    "2.6.2": ("cuda11.2-cudnn8.2-trt8.0", "cuda11.7-cudnn8.4-trt8.4", "cuda12.0-cudnn8.9-trt8.6"),
    "3.0.0": ("cuda11.8-cudnn8.9-trt8.6", "cuda12.6-cudnn9.5-trt10.5"),
    "3.1.0": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9"),
    "3.2.0": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9"),
    "3.2.1": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9"),
    "3.2.2": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9", "cuda13.0-cudnn9.13"),
    "3.3.0": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9", "cuda13.0-cudnn9.13"),
    "3.3.1": ("cuda11.8-cudnn8.9", "cuda12.6-cudnn9.5", "cuda12.9-cudnn9.9", "cuda13.0-cudnn9.13"),
}

RELEASES = ReleaseBuilds(
    platform="CUDA",
    named="{paddle}-gpu-{build}",
    written="<version>-gpu-cuda<x.y>-cudnn<x.y>",
    # Tags of another manner (`latest-dev-…`, `…-jupyter`) exist or existed, so nothing is claimed of them.
    manner=re.compile(
        r"(?P<paddle>latest|\d+(?:\.\d+){0,2})-gpu-cuda(?P<runtime>\d+(?:\.\d+)?)(?:-cudnn[\d.]+)?(?:-trt[\d.]+)?"
    ),
    builds=_BUILDS,
    published=_PUBLISHED,
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
