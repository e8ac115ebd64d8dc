"""The largest batch that fits, found by asking the model itself: exact at the edge.

`peak(batch)` costs a trace. The step's memory is close to affine in the batch (piecewise, where another moment
becomes the maximum), so a secant through two known points lands near the edge. An allocator's chunks make stairs of it,
on which a secant goes astray: once there is a bracket, `between` says where the edge would be if each allocation grew
by as much a sample, which costs no trace. The bracket is then closed by asking, until `peak(b) <= limit < peak(b + 1)`
is known and not guessed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ...domain.estimates import LARGEST_BATCH

MOST_PROBES = 90
"""Traces of one search at most. A step that is affine in its batch needs 3 to 6; the worst is 20 doublings to pass the
edge and 20 halvings of the bracket, each after `SLOW_PROBES` probes that failed to."""
STRIDE = 4
"""By which the batch is multiplied as long as nothing tells where the edge is."""
SLOW_PROBES = 2
"""Probes in a row that may fail to halve the bracket before its middle is asked."""

Peak = Callable[[int], int | None]
"""Bytes of a step at a batch size; None where such a step cannot be had."""


Between = Callable[[Sequence[int]], "Peak | None"]
"""Bytes of a step at any batch size, by those of two of these, the ones that matter most first; None where they do not
tell."""


class SearchFailedError(Exception):
    """The model gave no figure for a batch size that was needed."""


def largest_batch(
    peak: Peak, limit: int, *, known: dict[int, int] | None = None, between: Between | None = None
) -> int | None:
    """The largest batch with `peak(batch) <= limit`; None where not even one sample fits.

    Args:
        peak: bytes at a batch size, not falling as the batch grows.
        limit: bytes that may be used.
        known: peaks that are known already, by batch size.
        between: where to look; what is found is asked of `peak`.

    Raises:
        SearchFailedError: `peak` answered None.
    """
    figures = _Figures(peak, limit, dict(known or {}), between)
    if not figures.under and not figures.fits(1):
        return None
    while figures.over is None:
        if figures.under >= LARGEST_BATCH:
            return LARGEST_BATCH
        # Beyond the edge if the guess is right, some times as far if there is nothing to guess from.
        guess = figures.expected_edge() or figures.guess()
        figures.fits(min(max(figures.under + 1, guess + 1 if guess else figures.under * STRIDE), LARGEST_BATCH))
    while figures.over - figures.under > 1:
        figures.fits(figures.next_probe())
    return figures.under


class _Figures:
    """What is known of the peaks: the largest batch under the limit, the smallest over it."""

    def __init__(self, peak: Peak, limit: int, known: dict[int, int], between: Between | None) -> None:
        self._peak, self._limit, self._known = peak, limit, known
        self._between = between
        self._expected: Peak | None = None
        """As `between` says, as long as it is right."""
        self._probes = 0
        self._slow, self._width = 0, LARGEST_BATCH
        self.under = max((batch for batch, size in known.items() if size <= limit), default=0)
        self.over = min((batch for batch, size in known.items() if size > limit and batch > self.under), default=None)

    def fits(self, batch: int) -> bool:
        """Ask for one batch size and remember on which side of the limit it is."""
        if batch not in self._known:
            self._probes += 1
            size = self._peak(batch) if self._probes <= MOST_PROBES else None
            if size is None:
                raise SearchFailedError
            self._known[batch] = size
            if self._expected is not None and self._expected(batch) != size:
                self._expected = None
        inside = self._known[batch] <= self._limit
        if inside:
            self.under = max(self.under, batch)
        elif self.over is None or batch < self.over:
            self.over = batch
        return inside

    def guess(self) -> int | None:
        """The batch at the limit on the line through the two known points nearest to it."""
        points = sorted(self._known.items(), key=lambda point: abs(point[1] - self._limit))[:2]
        if len(points) < 2 or points[0][1] == points[1][1]:
            return None
        (first, low), (second, high) = points
        slope = (high - low) / (second - first)
        return first + int((self._limit - low) // slope) if slope > 0 else None

    def next_probe(self) -> int:
        """Inside the bracket: the line's own edge, or the middle where that shrinks it little."""
        assert self.over is not None
        width = self.over - self.under
        self._slow = self._slow + 1 if self._width < 2 * width else 0
        self._width = width
        guess = self.expected_edge() or self.guess()
        if guess is None or self._slow >= SLOW_PROBES:
            self._slow = 0
            return (self.under + self.over) // 2
        return min(max(guess if guess > self.under else guess + 1, self.under + 1), self.over - 1)

    def expected_edge(self) -> int | None:
        """The largest batch that would fit, of those that may, if the step grew as `between` says."""
        if self._expected is None and self._between is not None:
            found = self._between(sorted(self._known, key=lambda batch: abs(self._known[batch] - self._limit)))
            self._expected = functools.cache(found) if found is not None else None
        if self._expected is None:
            return None
        under, over = self.under, self.over or LARGEST_BATCH + 1
        while over - under > 1:
            middle = (under + over) // 2
            size = self._expected(middle)
            if size is None:
                return None
            under, over = (middle, over) if size <= self._limit else (under, middle)
        return under
