"""A machine and a small job, where a test is about something else."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.domain.decisions import need_of
from jupyter_paddle_gpu.domain.devices import HostSample
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources

GIB = 1 << 30
HOST = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=64 * GIB, memory_available=32 * GIB)
SMALL = Estimate(status="ok", evidence="trace", batch_size=64, peak_bytes=6 * GIB, low=6 * GIB, high=6 * GIB)


def spec_of(**resources: object) -> JobSpec:
    wanted = Resources(**resources)  # type: ignore[arg-type]
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local", resources=wanted)
    return msgspec.structs.replace(spec, need=need_of(SMALL))
