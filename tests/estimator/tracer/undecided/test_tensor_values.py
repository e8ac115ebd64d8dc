"""`Tensor.numpy()` on a CPU copies a tensor within Paddle's allocator: the copy lives as long as an array shows it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
from paddle import nn
paddle.seed(0)
x = paddle.rand([64, 200])
model = nn.Linear(200, 300)
optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())
kept = None
"""
LOOP = """
for step in range(9):
    h = model(x)
    {reads}
    loss = h.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FIT = """
class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.zeros(200, "float32"), np.zeros(300, "float32")
    def __len__(self):
        return 640
trained = paddle.Model(model)
trained.prepare(optimizer, nn.MSELoss())
trained.fit(Data(), batch_size=64, verbose=0)
"""
WORKERS = """
class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.zeros(200, "float32")
    def __len__(self):
        return 640
loader = paddle.io.DataLoader(Data(), batch_size=64, num_workers=2)
for batch in loader:
    kept = batch[3].numpy()[0]
    break
for batch in loader:
    model(batch).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
READS = {
    "kept": "kept = h.numpy()",
    "a-row-keeps-all": "kept = h.numpy()[0]",
    "a-row-of-a-view": "kept = h[3:5].numpy()[0]",
    "a-copy-keeps-nothing": "kept = h[3:5].numpy()[0].copy()",
    "a-number-keeps-nothing": "kept = h.numpy().mean()",
    "asarray": "kept = np.asarray(h.detach())",
    "array": "kept = np.array(h[0])",
    "another-type": "kept = np.asarray(h, 'float64')",
    "known": "kept = x[:10].numpy()",
    "back-again": "kept = paddle.to_tensor(h.numpy()[:7])",
    "item": "kept = h.mean().item()",
}
SOURCES = {name: HEAD + LOOP.format(reads=reads) for name, reads in READS.items()}
SOURCES["fit"] = HEAD + FIT
SOURCES["a-row-of-a-workers-batch"] = HEAD + WORKERS


@pytest.mark.parametrize("name", SOURCES)
def test_copies_count_as_long_as_an_array_shows_them(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]


def test_on_a_gpu_they_are_the_machines_own_memory(run_child):
    sources = {name: SOURCES[name] for name in ("kept", "item")}
    traced = run_child("trace", sources, {name: {"target": "gpu"} for name in sources})
    assert traced["kept"]["peak"] == traced["item"]["peak"]


BOUNDED = """
import paddle
model = paddle.nn.Linear(8, 4)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    scores = model(paddle.rand([16, 8]))
    counts = {counts}
    paddle.topk(scores[0], k=counts[3].item())[0].mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
COUNTS = {
    "at-least-two": "paddle.clip(scores.sum(1).astype('int32'), min=2).reshape([16])",
    "any": "scores.sum(1).astype('int32')",
}


def test_a_number_that_is_not_known_is_no_smaller_than_it_was_clipped_to(run_child):
    """YOLOv7's assigner asks `topk` for at least one place of each object."""
    found = run_child("trace", {name: BOUNDED.format(counts=counts) for name, counts in COUNTS.items()})
    assert found["at-least-two"]["questions"] == []
    assert found["at-least-two"]["peak"]
    assert "must >= 1" in str(found["any"]["questions"])


SUMMED = """
import math
import paddle
model = paddle.nn.Sequential(*[paddle.nn.Linear(4, 4) for _ in range(300)])
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
count = sum(each.numel() for each in model.parameters() if not each.stop_gradient).item()
size = ["", "K", "M"][int(math.log(count, 10) // 3)]
for step in range(4):
    model(paddle.rand([8, 4]))[:, :count // 6000].mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_sum_over_hundreds_of_parameters_is_computed(run_child):
    """PASSL counts its parameters so; a chain of as many operators is deeper than Python's recursion."""
    found = run_child("trace", {"summed": SUMMED})["summed"]
    assert found["questions"] == []
    assert "value_failed" not in str(found)
    assert found["peak"]


MADE = """
import paddle
model = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
for step in range(4):
    loss = model(paddle.rand([8, 4])).mean()
    number = {number}
    assert paddle.to_tensor(number).dtype == paddle.{type}, type(number)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NUMBERS = {
    "item": MADE.format(number="loss.item()", type="float32"),
    "computed": MADE.format(number="max(2 * float(loss) - 1, 0.5)", type="float32"),
    "numpy": MADE.format(number="loss.astype('float64').numpy().mean()", type="float64"),
}


def test_a_tensor_of_an_unknown_number_has_the_type_that_python_or_numpy_gives_it(measure):
    """A return that a policy's loss is made of would be float64 beside float32, which Paddle refuses."""
    measured = measure(NUMBERS)
    for name in NUMBERS:
        assert measured.real[name]["peaks"], name
        assert measured.traced[name]["status"] == "ok", measured.traced[name]
