"""Is everything here that work needs? Each part with what was found and the exact next step."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from ..claims import folder as claims
from ..devices.makers.registry import makers
from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.messages import Message, Param, Translate
from ..engines.base import Engine
from ..engines.capabilities import accelerators, problems_of
from ..engines.registry import Registry
from ..estimator import messages
from ..estimator.workers.outcomes import Greeting
from ..matching.sentences import named
from ..version import __version__
from . import device_support
from .policies.files import Policies
from .policies.overview import old_name
from .requests import Check
from .settings import OLD_POLICY_FILE

DISK_NEEDED = 1 << 30
"""Bytes that should be free in the data folder: logs, notebooks and checkpoints of some jobs."""


def examine(
    kernel_name: str,
    *,
    greeting: Callable[[], Greeting],
    inventory: Callable[[], Inventory],
    registry: Callable[[], Registry],
    engines: Callable[[], Mapping[str, Engine]],
    policies: Callable[[], Policies],
    data_folder: Path,
    claims_folder: Path,
    queue_folder: Path,
) -> tuple[Check, ...]:
    """All checks; one that fails unexpectedly says so and keeps none of the others from running.

    Devices and engines are asked for when their turn comes: a policy that cannot be read is a finding too.
    """
    checks: list[Check] = [_version()]
    parts: tuple[tuple[str, Callable[[], Iterable[Check]]], ...] = (
        ("kernel", lambda: _kernel(kernel_name)),
        ("tracing", lambda: _tracing(greeting)),
        ("devices", lambda: _devices(inventory())),
        ("makers", lambda: device_support.examine(inventory(), lambda: _python(kernel_name))),
        ("plugins", lambda: _left_out(registry())),
        ("engines", lambda: _engines(engines())),
        ("policy", lambda: _policy(policies)),
        ("claims", lambda: _claims(inventory(), claims_folder)),
        ("queue", lambda: _queue(inventory(), queue_folder)),
        ("data_folder", lambda: _data_folder(data_folder)),
    )
    for name, part in parts:
        checks.extend(_guarded(name, part))
    return tuple(checks)


def _guarded(name: str, part: Callable[[], Iterable[Check]]) -> list[Check]:
    try:
        return list(part())
    except PaddleGpuError as error:
        return [Check(name=name, ok=False, finding=error.message)]
    except Exception as error:  # a doctor that falls ill helps nobody
        finding = Message(
            code="check_failed",
            text="This could not be checked: {error}.",
            hint="Please report it with this line.",
            params={"error": f"{type(error).__name__}: {error}"},
        )
        return [Check(name=name, ok=False, finding=finding, needed=False)]


class CheckRow(msgspec.Struct, frozen=True, kw_only=True):
    """A check as faces send it, in the reader's language."""

    name: str
    ok: bool
    needed: bool
    code: str
    message: str
    hint: str


def to_rows(checks: Iterable[Check], translate: Translate) -> list[CheckRow]:
    """Checks in the reader's language."""
    return [
        CheckRow(
            name=check.name,
            ok=check.ok,
            needed=check.needed,
            code=check.finding.code,
            message=check.finding.render(translate),
            hint=check.finding.render_hint(translate),
        )
        for check in checks
    ]


def _version() -> Check:
    finding = Message(
        code="version",
        text="jupyter_paddle_gpu {version}, Python {python}.",
        params={"version": __version__, "python": ".".join(map(str, sys.version_info[:3]))},
    )
    return Check(name="version", ok=True, finding=finding)


def _python(kernel_name: str) -> Path:
    from ..estimator.workers.interpreters import find_interpreter

    return Path(find_interpreter(kernel_name).python)


def _kernel(kernel_name: str) -> Iterable[Check]:
    finding = Message(
        code="kernel_found",
        text="The kernel “{kernel}” runs {python}.",
        params={"kernel": kernel_name, "python": str(_python(kernel_name))},
    )
    yield Check(name="kernel", ok=True, finding=finding)


def _tracing(asked: Callable[[], Greeting]) -> Iterable[Check]:
    """Whether steps of the kernel's Paddle can be traced, and what it no longer has of what a trace replaces.

    A kernel without Paddle is none to worry about here: its notebooks may do other work.
    """
    try:
        greeting = asked()
    except PaddleGpuError:  # there is no such kernel: told already
        return
    if greeting.error:
        return
    version = greeting.paddle_version
    findings = messages.about_unpatched(version, greeting.unpatched)
    if greeting.tracer_error:
        findings = (messages.UNTRACED_VERSION.filled(version=version),)
    for finding in findings:
        yield Check(name="tracing", ok=False, finding=finding, needed=False)
    if not findings:
        finding = Message(
            code="tracing_ready",
            text="Steps of Paddle {version} can be traced: it has everything that a trace replaces.",
            params={"version": version},
        )
        yield Check(name="tracing", ok=True, finding=finding, needed=False)


