"""The largest batch: right at the edge for any growth, and cheap for the usual one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.estimator.advice.remedies import remedies
from jupyter_paddle_gpu.estimator.advice.search import LARGEST_BATCH, SearchFailedError, largest_batch


class Counted:
    def __init__(self, size):
        self.size, self.asked = size, []

    def __call__(self, batch):
        self.asked.append(batch)
        return self.size(batch)


grown = st.tuples(st.integers(0, 10**9), st.integers(1, 10**8), st.integers(-(10**9), 10**9), st.integers(1, 10**8))


@given(grown, st.integers(1, 2 * 10**10), st.sampled_from([1, 256, 2 << 20]), st.sampled_from([None, 1, 32, 5000]))
def test_it_is_exact_at_the_edge(growth, limit, step, known):
    base, slope, other, steep = growth
    peak = Counted(lambda batch: -(-max(base + slope * batch, other + steep * batch) // step) * step)
    found = largest_batch(peak, limit, known={known: peak(known)} if known else None)

    if found is None:
        assert peak.size(1) > limit
    else:
        assert peak.size(found) <= limit
        assert found == LARGEST_BATCH or peak.size(found + 1) > limit


def test_an_affine_model_takes_few_traces():
    for limit in (10**9, 5 * 10**9, 3 * 10**10):
        peak = Counted(lambda batch: 3 * 10**8 + 7_345_678 * batch)
        assert largest_batch(peak, limit, known={64: peak.size(64)}) == (limit - 3 * 10**8) // 7_345_678
        assert len(peak.asked) <= 5


def test_what_does_not_fit_at_all_is_none():
    assert largest_batch(lambda batch: 1000 + batch, 500) is None


def test_a_model_that_does_not_grow_ends_at_the_bound():
    assert largest_batch(lambda batch: 1000, 5000) == LARGEST_BATCH


def test_a_step_that_cannot_be_traced_is_not_guessed():
    with pytest.raises(SearchFailedError):
        largest_batch(lambda batch: 10 * batch if batch < 20 else None, 1000)


def test_remedies_are_computed_sorted_and_useful():
    estimate = Estimate(status="ok", evidence="trace", batch_size=64, amp="off", peak_bytes=1000)
    sizes = {
        (("amp", "O1"),): 700,
        (("amp", "O2"),): 600,
        (("recompute", True),): 1000,  # saves nothing
        (("batch_size", 32),): 550,
        (("batch_size", 64), ("accumulation", 4)): 900,
        (("set_to_zero", False),): None,  # cannot be traced
    }
    found = remedies(estimate, lambda change: sizes.get(tuple(change.items()), 1000), lambda change: 77)

    assert [remedy.change for remedy in found] == ["batch_size", "amp", "amp", "accumulation"]
    assert [remedy.says.render() for remedy in found] == ["Batch 32", "AMP O2", "AMP O1", "Accumulate 4 steps"]
    assert [remedy.saves_bytes for remedy in found] == [450, 400, 300, 100]
    assert {remedy.largest_batch for remedy in found} == {77}
