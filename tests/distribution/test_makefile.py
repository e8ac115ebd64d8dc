"""What the targets of the Makefile do, without doing it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make (apt-get install make)")


def steps(target: str) -> str:
    """All commands of a target, as if nothing had been made yet."""
    command = ["make", "--dry-run", "--always-make", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_types_are_generated_without_a_front_end_that_uses_them() -> None:
    done = steps("api")
    assert "build:prod" not in done
    assert done.index("jlpm install") < done.index("server.schemas") < done.index("jlpm api")


def test_an_environment_begins_with_the_packages_and_ends_with_the_built_front_end() -> None:
    done = steps("build-environment")
    assert done.index("jlpm install") < done.index("build:prod") < done.index("--no-deps -e .")
