"""A folder of pictures and a table that are not here: what was a stop or a crash is looked for as other data is."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

FOLDER = """
import paddle
from paddle.vision import transforms
net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten())
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
ways = transforms.Compose([transforms.RandomResizedCrop((96, 96)), transforms.ToTensor()])
pictures = paddle.vision.datasets.ImageFolder('absent_cats', transform=ways)
for picture in paddle.io.DataLoader(pictures, batch_size=16):
    net(picture[0]).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
TABLE = """
import pandas
import paddle
table = pandas.read_csv('absent.csv')
numbers = table.drop('status', axis=1).values
rows = paddle.to_tensor(numbers.astype('float32'))
states = paddle.to_tensor(table['status'].values.astype('float32'))
net = paddle.nn.Linear(numbers.shape[1], 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    loss = paddle.nn.functional.binary_cross_entropy_with_logits(net(rows), states.unsqueeze(1))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", {"folder": FOLDER, "table": TABLE})


def test_a_folder_of_pictures_that_is_not_here_is_no_stop(traced):
    """`ImageFolder` finds no pictures in it, as in a folder that is here and empty."""
    assert (traced["folder"]["status"], traced["folder"]["stop"]) == ("ok", None)
    assert traced["folder"]["inputs"] == ["float32[16, 3, 96, 96]"]


def test_the_type_of_data_that_is_not_here_is_asked_for_where_an_operator_reads_it(traced):
    """The loss makes ones of its logits' type: Paddle's reading of one that is not known ended the process."""
    assert traced["table"]["status"] == "needs_input"
    assert "numbers_shape_1" in {one["name"] for one in traced["table"]["questions"]}
