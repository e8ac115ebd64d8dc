"""Dynamic mode for a while, within static mode: tensors are made, and operators run, by the tracer of dynamic mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paddle.base import core, framework
from paddle.base.dygraph.tracer import Tracer


@contextmanager
def dynamic() -> Iterator[None]:
    """What is inside is in dynamic mode."""
    switch = getattr(core, "_switch_tracer")  # noqa: B009 - not in Paddle's stubs
    before = framework.global_var._dygraph_tracer_
    tracer = before or Tracer()
    framework.global_var._dygraph_tracer_ = tracer
    switch(tracer)
    try:
        yield
    finally:
        framework.global_var._dygraph_tracer_ = before
        switch(before)
