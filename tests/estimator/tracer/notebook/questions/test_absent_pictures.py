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
REPEATED = """
import glob
import paddle
from PIL import Image
from paddle.vision import transforms
class Cats(paddle.io.Dataset):
    def __init__(self, folder):
        super().__init__()
        self.names = glob.glob(folder + '/*.png')
        self.ways = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        return self.ways(Image.open(self.names[i])), i % 3
class Repeated(paddle.io.Dataset):
    def __init__(self, of, count):
        super().__init__()
        self.of, self.count, self.each = of, count, len(of)
    def __len__(self):
        return self.count
    def __getitem__(self, i):
        return self.of[i % self.each]
net = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Repeated(Cats('absent_cats'), 300), batch_size=8):
    net(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HEADS = {"a model's": "net.head = paddle.nn.Linear(1000, 1000)\nnet.head", "one of a row": "net[2]"}
"""Where a model that was made for other classes gets as many as the folder has."""
FINE_TUNED = """
import paddle
from paddle.vision import transforms
pictures = paddle.vision.datasets.DatasetFolder('absent_cats', transform=transforms.Compose(
    [transforms.Resize((96, 96)), transforms.ToTensor()]))
net = paddle.nn.Sequential(paddle.nn.AdaptiveAvgPool2D(8), paddle.nn.Flatten(), paddle.nn.Linear(192, 1000))
{head} = paddle.nn.Linear({width}, len(pictures.classes))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(pictures, batch_size=16):
    paddle.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", {"folder": FOLDER, "table": TABLE, "repeated": REPEATED})


@pytest.mark.parametrize("where", HEADS)
def test_a_head_as_wide_as_a_folder_has_classes_is_asked_for(run_child, where):
    head = HEADS[where]
    source = FINE_TUNED.format(head=head, width=192 if "[" in head else 1000)
    sources = {"asked": source, "answered": source, "typed": source.replace("len(pictures.classes)", "7")}
    found = run_child("trace", sources, {"answered": {"answers": {"len_pictures_classes": 7}}})
    assert (found["asked"]["status"], [one["name"] for one in found["asked"]["questions"]]) == (
        "needs_input",
        ["len_pictures_classes"],
    )
    assert found["answered"]["status"] == "ok"
    assert found["answered"]["peak"] == found["typed"]["peak"]


def test_a_folder_of_pictures_that_is_not_here_is_no_stop(traced):
    """`ImageFolder` finds no pictures in it, as in a folder that is here and empty."""
    assert (traced["folder"]["status"], traced["folder"]["stop"]) == ("ok", None)
    assert traced["folder"]["inputs"] == ["float32[16, 3, 96, 96]"]


def test_the_type_of_data_that_is_not_here_is_asked_for_where_an_operator_reads_it(traced):
    """The loss makes ones of its logits' type: Paddle's reading of one that is not known ended the process."""
    assert traced["table"]["status"] == "needs_input"
    assert "numbers_shape_1" in {one["name"] for one in traced["table"]["questions"]}


def test_a_data_set_that_is_made_of_another_is_followed_into_it(traced):
    """Which of the other's samples it takes hangs on how many there are; all are alike."""
    assert traced["repeated"]["questions"] == []
    assert traced["repeated"]["inputs"] == ["float32[8, 3, 64, 64]", "int64[8]"]


ONE_PICTURE = """
import numpy as np
import paddle
from PIL import Image
picture = Image.open('absent.png').resize((96, 64))
x = paddle.to_tensor(np.array(picture).astype('float32'))
x = paddle.unsqueeze(x, axis=0).unsqueeze(1)
edges = paddle.nn.functional.conv2d(x, paddle.ones([1, 1, 3, 3]))
net = paddle.nn.Conv2D(1, 1, 3)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    ((net(x) - edges) ** 2).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_one_picture_in_gray_is_as_wide_as_pillow_makes_it(run_child):
    """`resize` of Pillow takes the width first; a picture has no channel of its own where it is gray."""
    here = ONE_PICTURE.replace("Image.open('absent.png')", "Image.new('L', (300, 200))")
    answers = {"accepted": {"answers": {"x": "float32[64,96]"}}}
    found = run_child("trace", {"asked": ONE_PICTURE, "accepted": ONE_PICTURE, "here": here}, answers)
    assert [(one["name"], one["suggestion"]) for one in found["asked"]["questions"]] == [("x", "float32[64,96]")]
    assert (found["accepted"]["status"], found["here"]["status"]) == ("ok", "ok")
    assert abs(found["accepted"]["peak"] - found["here"]["peak"]) < 100
