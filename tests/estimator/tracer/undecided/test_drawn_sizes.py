"""Where each batch has another size, drawn at random, the figure is that of the largest."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PROGRAM = """
import random
import numpy as np, paddle
sizes = {sizes}
rng, state = np.random.default_rng(0), np.random.RandomState(0)
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros([3, 64, 64], "float32")
    def __len__(self):
        return 64
def collate(samples):
    side = {drawn}
    return [np.stack(samples)[:, :, :side, :side]]
model = paddle.nn.Conv2D(3, 8, 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(4):
    for x, in paddle.io.DataLoader(Data(), batch_size=4, collate_fn=collate):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SIZES = "[16, 24, 32, 40, 48, 56, 64]"
DRAWN = {
    "python's choice": "random.choice(sizes)",
    "numpy's choice": "int(np.random.choice(sizes))",
    "choice of a number": "sizes[np.random.choice(len(sizes))]",
    "python's number": "8 * random.randint(2, 8)",
    "numpy's number": "8 * np.random.randint(2, 9)",
    "python's range": "random.randrange(16, 65, 8)",
    "python's choices": "random.choices(sizes)[0]",
    "python's sample": "random.sample(sizes, 1)[0]",
    "numpy's choice of one": "int(np.random.choice(sizes, 1)[0])",
    "numpy's choice by chances": "int(np.random.choice(sizes + [99], p=[1 / 7] * 7 + [0]))",
    "python's factor": "round(64 * random.uniform(0.25, 1))",
    "numpy's factor": "round(64 * np.random.uniform(low=0.25, high=1))",
    "a generator's choice": "int(rng.choice(sizes))",
    "a generator's number": "8 * int(rng.integers(2, 9))",
    "a generator's number with its end": "8 * int(rng.integers(2, 8, endpoint=True))",
    "a generator's place": "sizes[rng.integers(len(sizes))]",
    "a generator's factor": "round(64 * rng.uniform(0.25, 1))",
    "a state's choice": "int(state.choice(sizes, 1)[0])",
    "a state's number": "8 * state.randint(2, 9)",
    "pairs": "random.choice([(side, side) for side in sizes])[0]",
}
SOURCES = {
    **{name: PROGRAM.format(sizes=SIZES, drawn=drawn) for name, drawn in DRAWN.items()},
    "fixed": PROGRAM.format(sizes="[64]", drawn="64"),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize("name", DRAWN)
def test_the_largest_is_taken(traced, name):
    assert traced[name]["peak"] == traced["fixed"]["peak"]
    assert traced[name]["inputs"] == ["float32[4, 3, 64, 64]"]


def test_where_nothing_is_drawn_nothing_is_said(traced):
    assert traced["fixed"]["notes"] == []
