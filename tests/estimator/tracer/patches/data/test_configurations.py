"""A configuration by `configparser` whose file is not on this machine is data that is not here, and no fault."""

from __future__ import annotations

import pytest

_TRAINS = """
batch = int(config["train"]["batch_size"])
rate = config.getfloat("train", "rate")
rows = paddle.rand([512, 13])
loader = paddle.io.DataLoader(paddle.io.TensorDataset([rows, rows]), batch_size=batch)
net = paddle.nn.Linear(13, 13)
optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
for x, y in loader:
    paddle.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_HEAD = "import configparser\nimport paddle\nconfig = configparser.ConfigParser()\n"
SOURCES = {
    "absent": f"{_HEAD}config.read('settings.ini'){_TRAINS}",
    "given": f"{_HEAD}config.read('none.ini')\nconfig['train'] = dict(batch_size='16', rate='0.1'){_TRAINS}",
    "never read": f"{_HEAD}{_TRAINS}",
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.paddle
def test_what_stands_in_a_file_that_is_not_here_is_asked_for(traced):
    found = traced["absent"]
    assert found["status"] == "needs_input"
    assert [one["name"] for one in found["questions"] if one["kind"] == "batch"] == ["loader"]


@pytest.mark.paddle
def test_what_the_program_says_itself_is_taken(traced):
    assert (traced["given"]["status"], traced["given"]["batch_size"]) == ("ok", 16)


@pytest.mark.paddle
def test_a_section_that_no_file_was_to_hold_is_a_fault(traced):
    assert traced["never read"]["status"] == "would_stop"
