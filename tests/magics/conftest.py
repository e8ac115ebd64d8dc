"""Real kernels with the magic's configuration."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

CONFIG = Path(__file__).parents[2] / "jupyter_paddle_gpu" / "config" / "ipython.json"

TRAINING = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(64, 128), paddle.nn.ReLU(), paddle.nn.Linear(128, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
loss_fn = paddle.nn.CrossEntropyLoss()
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.ones([64]).numpy(), 1
    def __len__(self):
        return 320
loader = paddle.io.DataLoader(Data(), batch_size=32)
"""
STEP = """
for x, y in loader:
    loss = loss_fn(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


class Kernel:
    """A real kernel; `run` gives (text streams, rich outputs, error name or empty)."""

    def __init__(self, folder, **environment):
        os.environ.pop("JPY_SESSION_NAME", None)
        self.manager, self.client = start_new_kernel(cwd=str(folder), env={**os.environ, **environment})

    def run(self, code):
        text, rich, errors = [], [], []

        def hook(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                text.append(content["text"])
            elif message["msg_type"] in ("execute_result", "display_data"):
                rich.append(content["data"])
            elif message["msg_type"] == "error":
                errors.append(content)

        self.client.execute_interactive(code, output_hook=hook, timeout=300)
        return "".join(text), rich, errors

    def updates(self, wanted):
        """What is shown anew, up to the first that is wanted."""
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["msg_type"] == "update_display_data" and wanted(message["content"]["data"]):
                return message["content"]["data"]

    def complete(self, code):
        """What Tab offers at the end of the code, as the whole words."""
        self.client.complete(code, len(code))
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["msg_type"] == "complete_reply":
                return reply["content"]["matches"]

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path):
    """Starts kernels in a folder with the lazy magic's configuration and a data folder of the test's own."""
    started = []
    configuration = tmp_path / "ipython"
    (configuration / "profile_default").mkdir(parents=True)
    shutil.copy(CONFIG, configuration / "profile_default" / "ipython_kernel_config.json")

    def start(**environment):
        settings = {"IPYTHONDIR": str(configuration), "PADDLE_GPU_DATA": str(tmp_path / "data"), "LANG": "C.UTF-8"}
        started.append(Kernel(tmp_path, **settings, **environment))
        return started[-1]

    yield start
    for running in started:
        running.close()
