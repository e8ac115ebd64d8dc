"""The cell's face: which notebook it stands in, its live objects, and how it follows a job."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..commands.face import Face, View
from ..commands.tail import LogTail
from ..domain.changes import Changes
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import Job, LogLine
from ..domain.what_ifs import EstimateRequest
from .language import cell_language
from .progress import JobProgress

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from ..domain.estimates import Estimate
    from ..domain.notebooks import FactValue, NotebookSource

UNSAVED = "cells.ipynb"
"""The name under which executed cells are read where no notebook file is known."""
_OWN_LINES = re.compile(r"^%paddle_gpu\b.*$", re.MULTILINE)
"""What was only asked is no part of a training."""
_VSCODE_FILE = "__vsc_ipynb_file__"


class CellFace(Face):
    """Speaks to the cell that is running."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(cell_language())
        self._shell = shell
        self._cell: str | None = None

    @contextlib.contextmanager
    def looking_at(self, cell: str | None) -> Iterator[None]:
        """For one command: the text of the cell that the command heads; None where it is a line among others."""
        self._cell = cell
        try:
            yield
        finally:
            self._cell = None

    def source(self, notebook: str | None, arguments: tuple[str, ...] = ()) -> NotebookSource:
        """A notebook or a script by path, else the cell that the command heads with the cells that were executed before
        it, else the notebook this cell stands in, else the cells that were executed."""
        if notebook:
            return self.services.open(Path(notebook), arguments=arguments)
        if self._cell is not None:
            return self.services.open(self._place(), self._executed(self._cell))
        for file in self._files():
            if file.suffix == ".ipynb" and file.is_file():
                return self.services.open(file)
        return self.services.open(self._place(), self._executed())

    def holds(self, name: str) -> bool:
        """Whether the kernel has a model of that name."""
        paddle = sys.modules.get("paddle")  # who has not imported it holds no model
        return paddle is not None and isinstance(self._shell.user_ns.get(name), (paddle.Model, paddle.nn.Layer))

    def is_job(self) -> bool:
        """The runner tells its kernel the job's id."""
        return "PADDLE_GPU_JOB_ID" in os.environ

    def _place(self) -> Path:
        """Where a notebook of executed cells is taken to lie."""
        return Path.cwd() / UNSAVED

    def _files(self) -> Iterator[Path]:
        # Jupyter Server tells the kernel at its start; where the notebook was renamed since, the cells are read.
        if session := os.environ.get("JPY_SESSION_NAME"):
            yield Path(session)
        if file := self._shell.user_ns.get(_VSCODE_FILE):
            yield Path(str(file))

    def _executed(self, last: str | None = None) -> dict[str, Any]:
        history = self._shell.history_manager
        texts = [*history.input_hist_raw[1:]] if history is not None else []
        texts = [text for text in texts if not text.lstrip().startswith("%%paddle_gpu")]  # they were not executed
        texts = [_OWN_LINES.sub("", text) for text in (*texts, last or "")]
        cells = [text for text in texts if text.strip()]
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        return {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": metadata,
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"executed-{number}",
                    "metadata": {},
                    "source": text,
                    "outputs": [],
                    "execution_count": None,
                }
                for number, text in enumerate(cells)
            ],
        }

    def live_names(self, typed: str) -> list[str]:
        """Names of the models in this kernel that begin with what is typed."""
        from .live import models

        return [name for name in models(self._shell.user_ns) if name.startswith(typed)]

    def write(self, source: NotebookSource, changes: Changes) -> str:
        """In a notebook nobody writes into the file under the browser: the changed cell is the next input."""
        from ..domain.changes import check_written

        check_written(changes)
        last = changes.cells[-1]
        self._shell.set_next_input(last.after, replace=False)
        others = [str(one.cell + 1) for one in changes.cells[:-1]]
        if not others:
            return self.say("The changed cell is in the next input; run it in place of the one above.")
        return self.say(
            "The last changed cell is in the next input; change cells {cells} by hand, as shown.",
            cells=", ".join(others),
        )

    def live(self, words: tuple[str, ...], request: EstimateRequest, **job: str) -> View | None:
        """An estimate of live objects by their names in this kernel."""
        if not words or any(not word.isidentifier() for word in words):
            return None
        from .live import estimate_live

        return estimate_live(self, self._shell.user_ns, words, request, **job)

    def held(self, estimate: Estimate) -> dict[str, FactValue]:
        """What this kernel holds by the names of the questions; nothing of it runs or changes."""
        from .held import held

        return held(self._shell.user_ns, [{"name": one.name, "kind": one.kind, "holders": one.holders}
                                          for one in estimate.questions if one.name])  # fmt: skip

    def watch(self, view: Callable[[], View], seconds: float) -> None:
        """The same output anew, in a terminal the same lines; interrupting the cell leaves the last one."""
        from IPython.display import DisplayHandle

        from .result import Result

        if getattr(self._shell, "kernel", None) is None:  # a terminal takes no updates of what is displayed
            from rich.console import Console

            from ..commands.drawing import in_place

            with contextlib.suppress(KeyboardInterrupt):
                in_place(lambda: view().rich(self.say), Console(highlight=False), lambda: time.sleep(seconds))
            return
        shown = DisplayHandle()  # type: ignore[no-untyped-call]
        shown.display(Result(view(), self.say))  # type: ignore[no-untyped-call]
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(seconds)
                shown.update(Result(view(), self.say))  # type: ignore[no-untyped-call]

    def explore(self, at: Callable[[int], View], batch: int, most: int) -> None:
        """A slider, where widgets are."""
        from .slider import BatchSlider

        BatchSlider(at, batch, most, self.say)

    def live_fits(
        self, words: tuple[str, ...], request: EstimateRequest, devices: tuple[str, ...], **job: str
    ) -> Estimate | None:
        """The largest batch of live objects on each device."""
        if not words or any(not word.isidentifier() for word in words):
            return None
        from .live import fits_live

        return fits_live(self, self._shell.user_ns, words, request, devices, **job)

    def show_log(self, job: Job, since: int, *, rank: int = 0, as_json: bool) -> None:
        """The log as far as it is."""
        from ..commands.views.job import silent

        printer, tail = CellPrinter(as_json=as_json), LogTail(self.services, job.id, since, rank=rank)
        for lines in tail.pages():
            printer.write(lines)
        printer.close()
        if not tail.next and not as_json:
            print(silent(self.say, job), flush=True)

    def follow(self, job: Job, since: int, *, as_json: bool) -> Job:
        """The log until the job ends, with a bar where widgets are; interrupting the cell only stops looking."""
        progress = JobProgress(job, self.say) if not as_json else None
        printer, tail = CellPrinter(as_json=as_json), LogTail(self.services, job.id, since)
        try:
            for lines in tail.follow():
                printer.write(lines)
                if progress is not None:
                    progress.show(self.services.jobs.get(job.id))
        except KeyboardInterrupt:
            raise PaddleGpuError(
                "detached",
                "You stopped looking; the job goes on.",
                hint="`%paddle_gpu logs {id} -f` looks again, `%paddle_gpu cancel {id}` ends it.",
                id=job.id,
            ) from None
        finally:
            printer.close()
            if progress is not None:
                progress.show(self.services.jobs.get(job.id))
        return self.services.jobs.get(job.id)


class CellPrinter:
    """Log lines on the cell's standard output, a batch in one write: every write is a message to the browser."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._first = True

    def write(self, lines: list[LogLine]) -> None:
        """Print a batch; the states of a progress bar overwrite each other."""
        if self._as_json:
            print("\n".join(msgspec.json.encode(line).decode() for line in lines), flush=True)
            return
        # The line's end comes with the next line, so that a bar's next state can still overwrite it.
        text = "".join(("\r" if line.replaces else "\n") + line.text for line in lines)
        print(text.removeprefix("\n") if self._first else text, end="", flush=True)
        self._first = False

    def close(self) -> None:
        """End the last line."""
        if not self._as_json and not self._first:
            print(flush=True)
