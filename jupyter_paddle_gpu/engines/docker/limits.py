"""How much memory and how many processors a container gets: from the job's own figures, the estimate and policy.

A limit is there to keep one job from taking the machine; it must not end a training that would have gone well. So it
is never stingy: a multiple of what the estimate knows, not below a floor, and all that policy gives where there is no
estimate.
"""

from __future__ import annotations

import math

from ...domain.decisions import Limits
from ...domain.estimates import Estimate, processes_of
from ...domain.jobs.job import JobSpec, Resources
from ...domain.messages import Message
from ...domain.sizes import human
from .connection.daemon import DaemonFacts
from .settings import DockerSettings


def settle(
    wanted: Resources, estimate: Estimate | None, settings: DockerSettings, facts: DaemonFacts, devices: int
) -> Limits:
    """The limits of a job.

    Args:
        estimate: of its training step; None: nothing is known of it.
        devices: accelerators of this machine, of which each has an equal share of the processors.
    """
    memory = _memory(wanted, estimate, settings, facts)
    cpus, told = _processors(wanted, estimate, settings, facts, devices)
    return Limits(
        memory_bytes=memory.memory_bytes,
        memory_from=memory.memory_from,
        most_memory_bytes=memory.most_memory_bytes,
        cpus=cpus,
        why=(*memory.why, *told),
    )


def most_memory(settings: DockerSettings, facts: DaemonFacts) -> int:
    """Bytes that policy gives a job at most; 0 where this kernel lets Docker limit nothing."""
    most = settings.memory_bytes or int(facts.memory_bytes * settings.memory_share)
    return most if facts.limits_memory else 0


def given_memory(spec: JobSpec, settings: DockerSettings, facts: DaemonFacts) -> int:
    """Bytes that a job's container gets, 0: all. What was settled when it was submitted holds within today's policy."""
    most = most_memory(settings, facts)
    settled = spec.limits.memory_bytes if spec.limits else None
    return (spec.resources.memory_bytes or min(settled or most, most)) if most else 0


def given_processors(spec: JobSpec, settings: DockerSettings) -> float:
    """The same in processors, 0: all."""
    settled = spec.limits.cpus if spec.limits else None
    return spec.resources.cpus or min(filter(None, (settled, settings.cpus)), default=0.0)


def _memory(wanted: Resources, estimate: Estimate | None, settings: DockerSettings, facts: DaemonFacts) -> Limits:
    most = most_memory(settings, facts)
    if not most:
        return Limits()
    if wanted.memory_bytes:
        why = (_asked(wanted.memory_bytes),)
        return Limits(memory_bytes=wanted.memory_bytes, memory_from="job", most_memory_bytes=most, why=why)
    host = estimate.host if estimate is not None and settings.limits_from_estimate else None
    if estimate is None or host is None:
        return Limits(memory_bytes=most, most_memory_bytes=most, why=(_all(most),))
    processes = processes_of(estimate, wanted.gpus)
    needs, floor = host.bytes * processes, settings.memory_floor * processes
    limit = max(math.ceil(needs * settings.memory_headroom), floor)
    if limit >= most:
        why = (_short(needs, most) if needs > most else _all_of(needs, most),)
        return Limits(memory_bytes=most, most_memory_bytes=most, why=why)
    told = _least(limit, needs, most) if limit == floor else _multiple(limit, needs, most, settings.memory_headroom)
    return Limits(memory_bytes=limit, memory_from="estimate", most_memory_bytes=most, why=(told,))


def _processors(
    wanted: Resources, estimate: Estimate | None, settings: DockerSettings, facts: DaemonFacts, devices: int
) -> tuple[float | None, tuple[Message, ...]]:
    """(processors, None: all; why). A training on the CPU uses whatever it gets and so gets all that policy has; one on
    a device needs them to feed it."""
    if wanted.cpus:
        return wanted.cpus, ()
    there = facts.processors
    most = settings.cpus or (float(there) if there else None)
    host = estimate.host if estimate is not None and settings.limits_from_estimate else None
    if not wanted.gpus or estimate is None or host is None or most is None:
        return settings.cpus, ()
    workers = host.loader_workers * processes_of(estimate, wanted.gpus)
    feeding = workers + settings.cpus_per_device * wanted.gpus
    share = there * wanted.gpus / max(devices, wanted.gpus)
    cpus = float(math.ceil(max(feeding, share)))
    if cpus >= most:
        return settings.cpus, ()
    told = Message(
        code="processor_limit_estimate",
        text="Processors: {cpus} of {there}: the equal share of the job's devices, and at least the {feeding} that "
        "feed them ({workers} of DataLoader workers).",
        params={"cpus": f"{cpus:g}", "there": there, "feeding": f"{feeding:g}", "workers": workers},
    )
    return cpus, (told,)


def _asked(limit: int) -> Message:
    return Message(
        code="memory_limit_asked", text="Memory limit {limit}: as the job asks.", params={"limit": human(limit)}
    )


def _all(most: int) -> Message:
    return Message(
        code="memory_limit_policy",
        text="Memory limit {limit}: all that policy gives a job.",
        params={"limit": human(most)},
    )


def _all_of(needs: int, most: int) -> Message:
    return Message(
        code="memory_limit_policy",
        text="Memory limit {limit}: all that policy gives a job; the estimate gives {needs} for the host.",
        params={"limit": human(most), "needs": human(needs)},
    )


def _short(needs: int, most: int) -> Message:
    return Message(
        code="memory_limit_short",
        text="Memory limit {limit}: all that policy gives a job, and less than the {needs} that the estimate gives for "
        "the host.",
        hint="Use fewer DataLoader workers or a smaller batch, or load the data in parts.",
        params={"limit": human(most), "needs": human(needs)},
    )


def _least(limit: int, needs: int, most: int) -> Message:
    return Message(
        code="memory_limit_estimate",
        text="Memory limit {limit}: the least that policy gives, since the estimate gives only {needs} for the host; "
        "at most {most} by policy.",
        params={"limit": human(limit), "needs": human(needs), "most": human(most)},
    )


def _multiple(limit: int, needs: int, most: int, headroom: float) -> Message:
    return Message(
        code="memory_limit_estimate",
        text="Memory limit {limit}: {headroom} times the {needs} that the estimate gives for the host; at most {most} "
        "by policy.",
        params={"limit": human(limit), "headroom": f"{headroom:g}", "needs": human(needs), "most": human(most)},
    )
