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
    answer, _ = ask(running, f"{PANEL}.trace('net', '{{}}')")
    assert answer["error"]["code"] == "inputs_unknown"
    assert answer["error"]["hint"]
    chinese, _ = ask(running, f"{PANEL}.trace('net', '{{}}', 'zh-CN')")
    assert chinese["error"]["code"] == "inputs_unknown"
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
