"""Tags of Paddle's own images: those that exist, and those that only blog posts know."""

from __future__ import annotations

import re

from ..domain.containers.references import Reference
from ..domain.messages import Message
from .catalogue import Catalogue, load_catalogue, version_key

# What people write from memory in the manner of Paddle's GPU tags. Tags of another manner (`latest-dev-…`, `…-jupyter`)
# exist or existed, so nothing is claimed of them.
_MEANT = re.compile(
    r"^(?P<paddle>latest|\d+(?:\.\d+){0,2})-gpu-cuda(?P<cuda>\d+(?:\.\d+)?)(?:-cudnn[\d.]+)?(?:-trt[\d.]+)?$"
)


def is_paddle_repository(reference: Reference, catalogue: Catalogue | None = None) -> bool:
    """Is this one of the repositories whose tags we know?"""
    known = catalogue or load_catalogue()
    return reference.repository in {registry.repository for registry in known.registries}


def known_tags(catalogue: Catalogue | None = None) -> frozenset[str]:
    """Every tag of Paddle's own repository that the catalogue holds, GPU and CPU."""
    known = catalogue or load_catalogue()
    gpu = {f"{release.paddle}-gpu-{build}" for release in known.releases for build in release.builds}
    return frozenset(gpu | {release.paddle for release in known.releases})


def explain_tag(reference: Reference, catalogue: Catalogue | None = None) -> tuple[str, Message] | None:
    """For a Paddle tag that does not exist: the real reference that is meant, and a sentence that says so.

    None where the tag is real, unknown in a way that a newer release could explain, or not Paddle's.
    """
    known = catalogue or load_catalogue()
    if not is_paddle_repository(reference, known) or reference.digest or reference.tag in known_tags(known):
        return None
    real = _meant(reference.tag, known)
    if real is None:
        return None
    meant = f"{reference.repository}:{real}"
    return meant, Message(
        code="made_up_tag",
        text="There is no image {image}: Paddle's tags are written <version>-gpu-cuda<x.y>-cudnn<x.y>.",
        hint="The image that is meant is {meant}.",
        params={"image": str(reference), "meant": meant},
    )


def _meant(tag: str, known: Catalogue) -> str | None:
    match = _MEANT.match(tag)
    if match is None:
        return None
    version, cuda = match["paddle"].replace("latest", ""), match["cuda"]
    # A full version that the catalogue does not hold is older or newer than it: no claim about that.
    if version.count(".") == 2 and known.release(version) is None:
        return None
    fitting = [r for r in known.releases if not version or (r.paddle + ".").startswith(version + ".")]
    pairs = [(r, b) for r in fitting for b in r.builds if b.removeprefix("cuda").startswith(cuda)]
    if not pairs:  # that release never had that CUDA: the nearest CUDA of the same major, then any
        major = cuda.split(".")[0] + "."
        pairs = [(r, b) for r in fitting for b in r.builds if b.removeprefix("cuda").startswith(major)]
        pairs = pairs or [(r, b) for r in fitting for b in r.builds]
    if not pairs:
        return None
    release, build = max(pairs, key=lambda pair: (version_key(pair[0].paddle), version_key(known.build(pair[1]).cuda)))
    return f"{release.paddle}-gpu-{build}"