def _devices(inventory: Inventory) -> Iterable[Check]:
    real = [device for device in inventory.devices if not device.simulated and device.vendor != "cpu"]
    for device in real:
        if device.problem is not None:
            yield Check(name="device", ok=False, finding=device.problem, needed=False)
            continue
        finding = Message(
            code="device_found",
            text="{device}, {gib} GiB: {id}.",
            params={"device": named(device), "id": device.id, "gib": round((device.memory_total or 0) / 2**30, 1)},
        )
        yield Check(name="device", ok=True, finding=finding, needed=False)
    for problem in inventory.problems:
        yield Check(name="devices", ok=False, finding=problem, needed=False)
    for maker in makers().rows.values():
        for finding in maker.findings(inventory):
            yield Check(name="driver", ok=True, finding=finding, needed=False)


def _left_out(registry: Registry) -> Iterable[Check]:
    for problem in (*registry.problems, *makers().problems):
        yield Check(name="plugins", ok=False, finding=problem, needed=False)


def _engines(engines: Mapping[str, Engine]) -> Iterable[Check]:
    """Of each engine what it misses; the default one, to which jobs go that name none, is needed."""
    default = next(iter(engines), "")
    for engine in engines.values():
        features = engine.supported_features()
        name, needed = f"engine_{features.name}", features.name == default
        problems = problems_of(engine)
        for problem in problems:
            yield Check(name=name, ok=features.available, finding=problem, needed=needed)
        if features.available and not problems:
            finding = Message(
                code="engine_ready", text="The engine “{engine}” is ready.", params={"engine": features.name}
            )
            yield Check(name=name, ok=True, finding=finding, needed=needed)


def _policy(policies: Callable[[], Policies]) -> Iterable[Check]:
    """What is wrong in a policy file, or does not count of a person's because the system's fixes it more strictly."""
    held = policies()
    for name in {held.policy_file, held.own_file}:
        if Path(name).name == OLD_POLICY_FILE and Path(name).exists():
            yield Check(name="policy", ok=False, finding=old_name(Path(name)), needed=False)
    for field in held.overruled:
        finding = Message(
            code="policy_overruled",
            text="“{field}” of {own} is looser than what {file} fixes, so far it does not count.",
            hint="Take it out, or ask the administrator to change {file}.",
            params={"field": field, "own": held.own_file, "file": held.policy_file},
        )
        yield Check(name="policy", ok=False, finding=finding, needed=False)


LINKS_OPEN = Message(
    code="links_open",
    text="Users of this machine can link each other's files, and so make each other's places in the queue younger.",
    hint="Let nobody link what is not theirs: `sudo sysctl fs.protected_hardlinks=1`.",
)


def _claims(inventory: Inventory, folder: Path) -> Iterable[Check]:
    """Whether devices are shared with the machine's other users; of no interest without any, unless it is prepared."""
    if not (accelerators(inventory) or folder.exists()) or not hasattr(os, "geteuid"):
        return
    fault = claims.fault(folder)
    shared = Message(
        code="claims_shared",
        text="Users of this machine agree on its devices in {folder}.",
        params={"folder": str(folder)},
    )
    yield Check(name="claims", ok=fault is None, finding=fault or shared, needed=False)
    if fault is None and claims.links_are_open():
        yield Check(name="claims", ok=False, finding=LINKS_OPEN, needed=False)


def _queue(inventory: Inventory, folder: Path) -> Iterable[Check]:
    """Whether the jobs of all users wait in one order; of no interest without devices, unless it is prepared."""
    if not (accelerators(inventory) or folder.exists()) or not hasattr(os, "geteuid"):
        return
    fault = claims.fault(folder)
    if fault is None:
        finding = Message(
            code="queue_shared",
            text="Jobs of all users of this machine wait in one order, which they agree on in {folder}.",
            params={"folder": str(folder)},
        )
    elif fault.code == "claims_alone":
        finding = Message(
            code="queue_of_ones_own",
            text="Your jobs wait in an order of their own: the folder {folder} does not exist.",
            hint="Where several people use these devices: `sudo install -d -m 1777 {folder}`.",
            params={"folder": str(folder)},
        )
    else:
        finding = fault
    yield Check(name="queue", ok=fault is None, finding=finding, needed=False)


def _data_folder(folder: Path) -> Iterable[Check]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        finding = Message(
            code="data_folder_unusable",
            text="The data folder {folder} cannot be written: {error}.",
            hint="Give it to yourself, or name another one with the variable PADDLE_GPU_DATA.",
            params={"folder": str(folder), "error": error.strerror or str(error)},
        )
        yield Check(name="data_folder", ok=False, finding=finding)
        return
    params: dict[str, Param] = {"folder": str(folder), "gib": round(free / 2**30, 1)}
    if free < DISK_NEEDED:
        finding = Message(
            code="disk_nearly_full",
            text="The data folder {folder} has only {gib} GiB left.",
            hint="Delete old jobs: `jupyter paddle-gpu delete JOB`.",
            params=params,
        )
        yield Check(name="data_folder", ok=False, finding=finding)
        return
    finding = Message(code="data_folder_ready", text="Data lie in {folder}, {gib} GiB free.", params=params)
    yield Check(name="data_folder", ok=True, finding=finding)
