# ruff: noqa: E501 - one script a line reads as a table
"""Objects that live in a kernel: traced in a fork of it, asked what a notebook is, refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

TRACER = Path(__file__).resolve().parents[4] / "jupyter_paddle_gpu" / "estimator"
LIVE = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import paddle, tracer
from paddle import nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2D(3, 8, 3), nn.Linear(8, 3)
        self.blocks = nn.Sequential(*[nn.Sequential(nn.Conv2D(8, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU()) for _ in range(4)])
    def forward(self, x):
        x = self.blocks(self.first(x))
        if x.mean() > 1:
            x = paddle.concat([x, x, x, x], 2)
        return self.last(x.mean([2, 3]))
model = Net()
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
x, y = paddle.randn([4, 3, 32, 32]), paddle.randint(0, 3, [4])
asked = [{}, {"batch_size": 64}, {"image_size": 48}, {"accumulation": 4, "batch_size": 64}, {"recompute": True},
         {"sequence_length": 9}]
def peak(found):
    change = [0] * (len(found["operations"]) + 3)
    for size, start, end, *_ in found["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive = [sum(change[:time + 1]) for time in range(len(change))]
    return max(alive)
if os.fork() == 0:
    for options in asked:
        found = tracer.trace_live(model, nn.CrossEntropyLoss(), optimizer, [x], [y], **options)
        short = {key: found.get(key) for key in ("status", "batch_size", "optimizer", "inputs", "image_size", "notes")}
        short["ways"] = found.get("extra", {}).get("branches", {}).get("ways")
        print(json.dumps({**short, "peak": peak(found) if found["status"] == "ok" else None}), flush=True)
    flat = nn.Sequential(nn.Flatten(), nn.Linear(3072, 3))
    for options in ({"image_size": 48}, {}):
        try:
            found = tracer.trace_live(flat if options else nn.Linear(7, 3), None, None, [x], **options)
            print(json.dumps({**found["stop"], "status": found["status"], "notes": found["notes"]}), flush=True)
        except Exception as problem:
            print(json.dumps(type(problem).__name__ + " " + str(problem)), flush=True)
    os._exit(0)
os.wait()
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
optimizer.step()
print(json.dumps([float(loss) > 0, [p for p in model.parameters() if "_traced_state" in p.__dict__]]))
"""


@pytest.fixture(scope="module")
def live(paddle_python):
    done = paddle_python.run("-c", LIVE, str(TRACER))
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line[0] in '[{"']


def test_live_objects_are_traced_in_forks(live):
    own, larger = live[:2]
    assert (own["status"], own["batch_size"], own["optimizer"]) == ("ok", 4, "AdamW")
    assert own["inputs"] == ["float32[4, 3, 32, 32]", "int64[4]"] and own["image_size"] == [32, 32]
    assert larger["inputs"] == ["float32[64, 3, 32, 32]", "int64[64]"]
    assert live[-1] == [True, []]


def test_live_objects_are_asked_what_a_notebook_is(live):
    own, larger, images, accumulated, recomputed, sequences = live[:6]
    assert images["inputs"] == ["float32[4, 3, 48, 48]", "int64[4]"] and images["peak"] > own["peak"]
    assert accumulated["inputs"] == ["float32[16, 3, 32, 32]", "int64[16]"]
    assert own["peak"] < accumulated["peak"] < larger["peak"]
    assert recomputed["peak"] < own["peak"]
    assert [note["code"] for note in sequences["notes"]] == ["no_sequences"]


def test_live_objects_go_both_ways_and_say_what_they_refuse(live):
    assert {found["ways"] for found in live[:5]} == {2}
    assert [note["code"] for note in live[0]["notes"]] == ["branches_followed", "live_step"]
    refused, failed = live[6:8]
    assert (refused["status"], refused["cell"], "3072" in refused["error"]) == ("would_stop", None, True)
    assert refused["notes"][0] == {"code": "image_refused", "params": {"images": 48, "length": 0}}
    assert (failed["status"], failed["cell"]) == ("would_stop", None)
    assert failed["error"].startswith("ValueError: (InvalidArgument) The last dimension of X should be equal")


TWICE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import paddle, tracer
class Slope(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Sequential(paddle.nn.Linear(2, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
    def forward(self, x):
        x.stop_gradient = False
        u = self.inner(x)
        return u * paddle.grad(u, x, create_graph=True)[0].sum(1, keepdim=True)
net = Slope()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for name, options in json.load(sys.stdin).items():
    found = tracer.trace_live(net, None, optimizer, [paddle.rand([20, 2])], target="gpu", **options)
    print(json.dumps([name, [found["status"], found["operations"], found["storages"]]]))
"""


def test_a_model_that_asks_for_gradients_of_gradients_is_traced_once_more(run_code):
    """Its first forward pass is another one: what is differentiated twice has kernels of its own."""
    found = run_code(TWICE, {"alone": {}, "told": {"differentiates_twice": True}})
    assert found["alone"][0] == "ok"
    assert found["alone"] == found["told"]
