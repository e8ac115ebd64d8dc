"""A program of files that was written for an earlier Paddle: today's refuses its types, and it has a figure."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """import paddle
def narrowest(attention, ratios):
    batch, width = paddle.shape(attention)
    return paddle.minimum(width, paddle.ceil(ratios * width).astype({whole!r}))
"""
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


@pytest.fixture(scope="module")
def traced(run_child, tmp_path_factory):
    sources = {"a cell": TRAIN.format(begin=HEAD.format(whole="int32"))}
    for name, whole in (
        ("an older module", "int32"),
        ("the same, mended", "int64"),
        ("a module with a mistake", "float32"),
    ):
        folder = tmp_path_factory.mktemp("modules")
        (folder / f"head_of_{whole}.py").write_text(HEAD.format(whole=whole))
        begin = f"sys.path.insert(0, {str(folder)!r})\nfrom head_of_{whole} import narrowest"
        sources[name] = TRAIN.format(begin=begin)
    return run_child("trace", sources)


def test_a_module_that_an_earlier_paddle_ran_has_the_figure_of_its_mended_form(traced):
    old, mended = traced["an older module"], traced["the same, mended"]
    assert (old["status"], mended["status"], mended["stop"]) == ("ok", "ok", None)
    assert abs(old["peak"] - mended["peak"]) <= 16  # the cast itself
    stop = old["stop"]
    assert stop["file"].endswith("head_of_int32.py") and stop["file_line"] == 4
    assert "x: int64, y: int32" in stop["error"]


def test_a_line_of_a_cell_still_ends_the_trace(traced):
    assert (traced["a cell"]["status"], traced["a cell"]["stop"].get("file")) == ("would_stop", None)


def test_whole_numbers_beside_fractions_are_a_mistake_in_a_module_too(traced):
    assert (traced["a module with a mistake"]["status"], traced["a module with a mistake"]["stop"].get("file")) == (
        "would_stop",
        None,
    )
