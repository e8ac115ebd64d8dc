"""Peaks of real steps beside what a trace says of the same scripts."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

Answers = dict[str, dict]
"""What a child process says (`real_steps`), by a script's name."""


class Measured(NamedTuple):
    """The same scripts, run and traced."""

    real: Answers
    traced: Answers

    def pair(self, name: str) -> tuple[list[int], dict]:
        """The peak of each real step, in bytes, and the trace; the script must have run."""
        real = self.real[name]
        assert real["failure"] is None, real["failure"]
        assert "rule_failed" not in self.traced[name]["notes"], self.traced[name]["params"]
        return real["peaks"], self.traced[name]


def steady(peaks: list[int]) -> int:
    """The peak that most of the steps have; the first one, without gradients or optimizer state, is left out."""
    return Counter(peaks[1:]).most_common(1)[0][0]
