"""What the panel asks of a kernel: the answers, and that the kernel is afterwards as it was before."""

from __future__ import annotations

import base64
import json
import zlib

import msgspec
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.magics.panel import MIME
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.estimates.live_traces import unpacked

from .conftest import STEP, TRAINING

PANEL = '__import__("jupyter_paddle_gpu.magics.panel", fromlist=["panel"])'
STATE = r"""
_state = [
    sorted(name for name in globals() if not __import__("re").fullmatch(r"_state|_i*|_+|_i?\d+", name)),
    paddle.in_dynamic_mode(),
    [__import__("re").sub("0x[0-9a-f]+", "", str(one)) for one in paddle.get_rng_state()],
    str(__import__("random").getstate()), str(__import__("numpy").random.get_state()),
    [text for text in In if "_state = [" not in text], {key: str(value) for key, value in Out.items()},
    [str(p.numpy().sum()) for p in net.parameters()], net.training,
    paddle.device.core.host_memory_stat_current_value("Allocated", 0),
]
print(__import__("json").dumps(_state))
"""
"""Names, mode, random states, `In`, `Out`, the model and memory; but for what these very cells leave."""


TOUCHY = """
touched = []
class Lazy:
    @property
    def __class__(self):
        touched.append("class")
        return dict
    def __getattr__(self, name):
        touched.append(name)
        return self
    def __len__(self):
        touched.append("len")
        return 3
class Own(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(2, 3)
    @property
    def network(self):
        touched.append("network")
        return self
    def parameters(self, include_sublayers=True):
        touched.append("parameters")
        return super().parameters(include_sublayers)
lazy, own = Lazy(), Own()
"""
"""Objects that tell when the panel touches them."""


@pytest.fixture
def services(tmp_path):
    """Services with a data folder of the test's own."""
    own = Services(Settings(data_folder=tmp_path / "services"))
    yield own
    own.close()


def ask(running, expression):
    """The value of a user expression of an empty silent execution, as the panel asks, and the execution count."""
    identity = running.client.execute("", silent=True, store_history=False, user_expressions={"answer": expression})
    while True:
        reply = running.client.get_shell_msg(timeout=120)
        if reply["parent_header"].get("msg_id") == identity:
            answer = reply["content"]["user_expressions"]["answer"]
            return answer.get("data", {}).get(MIME, answer), reply["content"]["execution_count"]


@pytest.mark.paddle
def test_a_live_model_is_found_and_traced_and_nothing_of_the_kernel_changes(kernel, services):
    running = kernel()
    running.run(TRAINING)
    running.run(STEP)
    running.run("7")
    running.run("_random = paddle.get_rng_state(); _drawn = paddle.rand([4]).numpy(); paddle.set_rng_state(_random)")
    before, _, _ = running.run(STATE)
    found, count = ask(running, f"{PANEL}.models()")
    assert found == {"models": [{"name": "net", "type": "Sequential", "parameters": 9610}]}
    answer, again = ask(running, f"""{PANEL}.trace('net', '{{"target": "cpu"}}')""")
    assert again == count
    after, _, _ = running.run(STATE)
    assert json.loads(after) == json.loads(before)
    text, _, _ = running.run("print((paddle.rand([4]).numpy() == _drawn).all())")
    assert text.split() == ["True"]
    live = services.estimate_trace(unpacked(answer["trace"]), EstimateRequest(target="cpu"))
    text, _, _ = running.run("%paddle_gpu estimate net --target cpu --json")
    assert (live.live, live.allocated_peak_bytes) == (True, json.loads(text)["allocated_peak_bytes"])


@pytest.mark.paddle
def test_what_cannot_be_traced_is_a_sentence_and_nothing_of_the_programs_own_is_called(kernel):
    running = kernel()
    running.run("import paddle\n" + TOUCHY + "net = paddle.nn.Linear(4, 2)")
    found, _ = ask(running, f"{PANEL}.models()")
    assert [(one["name"], one["parameters"]) for one in found["models"]] == [("own", 9), ("net", 10)]
    asked = [{"name": name, "kind": kind} for name in ("lazy", "len_lazy", "lazy_size") for kind in ("value", "batch")]
    assert ask(running, f"{PANEL}.held({json.dumps(asked)!r})")[0] == {"held": {}}
    assert running.run("print(touched)")[0].strip() == "[]"
    answer, _ = ask(running, f"{PANEL}.trace('gone', '{{}}')")
    assert answer["error"]["code"] == "no_live_object"
    assert answer["error"]["hint"]
    chinese, _ = ask(running, f"{PANEL}.trace('gone', '{{}}', 'zh-CN')")
    assert chinese["error"]["code"] == "no_live_object"
    assert chinese["error"]["message"] != answer["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        base64.b64encode(b"not deflated").decode(),
        base64.b64encode(zlib.compress(b"[1, 2]")).decode(),
        base64.b64encode(zlib.compress(b'{"cut": 1}')[:-6]).decode(),
        base64.b64encode(zlib.compress(msgspec.json.encode({"status": "fine"}))).decode(),
    ],
)
def test_what_is_no_trace_is_refused(text, services):
    with pytest.raises(PaddleGpuError) as raised:
        services.estimate_trace(unpacked(text), EstimateRequest())
    assert (raised.value.code, raised.value.status) == ("bad_trace", 400)


