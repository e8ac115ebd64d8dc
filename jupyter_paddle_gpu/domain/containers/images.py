"""What a container daemon and a registry know of images: handed from the engine to whoever chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from ..messages import Message
from .references import Reference, is_allowed

PADDLE_IMAGES = (
    "paddlepaddle/paddle",
    "registry.baidubce.com/paddlepaddle/paddle",
    "ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle",
    "ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device/*",
)
"""Repositories that Paddle publishes; always allowed."""


class LocalImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that the daemon has: all its references, its id, and the digests that registries know it by."""

    id: str
    references: tuple[str, ...]
    digests: tuple[str, ...] = ()
    labels: dict[str, str] = {}


class RegistryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a registry said of a reference: there (with digest), not there, refused, or no answer at all.

    Attributes:
        detail: its own words.
        reason: the engine's sentence on a refusal or on silence, which knows what can be done about it.
    """

    state: Literal["found", "missing", "refused", "silent"]
    digest: str = ""
    detail: str = ""
    reason: Message | None = None


AskRegistry = Callable[[str], RegistryAnswer]
"""Asks about one reference; may block for as long as a registry takes."""


def refused_image(reference: Reference, allowed: Iterable[str], policy_file: str) -> Message | None:
    """Why nobody may name this image: neither Paddle publishes it nor a pattern of `allowed` names it; None: one may.

    `policy_file`: where an administrator would allow it.
    """
    if is_allowed(reference, (*PADDLE_IMAGES, *allowed)):
        return None
    return Message(
        code="image_not_allowed",
        text="The image {image} is not among those allowed here.",
        hint="Take one of Paddle's, or ask the administrator to add it to “images.allowed” in {file}.",
        params={"image": str(reference)[:200], "file": policy_file},
    )
