"""Names that a library has no more, and files that hold something else, end a program whatever else is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

ABSENT = "import package_that_is_not_here\nimport numpy as np, paddle\n"
TRAINING = """
rows = np.load("absent.npy")
net = paddle.nn.Linear(13, 1)
{state}
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(8):
    net(paddle.to_tensor(rows[i : i + 16])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FLUID = ABSENT + "from paddle import fluid\n" + TRAINING.format(state="")
STATE = ABSENT + TRAINING.format(state="net.set_state_dict(paddle.load('net.pdparams'))")
GONE = ABSENT + "from paddle import io\n" + TRAINING.format(state="")


@pytest.fixture(scope="module")
def found(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "net.pdparams").write_text("version https://git-lfs.github.com/spec/v1\n")
    programs = {"fluid": FLUID, "state": STATE, "whole": GONE}
    return run_child("trace", programs, {name: {"folder": str(folder)} for name in programs})


def test_an_interface_that_paddle_has_no_more_is_a_stop(found):
    assert (found["fluid"]["status"], found["fluid"]["stop"]["line"]) == ("would_stop", 3)
    assert found["fluid"]["stop"]["error"].startswith("ImportError: cannot import name 'fluid' from 'paddle'")


def test_a_file_that_holds_no_state_is_a_stop_with_its_sentence(found):
    assert found["state"]["stop"]["error"] == "ValueError: `paddle.load` can not parse the file:net.pdparams."


def test_what_is_there_is_none(found):
    assert (found["whole"]["status"], found["whole"]["stop"]) == ("needs_input", None)
