"""Tags of Paddle's own images: those that exist, and those that only blog posts know."""

from __future__ import annotations

from ..devices.makers.registry import makers
from ..devices.releases import ReleaseBuilds
from ..domain.containers.references import Reference
from ..domain.messages import Message
from .catalogue import Catalogue, load_catalogue, version_key


def is_paddle_repository(reference: Reference, catalogue: Catalogue | None = None) -> bool:
    """Is this one of the repositories whose tags we know?"""
    known = catalogue or load_catalogue()
    return reference.repository in {registry.repository for registry in known.registries}


def known_tags(catalogue: Catalogue | None = None) -> frozenset[str]:
    """Every tag of Paddle's own repository that is known, for CPUs and for the makers' devices."""
    known = catalogue or load_catalogue()
    built = {
        rows.tag(paddle, build) for rows in _makers_rows() for paddle in rows.published for build in rows.of(paddle)
    }
    return frozenset({*built, *known.releases})


def explain_tag(reference: Reference, catalogue: Catalogue | None = None) -> tuple[str, Message] | None:
    """For a Paddle tag that does not exist: the real reference that is meant, and a sentence that says so.

    None where the tag is real, unknown in a way that a newer release could explain, or not Paddle's.
    """
    known = catalogue or load_catalogue()
    if not is_paddle_repository(reference, known) or reference.digest or reference.tag in known_tags(known):
        return None
    found = ((rows, _meant(reference.tag, rows)) for rows in _makers_rows())
    rows, real = next(((rows, real) for rows, real in found if real is not None), (None, None))
    if rows is None:
        return None
    meant = f"{reference.repository}:{real}"
    return meant, Message(
        code="made_up_tag",
        text="There is no image {image}: Paddle's tags are written {form}.",
        hint="The image that is meant is {meant}.",
        params={"image": str(reference), "form": rows.written, "meant": meant},
    )


def _makers_rows() -> list[ReleaseBuilds]:
    return [maker.releases for maker in makers().rows.values() if maker.releases is not None]


def _meant(tag: str, rows: ReleaseBuilds) -> str | None:
    match = rows.manner.fullmatch(tag)
    if match is None:
        return None
    version, runtime = match["paddle"].replace("latest", ""), match["runtime"]
    # A full version that is not known is older or newer than what is: no claim about that.
    if version.count(".") == 2 and version not in rows.published:
        return None
    fitting = [paddle for paddle in rows.published if not version or f"{paddle}.".startswith(f"{version}.")]
    pairs = [(paddle, build) for paddle in fitting for build in rows.of(paddle)]
    # Where that release never had that runtime: the nearest of the same major version, then any.
    for beginning in (runtime, runtime.split(".")[0] + ".", ""):
        chosen = [(paddle, build) for paddle, build in pairs if build.runtime.startswith(beginning)]
        if chosen:
            paddle, build = max(chosen, key=lambda pair: (version_key(pair[0]), version_key(pair[1].runtime)))
            return rows.tag(paddle, build)
    return None
