"""A bar for a followed job, where ipywidgets and a front end for it are there; nothing where they are not."""

from __future__ import annotations

from typing import Any

from ..commands.speech import Speech
from ..commands.views.job import state
from ..domain.jobs.job import Job
from ..domain.jobs.state_words import PROGRAM_FAILED, state_words


def widgets() -> Any:
    """The module ipywidgets where a front end may draw its widgets; None in a terminal or without it."""
    try:
        import ipywidgets
        from IPython.core.getipython import get_ipython
    except ImportError:
        return None
    return None if getattr(get_ipython(), "kernel", None) is None else ipywidgets


class JobProgress:
    """The share that is done, with the state in words."""

    def __init__(self, job: Job, say: Speech) -> None:
        self._say = say
        self._bar: Any = None
        ipywidgets = widgets()
        if ipywidgets is None:
            return
        from IPython.display import display

        self._bar = ipywidgets.FloatProgress(min=0, max=1, description=job.spec.name[:20])
        self._label = ipywidgets.Label()
        display(  # type: ignore[no-untyped-call]
            ipywidgets.HBox([self._bar, self._label])
        )
        self.show(job)

    def show(self, job: Job) -> None:
        """Draw the job as it is now."""
        if self._bar is None:
            return
        # Of what nobody knows the length of there is no share.
        self._bar.layout.visibility = "hidden" if job.state == "running" and job.progress.is_open else "visible"
        self._bar.value = 1 if job.state == "succeeded" else job.progress.share
        styles = {"succeeded": "success", "failed": "danger", "cancelled": "warning"}
        self._bar.bar_style = "warning" if state_words(job) == PROGRAM_FAILED else styles.get(job.state, "")
        self._label.value = state(self._say, job)
