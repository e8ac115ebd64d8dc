"""Numbers of an absent file of settings: what sizes nothing is no question, what sizes something is one by its name."""

from __future__ import annotations

import json

import pytest

PROGRAM = """
import json
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.optimizer import lr
config = {config}
{before}
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(20, 64), nn.Linear(64, 5)
        self.between = {layer}
    def forward(self, x):
        x = {forward}
        return self.last(x)
net = Net()
optimizer = {optimizer}
data = paddle.io.TensorDataset([paddle.randn([64, 20]), paddle.randint(0, 5, [64])])
for x, y in paddle.io.DataLoader(data, batch_size=8):
    loss = F.cross_entropy(net(x), y{loss})
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    {after}
"""
USUAL = {
    "before": "", "layer": "nn.ReLU()", "forward": "self.between(self.first(x))", "loss": "", "after": "pass",
    "optimizer": "paddle.optimizer.SGD(0.1, parameters=net.parameters())",
}  # fmt: skip
SETTINGS = {
    "rate": 0.01, "beta": 0.9, "decay": 0.1, "norm": 1.0, "p": 0.5, "slope": 0.1, "smooth": 0.1, "steps": 10, "at": [3],
    "width": 32, "layers": 3,
}  # fmt: skip
SIZE_NOTHING = {
    "rate": {"optimizer": "paddle.optimizer.Adam(config['rate'], parameters=net.parameters())"},
    "by name": {"optimizer": "paddle.optimizer.AdamW(learning_rate=config['rate'], beta1=config['beta'], weight_decay="
                "config['decay'], parameters=net.parameters())"},
    "float": {"optimizer": "paddle.optimizer.SGD(float(config['rate']), parameters=net.parameters())"},
    "got": {"optimizer": "paddle.optimizer.Adam(config.get('rate', 0.1), parameters=net.parameters())"},
    "clip": {"optimizer": "paddle.optimizer.SGD(0.1, grad_clip=nn.ClipGradByGlobalNorm(config['norm']), "
             "weight_decay=paddle.regularizer.L2Decay(config['decay']), parameters=net.parameters())"},
    "cosine": {"before": "rate = lr.CosineAnnealingDecay(config['rate'], T_max=config['steps'])",
               "after": "rate.step()", "optimizer": "paddle.optimizer.SGD(rate, parameters=net.parameters())"},
    "steps": {"before": "rate = lr.LinearWarmup(lr.MultiStepDecay(0.1, config['at']), config['steps'], 0.0, "
              "config['rate'])", "after": "rate.step()",
              "optimizer": "paddle.optimizer.SGD(rate, parameters=net.parameters())"},
    "layers": {"layer": "nn.Sequential(nn.Dropout(p=config['p']), nn.LeakyReLU(config['slope']))"},
    "functions": {"forward": "F.leaky_relu(F.dropout(self.first(x), config['p']), negative_slope=config['slope'])"},
    "smoothed": {"loss": ", label_smoothing=config['smooth']"},
    "namespace": {"before": "from types import SimpleNamespace\nconfig = SimpleNamespace(**config)",
                  "optimizer": "paddle.optimizer.Adam(config.rate, parameters=net.parameters())"},
}  # fmt: skip
SIZE_SOMETHING = {
    "width": ({"layer": "nn.Sequential(nn.Linear(64, config['width']), nn.Linear(config['width'], 64))"},
              {"config_width": 256}),
    "default": ({"before": "width = config.get('width', 24)", "layer": "nn.Sequential(nn.Linear(64, width), "
                "nn.Linear(width, 64))"}, {"width": 24}),
    "count": ({"layer": "nn.Sequential(*[nn.Linear(64, 64) for _ in range(config['layers'])])"}, {"config_layers": 4}),
    "in an object": ({"before": "class Config:\n    def __init__(self, given):\n        self.width = given['width']\n"
                      "config = Config(config)", "layer": "nn.Linear(64, config.width)",
                      "forward": "self.between(self.first(x))[:, :64]"}, {"config_width": 256}),
}  # fmt: skip


def program(config: str, changed: dict[str, str]) -> str:
    return PROGRAM.format(config=config, **{**USUAL, **changed})


def absent(changed: dict[str, str]) -> str:
    return program("json.load(open('absent/config.json'))", changed)


def test_what_sizes_nothing_is_assumed(run_child):
    here = {f"{name} here": program(repr(SETTINGS), changed) for name, changed in SIZE_NOTHING.items()}
    found = run_child("trace", here | {name: absent(changed) for name, changed in SIZE_NOTHING.items()})
    assert {name: (found[name]["status"], found[name]["questions"]) for name in SIZE_NOTHING} == {
        name: ("ok", []) for name in SIZE_NOTHING
    }
    assert {name: found[name]["peak"] for name in SIZE_NOTHING} == {
        name: found[f"{name} here"]["peak"] for name in SIZE_NOTHING
    }
    # Without smoothing less would be computed: only that is worth a word.
    noted = {name: [one["numbers"] for one in found[name]["params"] if "numbers" in one] for name in SIZE_NOTHING}
    assert noted == {name: ["config_smooth=0.1"] if name == "smoothed" else [] for name in SIZE_NOTHING}


def test_an_answer_for_it_counts(run_child):
    changed = SIZE_NOTHING["smoothed"]
    asked = {"none": {"answers": {"config_smooth": 0}}}
    found = run_child("trace", {"none": absent(changed), "here": program("{'smooth': 0.0}", changed)}, asked)
    assert found["none"]["peak"] == found["here"]["peak"]


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", {name: absent(changed) for name, (changed, _) in SIZE_SOMETHING.items()})


@pytest.mark.parametrize("name", SIZE_SOMETHING)
def test_what_sizes_something_is_asked_by_its_name(asked, name):
    questions = {one["name"]: one["suggestion"] for one in asked[name]["questions"]}
    assert questions == SIZE_SOMETHING[name][1], json.dumps(asked[name]["questions"])
