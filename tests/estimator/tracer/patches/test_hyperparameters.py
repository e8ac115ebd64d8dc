"""Numbers of an absent file of settings: what sizes nothing is no question, what sizes something is one by its name."""

from __future__ import annotations

import ast
import json

import pytest

from jupyter_paddle_gpu.runner.shells import sets

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


IN_TURN = """layers, last = [], 64
for width in config['at']:
    layers.append(nn.Linear(last, width))
    last = width
"""
BY_NUMBER = """def make(wide):
    between = [nn.Linear(wide[i], wide[i + 1]) for i in range(len(wide) - 1)]
    return nn.Sequential(nn.Linear(64, wide[0]), *between, nn.Linear(wide[-1], 64))
"""
BY_NAMES = """class Between(nn.Layer):
    def __init__(self, width=24, p=0.1):
        super().__init__()
        self.one, self.two = nn.Linear(64, width), nn.Linear(width, 64)
    def forward(self, x):
        return self.two(self.one(x))
"""
CHOOSE = {
    "of a module": ({"optimizer": "getattr(paddle.optimizer, config['name'])(parameters=net.parameters())"},
                    "config_name", "SGD", "Adam"),
    "of a table": ({"before": "known = {'relu': nn.ReLU, 'gelu': nn.GELU}", "layer": "known[config['act']]()"},
                   "config_act", "relu", "relu"),
    "of a table at hand": ({"optimizer": "{'sgd': paddle.optimizer.SGD, 'adam': paddle.optimizer.Adam}[config['o']."
                            "lower()](parameters=net.parameters())"}, "config_o", "sgd", "adam"),
    "by comparing": ({"before": "def make(net):\n    if config['opt'] == 'sgd':\n        return paddle.optimizer.SGD("
                      "0.1, parameters=net.parameters())\n    elif config['opt'] == 'adam':\n        return paddle."
                      "optimizer.Adam(0.1, parameters=net.parameters())\n    raise ValueError(config['opt'])",
                      "optimizer": "make(net)"}, "config_opt", "sgd", "adam"),
    "of functions": ({"forward": "getattr(F, config['act'])(self.first(x))"}, "config_act", "gelu", "relu"),
    "of widths": ({"layer": "nn.Sequential(*[nn.Linear(a, b) for a, b in zip([64, *config['at']], "
                   "[*config['at'], 64])])"}, "config_at", [32, 16], "[64, 64]"),
    "of widths in turn": ({"before": IN_TURN, "layer": "nn.Sequential(*layers, nn.Linear(last, 64))"},
                          "config_at", [32, 16], "[64, 64]"),
    "of widths by number": ({"before": BY_NUMBER, "layer": "make(config['at'])"}, "config_at", [32, 16], "[64, 64]"),
    "by names": ({"before": BY_NAMES, "layer": "Between(**config['net'])"}, "config_net_width", {"width": 32}, 24),
}  # fmt: skip
"""What changes, the name that is asked for, a value of it, and what is suggested."""


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


@pytest.fixture(scope="module")
def chosen(run_child):
    """Programs whose settings are not here: unanswered, answered, and those whose settings are here."""
    programs, answers = {}, {}
    for name, (changed, asked, value, _) in CHOOSE.items():
        path = asked.removeprefix("config_").split("_")
        given = value["width"] if isinstance(value, dict) else value
        programs |= {name: absent(changed), f"{name} told": absent(changed)}
        programs[f"{name} here"] = program(repr({path[0]: value}), changed)
        answers[f"{name} told"] = {"answers": {asked: str(given) if isinstance(given, list) else given}}
    return run_child("trace", programs, answers)


@pytest.mark.parametrize("name", CHOOSE)
def test_what_is_chosen_by_a_setting_is_asked_by_its_name(chosen, name):
    _, asked, _, suggested = CHOOSE[name]
    assert {one["name"]: one["suggestion"] for one in chosen[name]["questions"]} == {asked: suggested}
    assert (chosen[f"{name} told"]["status"], chosen[f"{name} told"]["questions"]) == ("ok", [])
    assert chosen[f"{name} told"]["peak"] == chosen[f"{name} here"]["peak"]


SCALARS = {
    "a weight": {"after": "pass", "loss": ") * (config['rate']"},
    "a temperature": {"forward": "self.between(self.first(x)) / config['rate']"},
    "digits": {"after": "print(f\"{float(loss):.{config['steps']}f}\", '{:.{}f}'.format(1.5, config['steps']))"},
    "values of Paddle's": {"optimizer": "paddle.optimizer.SGD(parameters=net.parameters(), **config['optimizer'])"},
}  # fmt: skip


def test_a_setting_beside_a_tensor_is_any_number(run_child):
    known = {**SETTINGS, "optimizer": {"learning_rate": 0.1}}
    here = {f"{name} here": program(repr(known), changed) for name, changed in SCALARS.items()}
    found = run_child("trace", here | {name: absent(changed) for name, changed in SCALARS.items()})
    assert {name: (found[name]["status"], found[name]["questions"], found[name]["peak"]) for name in SCALARS} == {
        name: ("ok", [], found[f"{name} here"]["peak"]) for name in SCALARS
    }
    assert not [one for name in SCALARS for one in found[name]["notes"] if one in {"no_backward", "no_gradients"}]


def test_the_size_of_a_loaders_batch_is_asked_by_its_name(run_child):
    text = absent({}).replace("batch_size=8", "batch_size=config['batch'], shuffle=config['shuffle']")
    told = {"told": {"answers": {"config_batch": 8}}}
    found = run_child("trace", {"none": text, "told": text, "here": program("{}", {})}, told)
    assert {one["name"]: one["suggestion"] for one in found["none"]["questions"]} == {"config_batch": 32}
    assert (found["told"]["status"], found["told"]["peak"]) == ("ok", found["here"]["peak"])


def test_a_list_is_one_in_the_job_too(run_child):
    source = "widths = config['widths']\nsaid = '[1]'\nkind = config['kind']"
    names: dict = {}
    tree = sets.bind(ast.parse(source), {"widths": "[32, 16]", "said": "[2]", "kind": "[a"})
    exec(compile(tree, "<cell>", "exec"), names)
    assert (names["widths"], names["said"], names["kind"]) == ([32, 16], "[2]", "[a")
    layers = "nn.Sequential(*[nn.Sequential(nn.Linear(64, width), nn.Linear(width, 64)) for width in widths])"
    changed = {"before": "widths = config['at']", "layer": layers}
    asked = {"told": {"answers": {"widths": "[32, 16]"}}}
    found = run_child("trace", {"told": absent(changed), "here": program("{'at': [32, 16]}", changed)}, asked)
    assert (found["told"]["status"], found["told"]["peak"]) == ("ok", found["here"]["peak"])
