"""What REST clients send. Unknown fields are refused: a misspelt one that is silently ignored is worse."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ..domain.jobs.job import WantedResources
from ..domain.what_ifs import EstimateRequest
from ..services import Rerun, Submission


class NotebookBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A notebook or a script by contents path, or its unsaved content as if it lay there.

    Attributes:
        content: nbformat 4 JSON; of a script its text.
        arguments: of a script.
    """

    path: str
    content: dict[str, Any] | str | None = None
    arguments: tuple[str, ...] = ()


class EstimateBody(NotebookBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to estimate."""

    request: EstimateRequest = EstimateRequest()


class PlacementBody(EstimateBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to match: `gpus` and `device_ids` are the person's choice, None or empty leaves it to the policy.

    Attributes:
        share: of each device's memory, as a job's.
        image: container image, as a job's.
        trace: of live objects of the notebook's kernel, deflated, as base64: nothing of the notebook runs then.
    """

    engine: str = ""
    gpus: int | None = None
    device_ids: tuple[str, ...] = ()
    share: float | None = None
    image: str = ""
    trace: str = ""


class ResourcesBody(WantedResources, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job may take. Only here is a field refused that does not exist: rows of the store may have some."""


class SubmitBody(EstimateBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run.

    Attributes:
        anyway: also where it can never fit what is here; the job's row says so.
        notify: who is told when it has ended; null: those whom the policy names.
        priority: among one's own jobs the larger the earlier; below 0 others pass as well.
    """

    engine: str = ""
    resources: ResourcesBody | None = None
    image: str = ""
    name: str = ""
    token: str = ""
    environment: dict[str, str] = {}
    options: dict[str, Any] = {}
    anyway: bool = False
    notify: tuple[str, ...] | None = None
    priority: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] = 0

    def submission(self) -> Submission:
        """The same for the services."""
        return Submission(
            engine=self.engine,
            request=self.request,
            resources=self.resources,
            image=self.image,
            name=self.name,
            token=self.token,
            environment=self.environment,
            options=self.options,
            anyway=self.anyway,
            notify=self.notify,
            priority=self.priority,
        )


class RerunBody(Rerun, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job is to have otherwise when it is run again; an empty body runs the same."""

    resources: ResourcesBody | None = None

    def wanted(self) -> Rerun:
        """The same for the services."""
        return Rerun(**{name: getattr(self, name) for name in Rerun.__struct_fields__})


class NoteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person keeps about a job; what is left out stays as it is."""

    note: Annotated[str, msgspec.Meta(max_length=2000)] | None = None
    starred: bool | None = None


class CancelBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to cancel: `force` ends the job at once, without letting it save."""

    force: bool = False


class HoldBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a waiting job is kept from starting."""

    held: bool = True


class MoveBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a waiting job is to stand: before another one of this store, or (null) behind all."""

    before: str | None = None


class Subscription(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a WebSocket client wants to hear; each one replaces the one before it.

    Attributes:
        logs: job id -> the sequence number of the first line wanted.
    """

    devices: bool = False
    jobs: bool = False
    logs: dict[str, int] = {}
