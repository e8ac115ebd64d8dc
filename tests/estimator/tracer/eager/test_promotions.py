"""A script with modules that was written for an earlier Paddle: today's refuses its types, and it has a figure."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """import paddle
def narrowest(attention, ratios):
    batch, width = paddle.shape(attention)
    return paddle.minimum(width, paddle.ceil(ratios * width.astype("float32")).astype({whole!r}))
"""
LOSS = """def masked(probabilities, mask):
    rest = 1 - mask
    return probabilities + rest{cast}
"""
SCRIPT = "__file__ = 'tools/train.py'\n"
TRAIN = """
import sys
import paddle
{begin}
model = paddle.nn.Linear(8, 8)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(4):
    attention = model(paddle.rand([16, 8]))
    narrow = narrowest(attention, paddle.rand([1]))
    (attention.mean() + narrow.astype("float32").mean()).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


MASKED = """
import sys
import paddle
{begin}
model = paddle.nn.Linear(8, 8)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
mask = paddle.ones([512, 8], "int64")
for step in range(4):
    masked(model(paddle.rand([512, 8])), mask).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""

WITHIN = """
import sys
import paddle
{begin}
model = paddle.nn.Linear(8, 4096)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
def loss_of(batch):
    attention = model(batch)
    return attention.tanh().mean() + narrowest(attention, paddle.rand([1])).astype("float32").mean()
for step in range(4):
    loss_of(paddle.rand([512, 8])).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child, tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    (folder / "head_of_int32.py").write_text(HEAD.format(whole="int32"))
    (folder / "head_of_int64.py").write_text(HEAD.format(whole="int64"))
    (folder / "loss_of_before.py").write_text(LOSS.format(cast=""))
    (folder / "loss_with_cast.py").write_text(LOSS.format(cast=".astype(probabilities.dtype)"))
    begin = f"sys.path.insert(0, {str(folder)!r})\nfrom "
    old, mended = (begin + f"head_of_{whole} import narrowest" for whole in ("int32", "int64"))
    before, cast = (begin + f"loss_{one} import masked" for one in ("of_before", "with_cast"))
    sources = {
        "a cell": TRAIN.format(begin=HEAD.format(whole="int32")),
        "a script": SCRIPT + TRAIN.format(begin=old),
        "the same, mended": SCRIPT + TRAIN.format(begin=mended),
        "a notebook": TRAIN.format(begin=old),
        "a script's function": SCRIPT + WITHIN.format(begin=old),
        "its function, mended": SCRIPT + WITHIN.format(begin=mended),
        "a script's loss": SCRIPT + MASKED.format(begin=before),
        "its loss, mended": SCRIPT + MASKED.format(begin=cast),
        "a notebook's loss": MASKED.format(begin=before),
    }
    return run_child("trace", sources)


def test_a_script_that_an_earlier_paddle_ran_has_the_figure_of_its_mended_form(traced):
    old, mended = traced["a script"], traced["the same, mended"]
    assert (old["status"], mended["status"], mended["stop"]) == ("ok", "ok", None)
    assert abs(old["peak"] - mended["peak"]) <= 16  # the cast itself
    stop = old["stop"]
    assert stop["file"].endswith("head_of_int32.py") and stop["file_line"] == 4
    assert "x: int64, y: int32" in stop["error"]


def test_what_was_refused_holds_nothing_of_the_frames_that_it_came_through(traced):
    """A function's tensors, 8 MiB each, went with Python's circles alone: a step was counted with those of the last."""
    old, mended = traced["a script's function"], traced["its function, mended"]
    assert (old["status"], mended["status"], mended["stop"]) == ("ok", "ok", None)
    assert abs(old["peak"] - mended["peak"]) <= 16


def test_whole_numbers_take_the_type_of_what_they_are_added_to(traced):
    old, mended = traced["a script's loss"], traced["its loss, mended"]
    assert (old["status"], mended["status"], mended["stop"]) == ("ok", "ok", None)
    assert abs(old["peak"] - mended["peak"]) < 512  # masks and what they are added to have 16 and 32 KiB
    assert old["stop"]["file"].endswith("loss_of_before.py") and old["stop"]["file_line"] == 3


@pytest.mark.parametrize("name", ["a cell", "a notebook", "a notebook's loss"])
def test_what_a_notebook_mixes_still_ends_the_trace(traced, name):
    assert (traced[name]["status"], traced[name]["stop"].get("file")) == ("would_stop", None)
