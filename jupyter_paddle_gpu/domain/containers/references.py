"""Names of container images in Docker's own grammar, and the one rule that says which of them a pattern allows.

Every door reads names here: REST, a notebook's metadata, the terminal, the policy file, a Dockerfile's bases. What is
not in the grammar is refused before anybody compares it with anything: a daemon that cleans `device/../../evil:1` in a
URL would run another image than the one that was allowed.

Source of the grammar: github.com/distribution/reference, `reference.go`, `regexp.go` and `normalize.go`. Registries
that are named by an IPv6 address or by one word with capitals are left out: Docker before 23 has no such names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from ..errors import PaddleGpuError

DOCKER_HUB = "docker.io"
"""The registry of a name that begins with none."""
_OLD_HUB = "index.docker.io"
NAME_LIMIT = 255
"""Longest name without tag and digest (`NameTotalLengthMax`)."""

_AMBIGUOUS = (DOCKER_HUB, "library/sha256")
"""A name that reads as a digest's algorithm; a daemon refuses to give it to an image (`imageService.TagImage`)."""

_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST = re.compile(rf"{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*(?::[0-9]+)?")
_PATH = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# A daemon takes these for (the beginning of) an image's id where no image has that name.
_ID = re.compile(r"(?:sha256:)?[0-9a-fA-F]+")
_WILD = re.compile(r"[A-Za-z0-9._*:-]+(?:/[a-z0-9._*-]+)*|[a-z0-9._*-]+")


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """`host/path:tag@digest`, taken apart. `host` is `docker.io` where none was written."""

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def repository(self) -> str:
        """Without tag and digest, as Docker shows it (`paddlepaddle/paddle`, `registry.example/team/image`)."""
        short = self.path.removeprefix("library/")
        # `docker.io/x.y/team` without its registry would be another one's.
        return short if _split(short) == (self.host, self.path) else f"{self.host}/{self.path}"

    @property
    def canonical(self) -> str:
        """Whole, with its registry: what a daemon is asked for, because it can take this for nothing else."""
        return f"{self.host}/{self.path}{self._rest}"

    @property
    def _rest(self) -> str:
        return (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")

    def __str__(self) -> str:
        return self.repository + self._rest


def parse_reference(text: str) -> Reference:
    """Take a name apart by Docker's rules; `latest` where neither tag nor digest is given.

    Raises:
        PaddleGpuError: `image_by_id`, an id or what may be the beginning of one, which says nothing of where an image
            comes from; `bad_image_name`, whatever else is not in the grammar (400).
    """
    if _ID.fullmatch(text):
        raise PaddleGpuError(
            "image_by_id",
            "“{image}” is (or may be the beginning of) an image's id, which does not say where the image comes from.",
            hint="Write its name and tag; `docker image ls` shows them. To fix the content write repository@sha256:….",
            image=text[:200],
        )
    name, _, digest = text.partition("@")
    cut = name.rfind(":")
    name, tag = (name[:cut], name[cut + 1 :]) if cut > name.rfind("/") else (name, None)
    host, path = _split(name)
    if (
        not _PATH.fullmatch(path)
        or not _HOST.fullmatch(host)
        or len(host) + 1 + len(path) > NAME_LIMIT
        or (host, path) == _AMBIGUOUS
        or not (tag is None or _TAG.fullmatch(tag))
        or not ("@" not in text or _DIGEST.fullmatch(digest))
    ):
        raise PaddleGpuError(
            "bad_image_name",
            "“{image}” is not the name of a container image.",
            hint="Write it as registry/repository:tag.",
            image=text[:200],
        )
    return Reference(host=host, path=path, tag=tag or ("" if digest else "latest"), digest=digest)


def _split(name: str) -> tuple[str, str]:
    """Host and path of a name (`splitDockerDomain`): the first part is a host where it cannot be anything else."""
    first, slash, rest = name.partition("/")
    if not slash or not (first == "localhost" or any(c in first for c in ".:")):
        first, rest = DOCKER_HUB, name
    first = DOCKER_HUB if first == _OLD_HUB else first
    return first, f"library/{rest}" if first == DOCKER_HUB and "/" not in rest else rest


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """Which images are meant by `registry.example/team/*`: `*` stands for any characters, in a path for `/` as well.

    A pattern without tag and digest means every image of its repositories. With a tag it means names that are found by
    their tag (one that also has a digest is found by that, whatever tag stands beside it); with a digest that content.
    """

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    def allows(self, reference: Reference) -> bool:
        """Whether the image is one of those that are meant."""
        if not (_like(self.host, reference.host) and _like(self.path, reference.path)):
            return False
        if self.digest:
            return self.digest == reference.digest
        return not self.tag or (not reference.digest and _like(self.tag, reference.tag))

    def covers(self, other: Pattern) -> bool:
        """Whether every image that the other one means is meant by this one, as far as their texts show it."""
        if not (_like(self.host, other.host) and _like(self.path, other.path)):
            return False
        if self.digest:
            return self.digest == other.digest
        return not self.tag or (bool(other.tag) and not other.digest and _like(self.tag, other.tag))


EVERYTHING = Pattern(host="*", path="*")
"""What `*` alone means."""


@lru_cache(maxsize=512)
def parse_pattern(text: str) -> Pattern:
    """Take a pattern apart as a name is, so that both mean the same repository. Raises `PaddleGpuError` (400)."""
    if text == "*":
        return EVERYTHING
    name, at, digest = text.partition("@")
    cut = name.rfind(":")
    tag = name[cut + 1 :] if cut > name.rfind("/") else ""
    name = name[:cut] if tag else name
    host, path = _split(name)
    could_match = _WILD.fullmatch(name) and _PATH.fullmatch(path.replace("*", "a")) is not None
    host_could = _HOST.fullmatch(host.replace(":*", ":1").replace("*", "a")) is not None
    tag_could = not tag or _TAG.fullmatch(tag.replace("*", "a")) is not None
    if not (could_match and host_could and tag_could and (not at or _DIGEST.fullmatch(digest))):
        raise PaddleGpuError(
            "bad_image_pattern",
            "“{pattern}” can match no image.",
            hint="Write registry/repository with * for any characters, for example registry.example/team/*.",
            pattern=text[:200],
        )
    return Pattern(host=host, path=path, tag=tag, digest=digest)


def is_allowed(reference: Reference, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns allows the image. Raises `PaddleGpuError` for what is no pattern."""
    return any(parse_pattern(pattern).allows(reference) for pattern in patterns)


def _like(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None
