"""A cache of estimates that were shown, so that a submit carries the number that its reader saw."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from ...domain.changes import Seen
from ...domain.devices import Accelerator
from ...domain.estimates import Among, AnsweredFile, BatchPlace, Estimate
from ...domain.notebooks import files_of
from ...domain.what_ifs import EstimateRequest

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookSource


class EstimateCache:
    """The last `limit` estimates by notebook code, request and accelerator; safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._estimates: OrderedDict[tuple[bytes, bytes], Estimate] = OrderedDict()
        self._among: OrderedDict[tuple[bytes, str | None], Among] = OrderedDict()
        self._places: OrderedDict[tuple[bytes, str | None], tuple[BatchPlace, ...]] = OrderedDict()
        self._settings: OrderedDict[tuple[bytes, bytes], tuple[AnsweredFile, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def put(
        self, source: NotebookSource, request: EstimateRequest, accelerator: Accelerator | None, estimate: Estimate
    ) -> None:
        """Keep an estimate; the one unused for longest goes."""
        key = _key(source, request, accelerator)
        with self._lock:
            if not _says_more(self._estimates.get(key), estimate):
                self._estimates[key] = estimate
            self._estimates.move_to_end(key)
            while len(self._estimates) > self._limit:
                self._estimates.popitem(last=False)
            if estimate.among is not None:
                self._among[key[0], request.training] = estimate.among
            if estimate.batch_from:
                self._places[key[0], _changed(estimate.among)] = estimate.batch_from
            if request.answers:
                self._settings[key[0], _answers(request)] = estimate.settings
            for known in (self._among, self._places, self._settings):
                while len(known) > self._limit:
                    known.popitem(last=False)

    def seen(self, source: NotebookSource, training: str | None = None) -> Seen:
        """What estimates of this code have found to size its batch, and of several trainings which one changes are of:
        the one that is asked for, else the one that needs most."""
        code = _code(source)
        with self._lock:
            among = self._among.get((code, training))
            return Seen(self._places.get((code, _changed(among)), ()), among)

    def settings(self, source: NotebookSource, request: EstimateRequest) -> tuple[AnsweredFile, ...] | None:
        """What a job with these answers reads in place of files that are not here; None where no estimate tells."""
        with self._lock:
            return self._settings.get((_code(source), _answers(request)))

    def has_any(self, source: NotebookSource) -> bool:
        """Whether there is an estimate for this code, whatever was asked."""
        code = _code(source)
        with self._lock:
            return any(key[0] == code for key in self._estimates)

    def get(self, source: NotebookSource, request: EstimateRequest, accelerator: Accelerator | None) -> Estimate | None:
        """The estimate for the same code, request and accelerator, or None."""
        key = _key(source, request, accelerator)
        with self._lock:
            if key in self._estimates:
                self._estimates.move_to_end(key)
            return self._estimates.get(key)


def _says_more(kept: Estimate | None, estimate: Estimate) -> bool:
    """Whether what is kept has the details (advice, the largest batch) that the same estimate was made without."""
    if kept is None or not (kept.fits or kept.remedies) or estimate.fits or estimate.remedies:
        return False
    return (kept.status, kept.peak_bytes, kept.high) == (estimate.status, estimate.peak_bytes, estimate.high)


def _answers(request: EstimateRequest) -> bytes:
    return msgspec.json.encode(request.answers, order="sorted")


def _changed(among: Among | None) -> str | None:
    """Which training is changed, as batches of others have other places; None where it is the only one."""
    return None if among is None else among.id


def _key(source: NotebookSource, request: EstimateRequest, accelerator: Accelerator | None) -> tuple[bytes, bytes]:
    # Details only add to an estimate; a device has many names; the CPU's figure hangs on no release.
    release = "" if request.target == "cpu" else request.release
    asked = msgspec.structs.replace(request, details=False, details_seconds=None, device=None, release=release)
    return _code(source), msgspec.json.encode((asked, accelerator), order="sorted")


def _code(source: NotebookSource) -> bytes:
    # Outputs and execution counts change with every run and mean nothing to an estimate.
    cells = [(cell.get("cell_type"), cell.get("source")) for cell in source.content.get("cells", [])]
    return hashlib.sha256(
        msgspec.json.encode([str(source.path), str(source.folder), source.kernel_name, cells, files_of(source.content)])
    ).digest()
