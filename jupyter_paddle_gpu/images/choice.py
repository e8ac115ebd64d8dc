"""The image for a job: what fits driver and card, local ones first, each decision with its sentence."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..devices.maker import Maker
from ..devices.makers.registry import makers
from ..devices.releases import Build, ReleaseBuilds
from ..domain.containers.images import AskRegistry, LocalImage, RegistryAnswer, refused_image
from ..domain.containers.references import parse_reference
from ..domain.devices import Vendor
from ..domain.messages import Message, Param
from ..domain.placements import ImageChoice
from .catalogue import Catalogue, Registry, current_registries, load_catalogue, version_key
from .rules import architecture_problem, driver_problem
from .tags import explain_tag


class ImagePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What an administrator settles.

    Attributes:
        registries: names of the catalogue's registries, or repositories of one's own mirror, in the order to try.
        allowed: patterns (`registry.example/team/*`) of images besides Paddle's own that a person may name.
        preferred: an image that is taken before the catalogue's (a team's own).
        policy_file: where all this is settled, for the sentences that say so.
    """

    registries: tuple[str, ...] = current_registries()
    allowed: tuple[str, ...] = ()
    preferred: str = ""
    policy_file: str = "paddle-gpu.yaml"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Everything that may be run besides Paddle's own: what is allowed, the preferred image, mirrors."""
        mirrors = (name for name in self.registries if "/" in name)
        return (*self.allowed, *((self.preferred,) if self.preferred else ()), *mirrors)


