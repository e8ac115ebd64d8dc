"""What tests of the inspection ask, and how they read an answer."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_paddle_gpu.domain.notebooks import Fact, NotebookFacts

Inspect = Callable[..., NotebookFacts]


def value(fact: Fact | None) -> object:
    """What is said, by a fact that is there."""
    assert fact is not None
    return fact.value
