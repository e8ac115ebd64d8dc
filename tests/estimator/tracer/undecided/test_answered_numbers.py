"""What comes out of data that is not here, as first notebooks have it: asked for once, by what the cells call it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, pandas as pd, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""
TABLE = (
    HEAD
    + """
X = pd.read_csv('absent.csv').drop(columns=['y']).values
class Net(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width * 2)
        self.last = nn.Linear(2 * width if width > 4 else 8, 1)
    def forward(self, x):
        return self.last(self.first(x))
net = Net(X.shape[AXIS])
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(6):
    x, y = paddle.rand([8, X.shape[AXIS]]), paddle.rand([8, 1])
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
HERE = TABLE.replace("pd.read_csv('absent.csv').drop(columns=['y']).values", "np.zeros([100, 13])")
TEXT = (
    HEAD
    + """
text = open('absent.txt').read()
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = paddle.to_tensor([index[c] for c in text], dtype='int64')
block, batch = 24, 4
def get_batch():
    starts = paddle.randint(0, len(data) - block, [batch])
    x = paddle.stack([data[i:i + block] for i in starts.tolist()])
    y = paddle.stack([data[i + 1:i + block + 1] for i in starts.tolist()])
    return x, y
class Net(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.words, self.head = nn.Embedding(size, 16), nn.Linear(16, size)
    def forward(self, x):
        return self.head(self.words(x))
model = Net(len(chars))
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
for i in range(100_000):
    x, y = get_batch()
    logits = model(x)
    loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), y.reshape([-1]))
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
"""
)
WORDS = TEXT.replace("open('absent.txt').read()", "''.join(map(chr, range(65, 130))) * 20")
STEP = """
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for i in range(6):
    loss = net(paddle.to_tensor(xs)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FOLDER = (
    HEAD
    + """
import glob, pathlib
from PIL import Image
files = FILES
pictures = np.array([np.asarray(Image.open(one).resize((16, 16))) for one in files]).astype('float32')
pictures = pictures.transpose(0, 3, 1, 2) / 255
net, xs = nn.Conv2D(3, 4, 3), pictures[:8]
"""
    + STEP
)
WINDOWS = (
    HEAD
    + """
rows = pd.read_csv('absent.csv').values.astype('float32')
look_back = 12
def windows(rows):
    found = []
    for i in range(len(rows) - look_back):
        found.append(rows[i:i + look_back])
    return np.array(found)
xs = windows(rows[:int(len(rows) * 0.8)])
net = nn.LSTM(1, 4)
"""
    + STEP.replace("net(paddle.to_tensor(xs))", "net(paddle.to_tensor(xs))[0]")
)
SOURCES = {
    "folder": FOLDER.replace("FILES", "sorted(glob.glob('absent/*.jpg'))"),
    "path": FOLDER.replace("FILES", "list(pathlib.Path('absent').rglob('*.jpg'))"),
    "states": HEAD
    + "import glob\nassert glob.glob('absent/*.pdparams') == []\nnet, xs = nn.Linear(3, 1), np.ones([2, 3], 'float32')"
    + STEP,
    "windows": WINDOWS,
    "table": TABLE.replace("AXIS", "1"),
    "last": TABLE.replace("AXIS", "-1"),
    "here": HERE.replace("AXIS", "1"),
    "text": TEXT,
    "text-here": WORDS,
}
ANSWERS = {
    "table": {"X_shape_1": 13},
    "last": {"X_shape_last": 13},
    "text": {"len_chars": 65},  # a function of its own says what its batches look like
}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def answered(run_child):
    known = {name: SOURCES[name] for name in ANSWERS}
    return run_child("trace", known, {name: {"answers": answers} for name, answers in ANSWERS.items()})


@pytest.mark.parametrize("name", ANSWERS)
def test_each_is_asked_for_once_with_a_suggestion(asked, name):
    assert {one["name"] for one in asked[name]["questions"]} == set(ANSWERS[name])
    assert all(one["suggestion"] is not None for one in asked[name]["questions"])


@pytest.mark.parametrize(("name", "here"), [("table", "here"), ("last", "here"), ("text", "text-here")])
def test_the_answers_give_the_figure_of_such_data(asked, answered, name, here):
    assert (asked[here]["status"], answered[name]["status"]) == ("ok", "ok")
    assert answered[name]["questions"] == []
    kept = 65 * 20 * 8 if name == "text" else 0  # a tensor of all the text, how long it is nobody knows
    assert answered[name]["peak"] == asked[here]["peak"] - kept
    assert ("tensors_uncounted" in answered[name]["notes"]) == bool(kept)


@pytest.mark.parametrize("name", ["folder", "path"])
def test_a_folder_that_is_not_here_is_no_empty_one(asked, name):
    """Its pictures are cut to a size by the cells: nobody has to be asked."""
    assert (asked[name]["status"], asked[name]["questions"]) == ("ok", [])
    assert {"data_followed", "data_absent"} & set(asked[name]["notes"])


def test_what_an_earlier_run_has_left_need_not_be_there(asked):
    assert asked["states"]["status"] == "ok"


def test_windows_of_rows_that_are_not_here_are_no_empty_array(asked):
    (question,) = asked["windows"]["questions"]
    assert (question["name"], question["suggestion"]) == ("xs", "float32[1000,12,1]")
