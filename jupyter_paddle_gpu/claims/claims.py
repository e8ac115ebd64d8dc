"""Taking and giving back devices. Nobody waits for a lock that another user could keep.

Each store writes its own file and reads all others'. Who wants devices writes so first (`wanted`), then looks: where
somebody has one of them, or asked for it before, he takes his word back; where nobody else wants one, he has them
(`held`). Of two who want the same at the same moment at least one sees the other, since both write before they look.
So no two hold one device, whatever a third writes into his own file. Of shares of a device's memory, too, whoever wrote
last sees all others, and has his only where the sum is not beyond what there is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..domain.devices import DeviceHolder, DeviceShare
from ..domain.errors import PaddleGpuError
from ..domain.jobs import reasons
from . import folder as shared
from . import records
from .processes import Process, boot_id, is_alive, process_of, this_process
from .records import Active, Claim, Given

CONTEST_SECONDS = 5.0
"""As long somebody who asked later is waited for to take his word back; then he counts as the holder."""
STARTING_SECONDS = 120.0
"""As long the devices of a job that was just being started are left to it when the process that started it has died:
until then its successor has looked, and says who really has them."""
LOOK_SECONDS = 0.01
_logger = logging.getLogger(__name__)
_change = msgspec.structs.replace
_Change = Callable[[dict[str, Claim]], dict[str, Claim]]


class Written(NamedTuple):
    """A claim, and the user who wrote it."""

    user: int
    inode: int
    claim: Claim


class Claims:
    """The claims of one job store. Thread-safe; several processes of the user may have one on the same store.

    Args:
        folder: the shared one. While it is not there, or not to be trusted, nothing is claimed and nobody else known.
        store: the store's own folder, closed to other users.
    """

    def __init__(self, folder: Path, store: Path) -> None:
        self._folder, self._store = folder, store
        self._lock = threading.Lock()
        self._kept: Active | None = None

    def held(self) -> dict[str, tuple[DeviceHolder, ...]]:
        """Device -> the jobs and users that have it, or shares of it, or are about to, of all stores but this one."""
        found: dict[str, tuple[DeviceHolder, ...]] = {}
        for one in self._others():
            for device in dict.fromkeys(one.claim.devices):
                found[device] = (*found.get(device, ()), _holder(one, device))
        return found

    def processes(self) -> dict[int, str]:
        """Process -> the job for which it holds devices, of all stores: what is below it is the job's, too.

        Of processes of this machine as this one numbers them; not of those that look after a queue, which hold devices
        only until the job has a process of its own.
        """
        if shared.fault(self._folder) is not None:
            return {}
        here = this_process()
        seen = [one.claim for one in written(self._folder) if is_alive(one.claim.process, one.user)]
        of_each = Counter(claim.process.pid for claim in seen)
        return {
            claim.process.pid: claim.job
            for claim in seen
            if claim.process.namespace == here.namespace and of_each[claim.process.pid] == 1 and claim.process != here
        }

    def take(
        self,
        job: str,
        devices: tuple[str, ...],
        shares: Sequence[DeviceShare] = (),
        beside: Mapping[str, int] | None = None,
    ) -> None:
        """Have devices for a job that is about to start, for the life of this process (`keep` says for whose then).

        Args:
            shares: of each device's memory; empty: the devices as a whole.
            beside: device -> bytes that other jobs of this store have of it.

        Raises:
            PaddleGpuError: `device_held`; `device_unclaimed` where this store's file cannot be written (a full disk):
                nobody would know of the job.
        """
        if not devices or shared.fault(self._folder) is not None:
            return
        now, parts = time.time(), tuple(part.bytes for part in shares)
        mine = Claim(job=job, devices=devices, state="wanted", since=now, process=this_process(), shares=parts)
        left = {
            device: part.most - part.bytes - (beside or {}).get(device, 0)
            for device, part in zip(devices, shares, strict=False)
        }
        self._put(mine)
        ahead = self._wait(mine, left)
        if ahead is None:
            self._put(_change(mine, state="held"))
        else:
            self.release(job)
            device = min(set(ahead.claim.devices) & set(devices))
            raise PaddleGpuError.of(reasons.device_held(device, _holder(ahead, device)), status=409)

    def _wait(self, mine: Claim, left: Mapping[str, int]) -> Written | None:
        """Until nobody else wants one of its devices, or there is room for all; whoever has one, or goes first.

        Args:
            left: device -> bytes that others may have beside this one.
        """
        deadline = time.monotonic() + CONTEST_SECONDS
        while rivals := _rivals(others := list(self._others(sure=True)), mine, left):
            ahead = _rivals((one for one in others if _goes_before(one, mine)), mine, left)
            if ahead or time.monotonic() > deadline:
                return (ahead or rivals)[0]
            time.sleep(LOOK_SECONDS)
        return None

    def starting(self, job: str) -> None:
        """The job's own process is about to be made. Should this one die before it has seen that one, the devices stay
        claimed for a while (`STARTING_SECONDS`)."""

        def change(claims: dict[str, Claim]) -> dict[str, Claim]:
            claim = claims.get(job)
            return claims if claim is None else {**claims, job: _change(claim, starting=time.monotonic())}

        self._changed(change)

    def release(self, job: str) -> None:
        """A job has its devices no more."""
        self._changed(lambda claims: {name: claim for name, claim in claims.items() if name != job})

    def keep(self, active: Active) -> None:
        """Bring this store's claims in line with its jobs: those that ended have none, those that run have theirs for
        as long as their own process lives."""
        if active == self._kept:
            return

        def change(claims: dict[str, Claim]) -> dict[str, Claim]:
            kept = {job: _kept(job, given, claims.get(job)) for job, given in active.items()}
            return {job: claim for job, claim in kept.items() if claim is not None}

        # Without a job there is no need for a file.
        done = bool(active or self._kept) and self._changed(change)
        self._kept = dict(active) if done or not active else None

    def _others(self, *, sure: bool = False) -> Iterator[Written]:
        """The claims of other stores whose holder lives; `sure`: as of `shared.files`."""
        if shared.fault(self._folder) is None:
            own = shared.own_inode(self._folder, self._store)
            others = (one for one in written(self._folder, sure=sure) if one.inode != own)
            yield from (one for one in others if _counts(one))

    def _put(self, claim: Claim) -> None:
        """Raises `PaddleGpuError`: `device_unclaimed`."""
        try:
            self._write(lambda claims: {**claims, claim.job: claim})
        except OSError as error:
            why = error.strerror or str(error)
            raise PaddleGpuError.of(
                reasons.device_unclaimed(claim.devices[0], str(self._folder), why), status=507
            ) from error

    def _changed(self, change: _Change) -> bool:
        """Change this store's claims; whether that could be written."""
        if shared.fault(self._folder) is not None:
            return False
        try:
            self._write(change)
        except OSError as error:
            _logger.warning("%s cannot be written, what is claimed there stays as it was: %s", self._folder, error)
            return False
        return True

    def _write(self, change: _Change) -> None:
        with self._lock, self._alone(), self._open() as descriptor:
            _, before = records.read(descriptor)
            after = tuple(change({claim.job: claim for claim in before}).values())
            if after != before:
                records.write(descriptor, after)

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        descriptor = shared.open_own(self._folder, self._store, records.FILE_BYTES)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Among this user's processes. The lock lies in the store: the file itself anybody could lock."""
        import fcntl  # not on Windows, where nobody makes a `Claims`

        with (self._store / "claims.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _rivals(others: Iterable[Written], mine: Claim, left: Mapping[str, int]) -> list[Written]:
    """Who else has or wants so much of one of its devices that it cannot be had beside them."""
    written, found = list(others), list[Written]()
    for device in mine.devices:
        there = [one for one in written if device in one.claim.devices]
        parts = [one.claim.bytes_of(device) for one in there]
        together = device in left and None not in parts and sum(part or 0 for part in parts) <= left[device]
        found += [] if together else there
    return found


def _kept(job: str, given: Given, claim: Claim | None) -> Claim | None:
    """The claim of a job that is under way."""
    if not given.runs:  # one that is being prepared takes what it gets (`take`)
        return claim
    process: Process | None = process_of(given.pid) if given.pid is not None else None
    if claim is None:  # it runs, so it has them: the folder was made since, or somebody removed the file
        now = process or this_process()
        since = time.time()
        return Claim(job=job, devices=given.devices, state="held", since=since, process=now, shares=given.shares)
    if process is None and not is_alive(claim.process):
        process = this_process()
    return claim if process is None else _change(claim, process=process, starting=None)


def _counts(one: Written) -> bool:
    """Whether somebody lives for whom a claim was made, or may: who died in the moment in which his job began."""
    claim = one.claim
    if is_alive(claim.process, one.user):
        return True
    if claim.starting is None or claim.process.boot != boot_id():
        return False
    return 0 <= time.monotonic() - claim.starting < STARTING_SECONDS


def _goes_before(other: Written, mine: Claim) -> bool:
    claim = other.claim
    return claim.state == "held" or (claim.since, other.user, claim.job) < (mine.since, os.geteuid(), mine.job)


def written(folder: Path, *, sure: bool = False) -> Iterator[Written]:
    """All claims of all files, whether or not anybody still lives who made them; `sure`: as of `shared.files`."""
    for file in shared.files(folder, sure=sure):
        for claim in records.read(file.descriptor)[1]:
            yield Written(file.user, file.inode, claim)


def _holder(one: Written, device: str) -> DeviceHolder:
    return DeviceHolder(job=one.claim.job, owner=shared.name_of(one.user), bytes=one.claim.bytes_of(device))
