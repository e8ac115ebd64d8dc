"""Which release of Paddle an image has, as far as its name or a label says it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..domain.containers.images import LocalImage
from ..domain.containers.references import parse_reference
from .choice import ImagePolicy
from .tags import is_paddle_repository

LABEL = "jupyter-paddle-gpu.paddle"
"""By which whoever builds an image tells its release."""
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


def release_of(reference: str, local: Iterable[LocalImage], policy: ImagePolicy) -> str | None:
    """That of the image with this name; None where nothing says it.

    A tag speaks of Paddle in Paddle's own repositories and in mirrors of them; elsewhere it is the image's version.
    """
    named = next((one.labels.get(LABEL, "") for one in local if reference in one.references), "")
    if _RELEASE.match(named):
        return named
    read = parse_reference(reference)
    is_paddles = is_paddle_repository(read) or read.repository in policy.registries
    found = _RELEASE.match(read.tag) if is_paddles and not read.digest else None
    return found[0] if found else None
