"""The machine's own constants, learned from what was measured on it.

Two numbers stand between the allocator and the driver: the context's bytes `c` and the share `s` of the range of
kernel workspaces that is really used, so that

    peak = c + mapped_low + s * (mapped_high - mapped_low).

Both start from the published range (`overheads`) as normal distributions: the range is the middle plus or minus two
standard deviations. Each measured peak is one more linear equation with an error of `NOISE` of its size; the posterior
of this Bayesian linear regression (equivalently: ridge regression towards the published values) gives the next
estimate and, again as plus or minus two standard deviations, its range. With no observation it is the published range,
with many it closes to the noise. What NCCL keeps between several devices is a range of its own, of which nothing is
learned: only jobs on one card are observed. Kept by device model, CUDA version and Paddle version.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from jupyter_core.paths import jupyter_data_dir

from ...domain.decoding import decode
from ...domain.estimates import DeviceTerms
from .overheads import WORKSPACE_SHARE, WORKSPACE_SHARE_SPREAD

NOISE = 0.02
"""Relative standard deviation of a measured peak around the model: batches of different sizes, prefetching."""
LEAST_NOISE = 16 << 20
"""Bytes: the driver's pages and the moment of the measurement."""
SIGMAS = 2.0
"""Half the width of a range, in standard deviations (95 %)."""
MOST_OBSERVATIONS = 200
"""The latest observations of one key that are kept."""
LOCK_SECONDS = 10.0
"""How long a writer waits for another one."""


class Key(msgspec.Struct, frozen=True):
    """What the constants belong to: device model, CUDA version (`12.6`), Paddle version.

    Asked with an empty version, every version answers: before a job has its image nobody knows its CUDA.
    """

    device: str
    cuda: str = ""
    paddle: str = ""

    def text(self) -> str:
        """The key in the file."""
        return "|".join(part.replace("|", "/") for part in (self.device.lower().strip(), self.cuda, self.paddle))

    def matches(self, text: str) -> bool:
        """Does a key of the file answer for this one?"""
        device, cuda, paddle = text.split("|")
        own = self.text().split("|")
        return device == own[0] and self.cuda in ("", cuda) and self.paddle in ("", paddle)


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One measured peak (bytes) with the terms it was predicted from; `time` in seconds since the epoch.

    Attributes:
        job: id of the finished job that it comes from; empty for a program of `calibrate`.
    """

    mapped_low: int
    mapped_high: int
    measured: int
    time: float
    job: str = ""


class Range(msgspec.Struct, frozen=True):
    """Predicted peak of a process: the middle and plus or minus two standard deviations; `jobs` of the `observations`
    are finished jobs."""

    low: int
    likely: int
    high: int
    context: int
    observations: int
    jobs: int = 0


class Calibration:
    """The file with the observations. Every write is one atomic replacement under a lock; reading never fails."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path(jupyter_data_dir()) / "paddle_gpu" / "calibration.json"

    def observations(self, key: Key) -> tuple[Observation, ...]:
        """What was measured for a key, oldest first."""
        found = [one for text, seen in self._read().items() if key.matches(text) for one in seen]
        return tuple(sorted(found, key=lambda one: one.time))

    def observe(self, key: Key, terms: DeviceTerms, measured: int, *, job: str = "") -> bool:
        """Add a peak as the driver showed it for the process. False where there is nothing new: each `job` counts
        once, whoever finds it ended and however often."""
        if measured <= 0:
            return False
        new = Observation(
            mapped_low=terms.mapped_low, mapped_high=terms.mapped_high, measured=measured, time=time.time(), job=job
        )
        with self._locked():
            everything = self._read()
            if job and any(seen.job == job for rows in everything.values() for seen in rows):
                return False
            everything[key.text()] = (*everything.get(key.text(), ()), new)[-MOST_OBSERVATIONS:]
            self._write(everything)
        return True

    def predict(self, key: Key | None, terms: DeviceTerms) -> Range:
        """The peak that these terms lead to, after all that was measured for the key."""
        return predict(terms, self.observations(key) if key else ())

    def _read(self) -> dict[str, tuple[Observation, ...]]:
        try:
            everything = decode(self.path.read_bytes(), dict[str, tuple[Observation, ...]])
        except (OSError, msgspec.DecodeError):  # none yet, or damaged: then the published ranges hold
            return {}
        return {text: seen for text, seen in everything.items() if text.count("|") == 2}

    def _write(self, everything: dict[str, tuple[Observation, ...]]) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".calibration-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(everything), indent=1))
        Path(name).replace(self.path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_suffix(".lock")
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                break
            except FileExistsError:
                # Whoever held it longer than this has died over it.
                if time.monotonic() > deadline:
                    lock.unlink(missing_ok=True)
                time.sleep(0.01)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def predict(terms: DeviceTerms, observations: tuple[Observation, ...]) -> Range:
    """Posterior of (context, share) after the observations, and the peak that follows for `terms`."""
    mean = [(terms.context_low + terms.context_high) / 2, WORKSPACE_SHARE]
    spread = [max((terms.context_high - terms.context_low) / 2 / SIGMAS, 1.0), WORKSPACE_SHARE_SPREAD]
    # Precision matrix (a, b; b, d) and its product with the mean, one observation after the other.
    a, b, d = spread[0] ** -2, 0.0, spread[1] ** -2
    u, v = a * mean[0], d * mean[1]
    for seen in observations:
        width = seen.mapped_high - seen.mapped_low
        weight = max(NOISE * seen.measured, LEAST_NOISE) ** -2
        a, b, d = a + weight, b + weight * width, d + weight * width * width
        left = seen.measured - seen.mapped_low
        u, v = u + weight * left, v + weight * width * left
    determinant = a * d - b * b
    context, share = (d * u - b * v) / determinant, (a * v - b * u) / determinant
    context, share = max(context, 0.0), min(max(share, 0.0), 1.0)
    width = terms.mapped_high - terms.mapped_low
    between = (terms.communication_low + terms.communication_high) / 2
    likely = context + terms.mapped_low + share * width + between
    variance = (d - 2 * b * width + a * width * width) / determinant
    variance += ((terms.communication_high - terms.communication_low) / 2 / SIGMAS) ** 2
    noise = max(NOISE * likely, LEAST_NOISE) if observations else 0.0
    reach = SIGMAS * (variance + noise**2) ** 0.5
    low = max(likely - reach, float(terms.mapped_low))
    most = terms.mapped_high + terms.context_high + terms.communication_high
    high = min(likely + reach, float(most)) if not observations else likely + reach
    jobs = sum(1 for seen in observations if seen.job)
    return Range(round(low), round(likely), round(high), round(context), len(observations), jobs)
