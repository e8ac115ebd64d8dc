"""Image references as Docker writes them, and Paddle tags that only blog posts know."""

from __future__ import annotations

import re

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.messages import Message
from .catalogue import Catalogue, load_catalogue, version_key

_NAME = re.compile(
    r"^(?P<name>[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::[0-9]+)?(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?$"
)
# What people write from memory in the manner of Paddle's GPU tags. Tags of another manner (`latest-dev-…`, `…-jupyter`)
# exist or existed, so nothing is claimed of them.
_MEANT = re.compile(
    r"^(?P<paddle>latest|\d+(?:\.\d+){0,2})-gpu-cuda(?P<cuda>\d+(?:\.\d+)?)(?:-cudnn[\d.]+)?(?:-trt[\d.]+)?$"
)


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """`host/path:tag@digest`, taken apart. `host` is `docker.io` where none was written."""

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def repository(self) -> str:
        """Without tag and digest, as Docker shows it (`paddlepaddle/paddle`, `registry.example/team/image`)."""
        path = self.path.removeprefix("library/") if self.host == "docker.io" else self.path
        return path if self.host == "docker.io" else f"{self.host}/{path}"

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.repository}{tag}" + (f"@{self.digest}" if self.digest else "")


def parse_reference(text: str) -> Reference:
    """Take a reference apart by Docker's rules; `latest` where neither tag nor digest is given. Raises (400)."""
    match = _NAME.match(text.strip())
    if match is None or len(text) > 400:
        raise PaddleGpuError(
            "bad_image_name",
            "“{image}” is not the name of a container image.",
            hint="Write it as registry/repository:tag.",
            image=text[:200],
        )
    name, tag, digest = match["name"], match["tag"] or "", match["digest"] or ""
    first, _, rest = name.partition("/")
    if rest and (any(c in first for c in ".:") or first == "localhost"):
        host, path = first, rest
    else:
        host, path = "docker.io", name if rest else f"library/{name}"
    if not tag and not digest:
        tag = "latest"
    return Reference(host=host, path=path, tag=tag, digest=digest)


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
