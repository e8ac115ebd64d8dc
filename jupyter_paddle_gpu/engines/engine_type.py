"""What the registry knows of an engine: its name, its settings, and how one is made. An engine's folder has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ..domain.devices import Inventory
from ..domain.images import AskRegistry, LocalImage
from ..domain.jobs import Job
from ..domain.placements import ImageChoice
from .base import Engine

ChooseImage = Callable[[Job, tuple[LocalImage, ...], AskRegistry], ImageChoice]
"""Chooses an image for a job that names none; handed in, because engines know nothing of the image catalogue."""

S = TypeVar("S", bound=msgspec.Struct)


@dataclass(frozen=True)
class EngineContext:
    """What an engine is made with besides its settings.

    Attributes:
        jobs_folder: holds a folder per job; names the store whose jobs the engine runs.
        inventory: this machine's devices now.
        choose_image: for a job that names no image.
        place_images: patterns of image names that this place's policy may choose, so an engine accepts them.
    """

    jobs_folder: Path
    inventory: Callable[[], Inventory]
    choose_image: ChooseImage
    place_images: tuple[str, ...] = ()


def _nothing_wrong(settings: msgspec.Struct) -> Iterator[tuple[str, str]]:
    yield from ()


@dataclass(frozen=True, kw_only=True)
class EngineType(Generic[S]):
    """One row of the registry.

    Attributes:
        name: as it stands in submissions, rows and the policy file.
        settings: its section of the policy file: a struct whose fields all have defaults.
        make: makes the engine. Imports what is heavy, and never fails for want of a daemon or a library: that is in
            the engine's `supported_features`.
        given: fields of the settings that follow from where we run; a file cannot give them.
        wrong: what the types of the settings cannot say: `(field, why)` for each value that cannot be.
    """

    name: str
    settings: type[S]
    make: Callable[[S, EngineContext], Engine]
    given: frozenset[str] = frozenset()
    wrong: Callable[[S], Iterator[tuple[str, str]]] = _nothing_wrong