FITTED = """
import numpy as np
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(8, 3)
    def forward(self, x):
        return self.fc(x)
class Lines(paddle.io.Dataset):
    def __init__(self, path):
        self.file = open(path, "rb", buffering=0)
    def __getitem__(self, i):
        self.file.read(10)
        return np.zeros([8], "float32"), np.zeros([1], "int64")
    def __len__(self):
        return 100
class Writing(Lines):
    def __getitem__(self, i):
        open("written", "w").close()
        return super().__getitem__(i)
open("lines", "wb").write(bytes(1000))
unused, lines = Lines("lines"), Lines("lines")
model = paddle.Model(Net())
model.prepare(paddle.optimizer.Momentum(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
"""


def traced(running, services, name, cells=(), **request):
    """The estimate of a live model, as the panel has it."""
    given = (name, json.dumps({"target": "cpu", **request}), "en", json.dumps(cells))
    answer, _ = ask(running, f"{PANEL}.trace({', '.join(map(repr, given))})")
    if "error" in answer:
        return answer["error"]
    return services.estimate_trace(unpacked(answer["trace"]), EstimateRequest(target="cpu"))


def notes(estimate):
    """What was assumed."""
    return [one.code for one in estimate.notes if one.code != "live_step"]


@pytest.mark.paddle
def test_fit_says_which_data_and_batch_and_a_sample_moves_nothing_in_the_kernel(kernel, services):
    running = kernel()
    running.run("import paddle\n" + FITTED)
    unsaid = traced(running, services, "model")
    assert (unsaid.batch_size, notes(unsaid)) == (1, ["live_no_batch"])
    cell = "size = 20\nmodel.fit(lines, None, batch_size=size, epochs=1, verbose=0)"
    assert traced(running, services, "model", ["size = 20\n%time model.fit(lines)", cell]).batch_size == 1
    running.run(cell)
    said = traced(running, services, "model")
    assert (said.batch_size, said.inputs[0], notes(said)) == (20, "float32[20, 8]", [])
    before, _, _ = running.run("print(lines.file.tell(), unused.file.tell())")
    traced(running, services, "model")
    assert running.run("print(lines.file.tell(), unused.file.tell())")[0] == before
    running.run("lines = Writing('lines')")
    assert "PermissionError" in traced(running, services, "model")["message"]
    assert running.run("import os; print(os.path.exists('written'))")[0].strip() == "False"


@pytest.mark.paddle
def test_what_the_cells_call_the_model_with_is_its_batch_and_what_is_assumed_is_said(kernel, services):
    running = kernel()
    running.run("import paddle\nimport paddle.nn.functional as F\nnet = paddle.nn.Linear(8, 3)")
    asked = traced(running, services, "net")
    assert [(one.name, one.kind, one.why.code) for one in asked.questions] == [("net", "batch", "live_batch")]
    assert asked.questions[0].suggestion == "float32[32,8]"
    assert traced(running, services, "net", answers={"net": "many"}).questions == asked.questions
    answered = traced(running, services, "net", answers={"net": "float32[16,8] int64[16]"})
    assert (answered.batch_size, notes(answered)) == (16, ["live_no_optimizer", "live_no_loss"])
    running.run("x, y = paddle.rand([12, 8]), paddle.zeros([12], 'int64')\nold = paddle.nn.Linear(8, 3)")
    running.run("optimizer = paddle.optimizer.Adam(parameters=old.parameters())")
    running.run("out = net(x)\nloss = F.cross_entropy(out, y, reduction='sum')")
    called = traced(running, services, "net")
    assert (called.status, called.batch_size, called.inputs) == ("ok", 12, ("float32[12, 8]", "int64[12]"))
    assert notes(called) == ["live_no_optimizer"]
    running.run("del net")
    assert traced(running, services, "net")["code"] == "no_live_object"
