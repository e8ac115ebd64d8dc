"""A pass over a loader has a last batch of fewer samples, unless whoever divides the data leaves it out."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SOURCE = """
import numpy as np, paddle
from paddle.io import BatchSampler, DataLoader, DistributedBatchSampler
data = np.zeros([120, 400], 'float32')
class Pairs(paddle.io.Dataset):
    def __len__(self):
        return 120
    def __getitem__(self, i):
        return data[i], data[i]
net = paddle.nn.Linear(400, 8)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(3):
    for x, y in DataLoader(Pairs(), {divided}):
        (net(x) - net(y)).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
DIVIDED = {
    "by the loader": "batch_size=23, drop_last=True",
    "by a sampler": "batch_sampler=BatchSampler(Pairs(), batch_size=23, drop_last=True)",
    "among processes": "batch_sampler=DistributedBatchSampler(Pairs(), 23, drop_last=True)",
    "with a short one": "batch_sampler=BatchSampler(Pairs(), batch_size=23)",
}


def test_a_sampler_that_leaves_it_out_is_as_the_loader_that_does(run_child):
    """What is read ahead had a batch of five samples where the sampler gives none but whole ones: 12.6 % too little."""
    found = run_child("trace", {name: SOURCE.format(divided=divided) for name, divided in DIVIDED.items()})
    peaks = {name: found[name]["peak"] for name in DIVIDED}
    whole = peaks.pop("by the loader")
    assert peaks.pop("with a short one") != whole
    assert set(peaks.values()) == {whole}
