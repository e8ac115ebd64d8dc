"""Installed packages that a program asks for by the names that pip knows them by, and that are not here:
`importlib.metadata.version("einops")`, `pkg_resources.require("einops>=0.6")`."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError

from .variables import chain

_QUOTED = re.compile(r"The '([^']+)' distribution was not found")
"""What setuptools says, and others in its words."""


def missing(problem: BaseException) -> str | None:
    """What pip would have to install, with the releases that are asked for; None where a program ended otherwise. What
    it says itself in place of such an error has to name the package."""
    for one in chain(problem):
        found = _of(one)
        if found is not None and (
            one in (problem, problem.__cause__) or re.split(r"[^\w.-]", found)[0] in str(problem)
        ):
            return found
    return None


def _of(problem: BaseException) -> str | None:
    if not isinstance(problem, PackageNotFoundError) and type(problem).__name__ != "DistributionNotFound":
        return None
    said = _QUOTED.search(str(problem))
    if said is not None:
        return said[1]
    return str(problem.name) if isinstance(problem, PackageNotFoundError) else None
