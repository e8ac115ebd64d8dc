"""What one run of a notebook has otherwise than another one."""

from __future__ import annotations

from typing import Literal

from ..notebooks import FactValue
from ..variables import Difference, differences
from .job import JobSpec


def run_differences(before: JobSpec, after: JobSpec) -> tuple[Difference, ...]:
    """What one run has otherwise than another one: of the notebook first, then of where it runs."""
    found = list(differences(before.settings, after.settings))
    named = {one.name for one in found}
    for name in dict.fromkeys([*before.environment, *after.environment]):
        one, other = before.environment.get(name), after.environment.get(name)
        if one != other and name not in named:  # an answer is in both
            found.append(Difference(kind="environment", name=name, before=one, after=other))
    places: tuple[tuple[Literal["devices", "image", "engine"], FactValue, FactValue], ...] = (
        ("devices", before.resources.gpus, after.resources.gpus),
        ("image", before.image, after.image),
        ("engine", before.engine, after.engine),
    )
    found += [Difference(kind=kind, before=one, after=other) for kind, one, other in places if one != other]
    return tuple(found)
