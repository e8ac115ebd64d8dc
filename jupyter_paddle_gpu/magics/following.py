"""A job in a cell that goes on by itself: its answer is drawn anew while it waits or runs, until it has ended.

By updates of what the cell shows, as Jupyter's messaging has them: no widget is needed, and what stands there at any
moment is complete, as HTML and as plain text.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from ..commands.speech import Speech
from ..commands.views.job import JobView
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import ENDED, Job
from .result import Result

if TYPE_CHECKING:
    from ..services import Services

LOOK_SECONDS = 1.0
"""Between two looks at a job; news of a training come about as often."""


class JobResult(Result):
    """The answer of a command that leaves one job. Where it is displayed in a notebook it follows the job."""

    def __init__(self, view: JobView, say: Speech, services: Services) -> None:
        super().__init__(view, say)
        self._services = services

    def _ipython_display_(self) -> None:
        from IPython.display import display

        job: Job = self.value
        goes_on = job.state not in ENDED and _is_notebook()
        handle = display(self._repr_mimebundle_(), raw=True, display_id=goes_on or None)  # type: ignore[no-untyped-call]
        if handle is not None:
            threading.Thread(target=self._follow, args=(handle, job), name=f"follow {job.id}", daemon=True).start()

    def _follow(self, handle: Any, shown: Job) -> None:
        while shown.state not in ENDED:
            time.sleep(LOOK_SECONDS)
            try:
                job = self._services.jobs.get(shown.id)
            except PaddleGpuError:  # deleted: what is shown stays
                return
            if job != shown or job.state == "running":  # its time goes on
                shown = job
                handle.update(Result(JobView(job), self._say)._repr_mimebundle_(), raw=True)


def _is_notebook() -> bool:
    """Whether a front end shows what is displayed here, and takes updates of it."""
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
