"""What the registry knows of an engine: its name, its settings, and how one is made. An engine's folder has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from ..domain.containers.images import AskRegistry, LocalImage
from ..domain.devices import Inventory
from ..domain.jobs.job import Job
from ..domain.placements import ImageChoice
from ..domain.strictness import Tighten
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
        place_images: patterns of image names that this place's policy allows or may choose, so an engine accepts them.
        policy_file: where an administrator settles what engines allow, for the sentences that say so.
    """

    jobs_folder: Path
    inventory: Callable[[], Inventory]
    choose_image: ChooseImage
    place_images: tuple[str, ...] = ()
    policy_file: str = "paddle-gpu.yaml"


def _nothing_wrong(settings: msgspec.Struct) -> Iterator[tuple[str, str]]:
    yield from ()


def _as_they_are(settings: S, fixed: S, named: frozenset[str]) -> S:
    return settings


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
        renamed: fields that a file may still have under an old name -> the whole new name.
        tighter: how a field of a later policy file can only tighten what the system's fixes (`domain.strictness`); one
            that is not named keeps the system's value.
        implied: field -> other fields that are fixed with it, at these values where the system's file does not say.
        within: (settings, the system's own, the fields that its file names) -> the settings that hold, for what two
            values alone cannot say.
    """

    name: str
    settings: type[S]
    make: Callable[[S, EngineContext], Engine]
    given: frozenset[str] = frozenset()
    wrong: Callable[[S], Iterator[tuple[str, str]]] = _nothing_wrong
    renamed: Mapping[str, str] = field(default_factory=dict)
    tighter: Mapping[str, Tighten] = field(default_factory=dict)
    implied: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    within: Callable[[S, S, frozenset[str]], S] = _as_they_are