class _Need(msgspec.Struct, frozen=True):
    """What the image has to run: framework, and the driver and card it meets (None: not known).

    Attributes:
        rules: of the card's maker; None: no card.
    """

    paddle_version: str | None
    driver: str | None
    capability: tuple[int, int] | None
    rules: ReleaseBuilds | None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An image that would do, before anybody was asked whether it exists."""

    reference: str
    reasons: tuple[Message, ...]


def allowed_image(text: str, policy: ImagePolicy) -> Message | None:
    """Why a person may not name this image; None where they may. Raises `PaddleGpuError` where it is no name."""
    return refused_image(parse_reference(text), policy.patterns, policy.policy_file)


def choose_image(
    paddle_version: str | None,
    driver_version: str | None,
    compute_capability: tuple[int, int] | None,
    vendor: Vendor | None,
    *,
    machine: str = "x86_64",
    wanted: str = "",
    local: Iterable[LocalImage] = (),
    policy: ImagePolicy | None = None,
    ask: AskRegistry | None = None,
    catalogue: Catalogue | None = None,
) -> ImageChoice:
    """The image to run in, with reasons and with what was ruled out. `reference` is empty where nothing fits.

    Args:
        paddle_version: of the notebook's kernel (`3.3.1`); None takes the newest.
        driver_version, compute_capability: of the device; None where not known, which rules nothing out.
        vendor: of the device; None or `cpu` takes the image without GPU.
        wanted: an image that the person named; checked against the allow-list.
        local: what the daemon has.
        ask: asks registries (may block); without it a tag stands unchecked and a reason says so.
    """
    known, rules = catalogue or load_catalogue(), policy or ImagePolicy()
    have = {name: image for image in local for name in image.references}
    ruled_out: list[Message] = []
    maker = makers().named(vendor)
    released = vendor in (None, "cpu") or (maker is not None and maker.releases is not None)
    named = wanted or (rules.preferred if released else "")
    if named:
        candidates = _named(named, rules, known, ruled_out)
    elif not released:
        candidates = [] if maker is None else _of_maker(maker, machine)
        if not candidates:
            ruled_out.append(_no_vendor_image(vendor, machine))
    else:
        need = _Need(paddle_version, driver_version, compute_capability, maker.releases if maker is not None else None)
        candidates = _paddle(need, rules, known, ruled_out)
        # Stable: within what is here and what is not, the order of releases, builds and registries stays.
        candidates.sort(key=lambda candidate: candidate.reference not in have)
    return _settle(candidates, have, ask, tuple(ruled_out))


def _named(text: str, rules: ImagePolicy, known: Catalogue, ruled_out: list[Message]) -> list[Candidate]:
    refused = allowed_image(text, rules)
    if refused:
        ruled_out.append(refused)
        return []
    reference = parse_reference(text)
    made_up = explain_tag(reference, known)
    if made_up:
        meant, message = made_up
        ruled_out.append(message)
        reason = Message(
            code="meant_image", text="{image} is what {named} means.", params={"image": meant, "named": text}
        )
        return [Candidate(reference=meant, reasons=(reason,))]
    reason = Message(code="named_image", text="{image} was named.", params={"image": str(reference)})
    return [Candidate(reference=str(reference), reasons=(reason,))]


def _of_maker(maker: Maker, machine: str) -> list[Candidate]:
    command = maker.paddle.install if maker.paddle is not None else ""
    return [
        Candidate(
            reference=row.reference,
            reasons=(
                Message(
                    code="vendor_image",
                    text="{image} is Paddle's development image for {vendor}; the framework itself is installed on "
                    "top.",
                    hint="In an image of your own (docs/images-of-your-own.md): `{command}`." if command else "",
                    params={"image": row.reference, "vendor": maker.title, "command": command},
                ),
            ),
        )
        for row in maker.images
        if row.machine == machine
    ]


def _no_vendor_image(vendor: Vendor | None, machine: str) -> Message:
    return Message(
        code="vendor_without_image",
        text="No image of Paddle for {vendor} on {machine} is known.",
        hint="Make one of your own (docs/images-of-your-own.md) and name it with `--image`.",
        params={"vendor": str(vendor), "machine": machine},
    )


def _paddle(need: _Need, rules: ImagePolicy, known: Catalogue, ruled_out: list[Message]) -> list[Candidate]:
    candidates: list[Candidate] = []
    for release in _releases(need.paddle_version, known):
        if need.rules is not None:
            rows = [
                (need.rules.tag(release, build), _reason_gpu(release, build, need, need.rules))
                for build in _fitting(release, need, need.rules, ruled_out)
            ]
        else:
            rows = [(release, _reason_cpu(release))]
        candidates += [
            Candidate(reference=f"{repository}:{tag}", reasons=(*_another_paddle(need, release, known), reason))
            for tag, reason in rows
            for repository in _repositories(rules, known, release)
        ]
        if candidates and need.paddle_version is not None:
            break  # without a version to keep to, an older release that is here is better than a download
    return candidates


def _releases(version: str | None, known: Catalogue) -> list[str]:
    """The asked release first, then its nearest in the same minor line (newer first), then newer lines upwards."""
    if version is None:
        return list(reversed(known.releases))
    key = version_key(version)
    same_line = [r for r in known.releases if version_key(r)[:2] == key[:2]]
    later = [r for r in known.releases if version_key(r)[:2] > key[:2]]
    same_line.sort(key=lambda r: (r != version, version_key(r) < key, _distance(r, key)))
    if not same_line and not later:  # newer than the catalogue: the newest known is nearest
        return [known.releases[-1]]
    return same_line + later


def _distance(version: str, key: tuple[int, ...]) -> int:
    return abs(version_key(version)[-1] - key[-1])


def _fitting(release: str, need: _Need, rules: ReleaseBuilds, ruled_out: list[Message]) -> list[Build]:
    """The builds of a release that run here, newest runtime first; the others go to `ruled_out`."""
    fitting = []
    for build in rules.of(release):
        problem = driver_problem(build, need.driver, rules)
        problem = problem or architecture_problem(build, need.capability, release, rules)
        if problem is None:
            fitting.append(build)
        elif problem not in ruled_out:
            ruled_out.append(problem)
    return sorted(fitting, key=lambda build: version_key(build.runtime), reverse=True)


def _repositories(rules: ImagePolicy, known: Catalogue, release: str) -> list[str]:
    by_name = {registry.name: registry for registry in known.registries}
    out = []
    for name in rules.registries:
        registry: Registry | None = by_name.get(name)
        if registry is None:
            out.append(name)  # a mirror of one's own, written as a repository
        elif not registry.until or version_key(release) <= version_key(registry.until):
            out.append(registry.repository)
    return out


def _reason_cpu(release: str) -> Message:
    return Message(
        code="cpu_image",
        text="Paddle {paddle} for CPUs: the job asks for no GPU.",
        params={"paddle": release},
    )


def _another_paddle(need: _Need, release: str, known: Catalogue) -> tuple[Message, ...]:
    """That it is not the Paddle that was asked for, and why; nothing where it is."""
    asked = need.paddle_version
    if asked is None or asked.split("+")[0] == release:
        return ()
    if asked.split("+")[0] not in known.releases:
        first, last = known.releases[0], known.releases[-1]
        return (
            Message(
                code="paddle_without_image",
                text="No image with Paddle {asked} is known (the catalog has {first} to {last}); Paddle {paddle} is "
                "the nearest.",
                params={"asked": asked, "first": first, "last": last, "paddle": release},
            ),
        )
    return (
        Message(
            code="paddle_does_not_run",
            text="No image with Paddle {asked} fits here; Paddle {paddle} is the nearest that does.",
            params={"asked": asked, "paddle": release},
        ),
    )


def _reason_gpu(release: str, build: Build, need: _Need, rules: ReleaseBuilds) -> Message:
    params: dict[str, Param] = {"paddle": release, "platform": rules.platform, "runtime": build.runtime}
    if need.capability is not None:
        params["capability"] = f"{need.capability[0]}.{need.capability[1]}"
    if need.driver is not None:
        params["driver"] = need.driver
    if need.driver is not None and need.capability is not None:
        return Message(
            code="gpu_image",
            text="Paddle {paddle} with {platform} {runtime}: runs on driver {driver} and has kernels for {capability}.",
            params=params,
        )
    if need.capability is not None:
        return Message(
            code="gpu_image_for_card",
            text="Paddle {paddle} with {platform} {runtime}: has kernels for {capability}, and needs driver "
            "{minimum} or newer.",
            params={**params, "minimum": rules.minimum_driver(build.runtime) or "?"},
        )
    if need.driver is not None:
        return Message(
            code="gpu_image_for_driver",
            text="Paddle {paddle} with {platform} {runtime}: runs on driver {driver}; whether it has kernels for this "
            "card is not known.",
            params=params,
        )
    return Message(
        code="gpu_image_unchecked",
        text="Paddle {paddle} with {platform} {runtime}: neither driver nor card are known, so this may not fit.",
        params=params,
    )


def _settle(
    candidates: list[Candidate], have: dict[str, LocalImage], ask: AskRegistry | None, ruled_out: tuple[Message, ...]
) -> ImageChoice:
    """The first candidate that is here or that a registry has; the first one unchecked where none answers."""
    silent: dict[str, RegistryAnswer] = {}
    for candidate in candidates:
        reference = candidate.reference
        if image := have.get(reference):
            return ImageChoice(
                reference=reference,
                local=True,
                digest=image.digests[0].split("@")[-1] if image.digests else image.id,
                reasons=(*candidate.reasons, Message(code="image_local", text="It is already on this machine.")),
                ruled_out=ruled_out,
            )
        if ask is None:
            continue
        answer = ask(reference)
        if answer.state == "found":
            found = Message(
                code="image_found", text="The registry has it as {digest}.", params={"digest": answer.digest}
            )
            reasons = (*candidate.reasons, found)
            return ImageChoice(reference=reference, digest=answer.digest, reasons=reasons, ruled_out=ruled_out)
        if answer.state == "silent":
            silent[reference] = answer
        else:
            ruled_out = (*ruled_out, _denied(reference, answer))
    unsure = next((item for item in candidates if ask is None or item.reference in silent), None)
    if unsure is None:
        return ImageChoice(reference="", ruled_out=ruled_out)
    reasons = (*unsure.reasons, _unchecked(silent.get(unsure.reference)))
    return ImageChoice(reference=unsure.reference, reasons=reasons, ruled_out=ruled_out)


def _denied(reference: str, answer: RegistryAnswer) -> Message:
    if answer.state == "missing":
        return Message(
            code="image_not_in_registry",
            text="The registry has no image {image}.",
            params={"image": reference},
        )
    return answer.reason or Message(
        code="registry_refuses",
        text="The registry does not give {image}: {detail}",
        hint="Give the engine an account of that registry, or name an image that anybody may have.",
        params={"image": reference, "detail": answer.detail[:300]},
    )


def _unchecked(answer: RegistryAnswer | None) -> Message:
    if answer is not None:
        return answer.reason or Message(
            code="registry_silent",
            text="No registry answered, so nobody has confirmed that this image exists.",
            hint="Check the network and its proxy, or bring the image to where the job runs.",
        )
    return Message(
        code="registry_not_asked",
        text="This tag comes from the catalog; the registry is asked before a job starts.",
    )
