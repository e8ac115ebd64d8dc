"""Which build runs on which driver and which card, by the rules of the card's maker."""

from __future__ import annotations

from ..devices.releases import Build, ReleaseBuilds
from ..domain.messages import Message
from .catalogue import version_key


def driver_problem(build: Build, driver_version: str | None, rules: ReleaseBuilds) -> Message | None:
    """Why a build cannot run on a driver; None where it can or the driver is not known."""
    minimum = rules.minimum_driver(build.runtime)
    if driver_version is None or minimum is None or version_key(driver_version) >= version_key(minimum):
        return None
    return Message(
        code="driver_too_old",
        text="{image}: {platform} {runtime} needs driver {minimum} or newer, here it is {driver}.",
        hint="Choose an image with an older {platform}, or update the driver on the host.",
        params={
            "image": build.tag,
            "platform": rules.platform,
            "runtime": build.runtime,
            "minimum": minimum,
            "driver": driver_version,
        },
    )


def architecture_problem(
    build: Build, capability: tuple[int, int] | None, paddle_version: str, rules: ReleaseBuilds
) -> Message | None:
    """Why a build has no kernels for a card; None where it has or the card's capability is not known."""
    if capability is None:
        return None
    major, minor = capability
    for architecture in build.architectures:
        compiled_major, compiled_minor = version_key(architecture)
        if not rules.runs((compiled_major, compiled_minor), capability):
            continue
        since = build.since.get(architecture)
        if since is None or version_key(paddle_version) >= version_key(since):
            return None
        return Message(
            code="architecture_from_later",
            text="{image}: kernels for compute capability {capability} came with Paddle {since}, this is {paddle}.",
            hint="Take Paddle {since} or later.",
            params={"image": build.tag, "capability": f"{major}.{minor}", "since": since, "paddle": paddle_version},
        )
    return Message(
        code="architecture_missing",
        text="{image}: compiled for {architectures}, this card is {capability}.",
        hint="Choose an image that was compiled for this card.",
        params={
            "image": build.tag,
            "architectures": " ".join(build.architectures),
            "capability": f"{major}.{minor}",
        },
    )
