"""What a command needs of the place it is typed in, and what it hands back to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..domain.changes import Changes
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.jobs.job import Job
from ..domain.messages import Message
from ..domain.notebooks import FactValue
from ..domain.what_ifs import EstimateRequest
from ..i18n import to_json
from .speech import Speech

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..domain.estimates import Estimate
    from ..domain.notebooks import NotebookSource
    from ..services import Services


class View(ABC):
    """An answer that can be drawn: `data` (domain values) is what `--json` prints, `status` the exit status."""

    data: Any
    status: int = 0

    @abstractmethod
    def rich(self, say: Speech) -> RenderableType:
        """For a terminal, complete by itself."""

    @abstractmethod
    def html(self, say: Speech) -> str:
        """For a notebook cell."""

    def json(self, say: Speech) -> Any:
        """Plain JSON, the same as REST answers."""
        return to_json(self.data, say.translate)


class Face(ABC):
    """Where a command is typed: a terminal or a cell."""

    def __init__(self, language: str) -> None:
        self.say = Speech(language)

    @cached_property
    def services(self) -> Services:
        """The services with the user's own data folder."""
        from ..services import Services

        return Services()

    @abstractmethod
    def source(self, notebook: str | None, arguments: tuple[str, ...] = ()) -> NotebookSource:
        """The notebook, or the script with its arguments, that is meant; None is the one at hand, where there is
        one."""

    @abstractmethod
    def show_log(self, job: Job, since: int, *, rank: int = 0, as_json: bool) -> None:
        """Show the job's log from line `since` on, as far as it is. `rank`: of that process of several."""

    def holds(self, name: str) -> bool:  # a terminal holds none
        """Whether a model of that name lives where the command is typed."""
        return False

    def is_job(self) -> bool:
        """Whether the notebook at hand is being run by a job: what submits it would then submit itself again."""
        return False

    def attend(self) -> None:  # noqa: B027  # most faces live longer than any job's start
        """A job is about to be submitted and followed: whatever makes it start sooner."""

    @abstractmethod
    def follow(self, job: Job, since: int, *, as_json: bool) -> Job:
        """Show the job's log from line `since` on as it comes, until the job ends; returns the ended job."""

    def tell(self, sentence: str) -> None:
        """Say something beside the answer; silent where the answer says it as well."""
        return

    def working(self) -> AbstractContextManager[object]:
        """While it lasts, a training step is traced: whoever waits for it sees that something goes on."""
        return nullcontext()

    def hold(self) -> None:
        """A job is about to be accepted: whoever interrupts us from here on is to be told which one it was."""
        return

    def follow_lines(self, lines: Iterator[str], left: Message) -> None:
        """Show lines as they come. `left` is said where somebody stops looking, which ends nothing else."""
        for line in lines:
            print(line, flush=True)

    def answers(self, estimate: Estimate) -> dict[str, FactValue]:
        """What a person answers to an estimate's questions, by name; nothing where nobody can be asked."""
        return {}

    def agrees(self, view: View, question: str) -> bool | None:
        """Whether a person agrees who is shown an answer and asked; None where nobody can be asked."""
        return None

    def held(self, estimate: Estimate) -> dict[str, FactValue]:
        """What the place itself holds by the names of an estimate's questions: a kernel its objects."""
        return {}

    def write(self, source: NotebookSource, changes: Changes) -> str:
        """Write changed cells into the notebook; answers what was done, in the reader's language."""
        self.services.write(source, changes)
        return self.say("{name} was changed.", name=source.path.name)

    def live(self, words: tuple[str, ...], request: EstimateRequest, **job: str) -> View | None:
        """The estimate of live objects named in `words`, where this place has any; None where a notebook is meant.
        `job`: its engine and image."""
        return None

    @abstractmethod
    def watch(self, view: Callable[[], View], seconds: float) -> None:
        """Show an answer and show it anew every so many seconds in the same place, until somebody interrupts."""

    def is_watched(self) -> bool:
        """Whether somebody sits before it for whom an answer can move by itself."""
        return False

    def explore(self, at: Callable[[int], View], batch: int, most: int) -> None:
        """Offer the answers `at` batch sizes up to `most` by hand, where something can be moved; nothing elsewhere."""
        return

    def live_fits(
        self, words: tuple[str, ...], request: EstimateRequest, devices: tuple[str, ...], **job: str
    ) -> Estimate | None:
        """The largest batch of live objects on each device; None where a notebook is meant. `job` as for `live`."""
        return None


def no_notebook(command: str, notebook: str = "train.ipynb") -> PaddleGpuError:
    """There is no notebook at hand and none was named. `notebook`: one that may be meant."""
    return PaddleGpuError(
        "no_notebook",
        "No notebook was named.",
        hint="Give its path: `jupyter paddle-gpu {command} {notebook}`.",
        command=command,
        notebook=notebook,
    )
