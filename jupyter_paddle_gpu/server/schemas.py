"""Writes the component schemas of `openapi.yaml` from the structs that the handlers really send and take.

`python -m jupyter_paddle_gpu.server.schemas` rewrites them; a test fails when they are not what the structs say. The
paths of the document are written by hand.
"""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from ..domain.changes import Changes
from ..domain.devices import Accelerator, DeviceHistory, Inventory
from ..domain.estimates import Estimate
from ..domain.jobs.figures import Figures
from ..domain.jobs.job import Job
from ..domain.jobs.metrics import JobMetrics
from ..domain.jobs.statistics import JobStatistics
from ..domain.notebooks import NotebookFacts
from ..domain.placements import ImageChoice, Placement
from ..domain.plans.schedules import ScheduleReport
from ..domain.plans.sweeps import SweepReport
from ..domain.queues import QueueView
from ..domain.variables import Settings
from ..domain.what_ifs import WHAT_IFS, EstimateRequest
from ..services import Comparison, Matched, Preflight
from ..services.plans.wanted import SweepCheck
from .bodies import (
    CancelBody,
    EstimateBody,
    HoldBody,
    MoveBody,
    NoteBody,
    NotebookBody,
    PlacementBody,
    RerunBody,
    SubmitBody,
    Subscription,
)
from .plan_bodies import DatesBody, ScheduleBody, SweepBody, SweepChangeBody
from .what_ifs import WhatIfField

DOCUMENT = Path(__file__).with_name("openapi.yaml")
REFERENCE = "#/components/schemas/{name}"

RENDERED_MESSAGE: dict[str, Any] = {
    "title": "Message",
    "description": "A sentence in the reader's language and its next step (may be empty). Programs compare `code`.",
    "type": "object",
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"}},
    "required": ["code", "message", "hint"],
}
"""What becomes of a `Message` on its way out, and the shape of every error."""


def components() -> dict[str, Any]:
    """All component schemas by name."""
    from ..domain.engines import Features
    from ..domain.jobs.job import LogPage
    from ..domain.jobs.notices import ReceiverRow
    from ..services.doctor import CheckRow

    types = [
        *(NotebookBody, EstimateBody, PlacementBody, SubmitBody, RerunBody, NoteBody, CancelBody, Subscription),
        *(HoldBody, MoveBody, QueueView),
        *(
            NotebookFacts,
            Estimate,
            Placement,
            Matched,
            Changes,
            Preflight,
            Inventory,
            DeviceHistory,
            Accelerator,
            ImageChoice,
            Features,
            Job,
            JobStatistics,
            JobMetrics,
            Figures,
            Comparison,
            Settings,
            SweepBody,
            SweepChangeBody,
            SweepCheck,
            SweepReport,
            ScheduleBody,
            DatesBody,
            ScheduleReport,
            LogPage,
            CheckRow,
            ReceiverRow,
            WhatIfField,
        ),
    ]
    _, schemas = msgspec.json.schema_components(types, ref_template=REFERENCE)
    for what_if in WHAT_IFS:
        described = schemas[EstimateRequest.__name__]["properties"][what_if.name]
        described["description"] = what_if.help
        if what_if.kind == "count":
            described["anyOf"][0]["minimum"] = what_if.least
    schemas["Message"] = RENDERED_MESSAGE
    return dict(sorted((name, _plain(schema)) for name, schema in schemas.items()))


def _plain(schema: Any) -> Any:
    """The same where floats may be not-a-number (a loss that diverged), which JSON writes as null, and without the
    indentation that docstrings have in the code (from Python 3.13 on they have none)."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("additionalProperties") == {"type": "number"}:
        return {**schema, "additionalProperties": {"type": ["number", "null"]}}
    plain = {key: _plain(value) for key, value in schema.items()}
    if isinstance(plain.get("description"), str):
        plain["description"] = cleandoc(plain["description"])
    return plain


def load() -> dict[str, Any]:
    """The document as it stands beside the handlers."""
    import yaml  # type: ignore[import-untyped]

    document: dict[str, Any] = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    return document


def main() -> None:
    """Write the components anew."""
    import yaml

    document = load()
    document.setdefault("components", {})["schemas"] = msgspec.json.decode(msgspec.json.encode(components()))
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
