"""Jobs as containers on a Docker Engine. Nothing outside this package talks to Docker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..engine_type import EngineContext, EngineType
from .settings import TIGHTER, DockerSettings, within, wrong_fields

if TYPE_CHECKING:
    from .engine import DockerEngine

__all__ = ["ENGINE", "DockerSettings"]


def _make(settings: DockerSettings, context: EngineContext) -> DockerEngine:
    from .engine import DockerEngine  # Docker's library takes a moment, which not every command has to pay for

    # What the place's policy may choose the engine must accept: an own mirror, a team's image.
    allowed = (*settings.allowed_images, *context.place_images)
    ours = msgspec.structs.replace(
        settings, store=str(context.jobs_folder), allowed_images=allowed, policy_file=context.policy_file
    )
    return DockerEngine(ours, choose=context.choose_image, inventory=context.inventory)


ENGINE = EngineType(
    name="docker",
    settings=DockerSettings,
    make=_make,
    given=frozenset({"store", "server", "policy_file", "allowed_images", "fixed"}),
    wrong=wrong_fields,
    renamed={"allowed_images": "images.allowed"},
    tighter=TIGHTER,
    implied={"data_folders": {"writable_data_folders": []}},
    within=within,
)
