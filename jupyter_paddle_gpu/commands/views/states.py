"""What the states of trials are called, and the exit status of a command that waits for an end."""

from __future__ import annotations

from ...domain.jobs.state_words import STATE_WORDS

FOLLOW_STATUS = {"succeeded": 0, "failed": 1, "cancelled": 130}
"""Exit status of `--follow` by the job's end; 130 is what shells give an interrupted command."""

TRIAL_STATES: dict[str, str] = {**STATE_WORDS, "planned": "planned", "refused": "fits nothing", "deleted": "deleted"}
"""Of a sweep's trials: one that has a job is called as its job is."""
