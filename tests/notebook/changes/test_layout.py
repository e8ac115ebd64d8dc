"""What is written stands as the cell has it: its own indentation, a line for each argument, comments as they were."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tests.notebook.changes.test_table import LOOP, made

MANY = """\
import paddle
loader = paddle.io.DataLoader(
    Pairs(),
    batch_size=16,  # pairs
    shuffle=True,
    collate_fn=collate,  # of mine
    drop_last=True  # so that all are alike
)
model = paddle.Model(paddle.nn.Linear(8, 1))
model.prepare(
    paddle.optimizer.SGD(parameters=model.parameters()),
    paddle.nn.CrossEntropyLoss(),
    paddle.metric.Accuracy(),  # the first
)
model.fit(
    loader,
    callbacks=[
        paddle.callbacks.EarlyStopping(),
    ],
)
"""


@pytest.mark.parametrize("step", ["\t", "  ", "   "])
def test_blocks_stand_as_far_to_the_right_as_the_cells_own(step: str) -> None:
    cell = LOOP.replace("    kept as it is", "kept as it is").replace("    ", step)
    request: dict[str, Any] = {"amp": "O1", "amp_dtype": "float16", "accumulation": 4}
    source = made(request, cell)[0].content["cells"][0]["source"]
    ast.parse(source)
    assert f'{step * 2}with paddle.amp.auto_cast(level="O1", dtype="float16"):\n{step * 3}loss = ' in source
    assert f"{step * 2}if next(micro_batches) % 4 == 0:\n{step * 3}scaler.step(opt)" in source


def test_an_argument_is_added_in_a_line_of_its_own_and_comments_stay_where_they_are() -> None:
    source = made({"amp": "O1", "accumulation": 4}, MANY)[0].content["cells"][0]["source"]
    ast.parse(source)
    assert '    paddle.metric.Accuracy(),  # the first\n    amp_configs="O1",\n)' in source
    assert "    ],\n    accumulate_grad_batches=4,\n)" in source


def test_a_loader_keeps_its_lines_and_comments_when_its_data_is_divided() -> None:
    cell = (
        MANY[: MANY.index("model =")]
        + LOOP.replace("data, batch_size=64, shuffle=True", "data, 1")[len("import paddle\n") :]
    )
    source = made({"devices": 2}, cell.replace("in loader", "in pairs").replace("loader = ", "pairs = ", 1))[0]
    source = source.content["cells"][0]["source"]
    ast.parse(source)
    words = "dataset, batch_size=16, shuffle=True, drop_last=True"
    assert source.split("pairs = ")[1].split("\n\n")[0].split("\nfrom")[0] == "\n".join(
        (
            "paddle.io.DataLoader(",
            "    dataset,",
            f"    batch_sampler=paddle.io.DistributedBatchSampler({words}),  # pairs",
            "    collate_fn=collate,  # of mine",
            "    # so that all are alike",
            ")",
        )
    )


def test_what_is_put_above_a_function_is_apart_from_it() -> None:
    cell = "def train():\n" + "".join(
        f"    {line}\n" for line in LOOP.splitlines() if "text" not in line and "kept" not in line
    )
    source = made({"accumulation": 4}, cell + "train()\n")[0].content["cells"][0]["source"]
    assert source.startswith("import itertools\nmicro_batches = itertools.count(1)\n\n\ndef train():\n")
