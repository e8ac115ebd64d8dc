"""Layers behind `paddle.jit.to_static` beside real ones, compiled whole and in parts.

The real steps run in the program's order: threads of a busy machine let memory go later, and take up to a tenth more.
What one operation leaves is let go by another thread all the same, so that the least of many steps counts.
"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

REAL_STEPS = {"lenet": 40, "lenet-parts": 40, "resnet": 10, "resnet-parts": 10, "decorated": 20, "method": 20}
"""With eight busy processes beside it on two cores, LeNet took most in 22 of 39 steps, the least in the other 17."""
IN_ORDER = 'paddle.set_flags({"FLAGS_new_executor_serial_run": True})'
STEPS = """
optimizer = paddle.optimizer.{optimizer}(0.1, parameters=net.parameters())
for step in range(40):
    x, y = {inputs}
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
IMAGES = "paddle.rand([{}]), paddle.randint(0, 10, [{}, 1])"
LENET = STEPS.format(optimizer="Momentum", inputs=IMAGES.format("64, 1, 28, 28", 64))
RESNET = STEPS.format(optimizer="Momentum", inputs=IMAGES.format("8, 3, 64, 64", 8))
OWN = """
import paddle, pathlib, sys, tempfile
from paddle import nn
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "own_net.py").write_text('''
import paddle
from paddle import nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)])
        self.head = nn.Linear(512, 10)
        self.unused = nn.Linear(10, 10)
    {decorator}
    def forward(self, x):
        return self.head(self.body(x))
''')
sys.path.insert(0, str(folder))
from own_net import Net
net = Net()
{then}
"""
OWN += IN_ORDER.replace("{", "{{").replace("}", "}}") + "\n"
ROWS = STEPS.format(optimizer="AdamW", inputs="paddle.rand([64, 512]), paddle.randint(0, 10, [64, 1])")
HEAD = f"import paddle\nfrom paddle import nn\n{IN_ORDER}\nnet = "
WHOLE, PARTS = "net = paddle.jit.to_static(net, full_graph=True)", "net = paddle.jit.to_static(net)"
SOURCES = {
    "plain": HEAD + "paddle.vision.models.resnet18(num_classes=10)\n" + RESNET,
    "lenet": HEAD + f"paddle.vision.models.LeNet()\n{WHOLE}{LENET}",
    "resnet": HEAD + f"paddle.vision.models.resnet18(num_classes=10)\n{WHOLE}{RESNET}",
    "decorated": OWN.format(decorator="@paddle.jit.to_static(full_graph=True)", then="") + ROWS,
    "method": OWN.format(decorator="", then="net.forward = paddle.jit.to_static(net.forward, full_graph=True)") + ROWS,
    "off": HEAD
    + f"paddle.vision.models.resnet18(num_classes=10)\n{WHOLE}\npaddle.jit.enable_to_static(False)"
    + RESNET
    + "paddle.jit.enable_to_static(True)",
    "lenet-parts": HEAD + f"paddle.vision.models.LeNet()\n{PARTS}{LENET}",
    "resnet-parts": HEAD + f"paddle.vision.models.resnet18(num_classes=10)\n{PARTS}{RESNET}",
}


@pytest.mark.parametrize("name", ["lenet", "resnet", "decorated", "method"])
def test_a_layer_that_is_compiled_whole(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["notes"] == ["compiled"]
    assert traced["peak"] == pytest.approx(min(peaks[1:]), rel=0.01)


@pytest.mark.parametrize("name", ["lenet-parts", "resnet-parts"])
def test_one_that_is_compiled_in_parts_takes_a_little_less(measured, name):
    peaks, traced = measured.pair(name)
    least = min(peaks[1:])
    assert least <= traced["peak"] <= 1.05 * least


@pytest.mark.parametrize("name", ["plain", "off"])
def test_one_that_is_not_compiled_keeps_each_gradient_as_it_comes(measured, name):
    peaks, traced = measured.pair(name)
    assert (traced["notes"], traced["peak"]) == ([], peaks[-1])
    assert traced["peak"] < 0.9 * measured.traced["resnet"]["peak"]
