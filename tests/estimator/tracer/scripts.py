"""Pieces of which the tests' notebooks are put together."""

from __future__ import annotations

STEP = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""

ADAM = "optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())\n"

DATASET = (
    HEAD
    + """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        {sample}
    def __len__(self):
        return 960
"""
)
