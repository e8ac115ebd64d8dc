"""What `doctor` says of devices that nobody has checked on hardware: nodes, packages of Paddle, how far it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..devices.maker import Maker, PaddlePackages
from ..devices.makers.registry import makers
from ..domain.devices import Inventory
from ..domain.messages import Message
from ..engines.paddle import for_cpu, installed
from .requests import Check


def examine(inventory: Inventory, python: Callable[[], Path], root: Path = Path("/")) -> Iterator[Check]:
    """Findings for each maker that has a device here: whether the kernel's Paddle is one for it, and of those that
    nobody has checked on hardware what is known.

    Args:
        python: the kernel's interpreter; asked only where there is such a device. May raise `PaddleGpuError`.
    """
    for maker in makers().rows.values():
        ids = [device.id for device in inventory.devices if device.vendor == maker.name and not device.simulated]
        if not ids:
            continue
        if maker.checked:
            if (finding := for_cpu(python())) is not None:
                yield Check(name="paddle", ok=False, finding=finding, needed=False)
            continue
        yield Check(name="device", ok=False, finding=_unchecked(maker), needed=False)
        yield from _nodes(maker, ids, root)
        if maker.paddle is not None:
            yield packages_finding(
                maker, maker.paddle, installed(python(), [row.name for row in maker.paddle.packages])
            )


def _unchecked(maker: Maker) -> Message:
    return Message(
        code="maker_unchecked",
        text="What is known of the devices of {vendor} is from documents: it was not checked on hardware.",
        hint="Try a small job first, and tell us what was wrong (docs/makers.md).",
        params={"vendor": maker.title},
    )


def _nodes(maker: Maker, ids: Iterable[str], root: Path) -> Iterator[Check]:
    for device in ids:
        missing = maker.preflight((device,), root)
        if missing is not None:
            yield Check(name="device", ok=False, finding=missing, needed=False)


def packages_finding(maker: Maker, paddle: PaddlePackages, found: dict[str, str]) -> Check:
    """Whether what is installed for a kernel is what Paddle needs on a maker's devices."""
    missing = [row.name for row in paddle.packages if row.name not in found]
    if missing:
        finding = Message(
            code="maker_package_missing",
            text="The kernel has no {packages}, without which Paddle sees no device of {vendor}.",
            hint="Run `{command}` in the kernel's environment.",
            params={"packages": ", ".join(missing), "vendor": maker.title, "command": paddle.install},
        )
        return Check(name="paddle", ok=False, finding=finding, needed=False)
    versions = {row.name: found[row.name] for row in paddle.packages}
    params = {"versions": ", ".join(map(" ".join, versions.items())), "vendor": maker.title}
    if len({version.split("+")[0] for version in versions.values()}) > 1:
        finding = Message(
            code="maker_package_mismatch",
            text="The kernel's packages for {vendor} are of different versions: {versions}.",
            hint="A plugin needs Paddle of its own version: `{command}`.",
            params={**params, "command": paddle.install},
        )
        return Check(name="paddle", ok=False, finding=finding, needed=False)
    finding = Message(
        code="maker_packages_found", text="The kernel has {versions} for devices of {vendor}.", params=params
    )
    return Check(name="paddle", ok=True, finding=finding, needed=False)
