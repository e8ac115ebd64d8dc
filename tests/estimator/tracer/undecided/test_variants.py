"""Made-up data leaves nothing behind, and asks for no more than what is looked at."""

from __future__ import annotations

import gc
import random
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.paddle


class Made:
    """What a program made of made-up data."""


def test_what_is_made_up_goes_with_what_made_it() -> None:
    from jupyter_paddle_gpu.estimator.tracer.undecided import variants

    was_enabled = gc.isenabled()
    with variants.tidied():
        held = [Made()]
        held.append(held)  # as a frame that an exception of its own keeps
        alive = weakref.ref(held[0])
        del held
    assert alive() is None
    assert gc.isenabled() == was_enabled


def test_no_numbers_are_drawn_for_samples_that_are_not_here() -> None:
    import paddle

    from jupyter_paddle_gpu.estimator.tracer.patches.data import batches
    from jupyter_paddle_gpu.estimator.tracer.undecided.unseen_data import UnseenData

    data = UnseenData(None)
    sampler = paddle.io.BatchSampler(data, shuffle=True, batch_size=64)
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert batches._indices(SimpleNamespace(dataset=data, batch_sampler=sampler), 8) == list(range(8))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
