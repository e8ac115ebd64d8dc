"""What fits is still known after the same was estimated without details, as by another page, REST or a submit."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.domain.estimates import Estimate, Fit
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services.estimates.cache import EstimateCache
from tests.services.estimates.test_number_formats import A100, NOTEBOOK


def test_an_estimate_without_details_takes_none_away() -> None:
    cache, request = EstimateCache(8), EstimateRequest()
    plain = Estimate(status="ok", evidence="trace", peak_bytes=1 << 30, high=2 << 30)
    detailed = msgspec.structs.replace(plain, fits=(Fit(device="A100", limit_bytes=3 << 30, largest_batch=7),))
    cache.put(NOTEBOOK, request, A100, detailed)
    cache.put(NOTEBOOK, request, A100, plain)
    assert cache.get(NOTEBOOK, request, A100) == detailed
    # Another figure is another estimate, whose details nobody knows.
    other = msgspec.structs.replace(plain, peak_bytes=2 << 30)
    cache.put(NOTEBOOK, request, A100, other)
    assert cache.get(NOTEBOOK, request, A100) == other
