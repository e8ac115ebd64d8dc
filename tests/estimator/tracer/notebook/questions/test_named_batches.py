"""Batches that are dictionaries, and programs that go on, or end, whatever their batch is."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import numpy as np, paddle
from paddle import nn
class Pairs(paddle.io.Dataset):
    def __init__(self, data):
        self.data = data
    def __len__(self):
        return len(self.data['labels'])
    def __getitem__(self, i):
        return {'premise': self.data['premises'][i], 'premise_length': self.data['lengths'][i],
                'label': self.data['labels'][i]}
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.out = nn.Embedding(100, 8), nn.LSTM(8, 8), nn.Linear(8, 3)
    def forward(self, ids, lengths):
        return self.out(self.lstm(self.words(ids), sequence_length=lengths)[0].mean(1))
def make(path):
    with open(path, 'rb') as file:
        pairs = Pairs(file.read())
    return paddle.io.DataLoader(pairs, batch_size=6)
def train(net, reader):
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for number, batch in enumerate(reader, start=1):
        logits = net(batch['premise'], batch['premise_length'])
        loss = nn.functional.cross_entropy(logits, batch['label'])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
loader = make('absent.pkl')
train(Net(), loader)
"""
PADDED = PAIRS.replace("'premise': self.data['premises'][i]", "'premise': padded(self.data['premises'][i])").replace(
    "class Pairs", "def padded(ids):\n    return np.array((list(ids) + [0] * 40)[:40], 'int64')\nclass Pairs"
)
TYPES = """
import numpy as np, paddle
class Rows(paddle.io.Dataset):
    def __init__(self):
        self.rows = np.load('absent.npy')
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return self.rows[i], self.rows[i]
net = paddle.nn.Linear(4, 4)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
loader = paddle.io.DataLoader(Rows(), batch_size=8)
for x, y in loader:
    out = net(x){added}
    loss = paddle.matmul(out, paddle.to_tensor(np.eye(4){cast})).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WHOLE = """
import numpy as np, pandas as pd, paddle
from sklearn.preprocessing import StandardScaler
def load(path):
    table = pd.read_csv(path){removed}
    scaler = StandardScaler().fit(table)
    return scaler.transform(table)
class Encoder(paddle.nn.Layer):
    def __init__(self, wide):
        super().__init__()
        bound = np.sqrt(1. / wide)
        weight = paddle.ParamAttr(initializer=paddle.nn.initializer.Uniform(-bound, bound))
        self.fc = paddle.nn.Linear(wide, 8, weight_attr=weight)
    def forward(self, x):
        return self.fc(x)
rows = load('absent.csv')
net = Encoder(rows.shape[-1])
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
rounds = 200 if rows.size <= 100000 else 600
step = 0
while True:
    if step >= rounds:
        break
    loss = net(paddle.rand([16, rows.shape[-1]])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    step += 1
"""
PARALLEL = """
import glob, numpy as np, paddle
from joblib import Parallel, delayed
from PIL import Image
from paddle.vision import transforms
class Pictures(paddle.io.Dataset):
    def __init__(self, folder):
        self.names = glob.glob(folder + '/*.png')
        self.pictures = Parallel(n_jobs=4)(delayed(Image.open)(name) for name in self.names)
        self.make = transforms.Compose([transforms.Resize((32, 32)), transforms.ToTensor()])
    def __len__(self):
        return len(self.names)
    def __getitem__(self, i):
        picture = self.pictures[i].convert('RGB')
        return self.make(picture), self.make(picture), self.make(picture)
net = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for batch in paddle.io.DataLoader(Pictures('absent'), batch_size=8):
    loss = net(paddle.concat(batch)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PROGRAMS = {
    "open": PAIRS,
    "padded": PADDED,
    "types": TYPES.format(added="", cast=""),
    "long": TYPES.format(added=".astype('float32')", cast=".astype('float32')"),
    "scaled": WHOLE.format(removed=""),
    "removed": WHOLE.format(removed=".astype(np.float)"),
    "parallel": PARALLEL,
}


@pytest.fixture(scope="module")
def traced(run_child):
    """With the program whose types do not go together also as it goes on with what is suggested."""
    answers = {"answers": {"loader": "float32[8,4] int64[8,1]"}}
    return run_child("trace", {**PROGRAMS, "answered": PROGRAMS["types"]}, {"answered": answers})


def asked(result):
    return {one["name"]: one["suggestion"] for one in result["questions"]}


def test_a_dictionary_is_suggested_with_the_names_of_its_things(traced):
    """What its name calls a length is a number of each sample; `input_ids` are none."""
    assert asked(traced["open"]) == {"loader": "premise: int64[6,128] premise_length: int64[6] label: int64[6,1]"}


def test_what_the_program_pads_is_as_long_as_it_says(traced):
    assert asked(traced["padded"])["loader"].startswith("premise: int64[6,40] premise_length: int64[6] label: int64[6")


def test_types_that_never_go_together_are_a_stop(traced):
    """Paddle multiplies no float32 with a float64, whatever the batch looks like."""
    assert (traced["types"]["status"], asked(traced["types"])) == ("would_stop", {})
    assert traced["types"]["stop"]["error"] == traced["answered"]["stop"]["error"]
    assert traced["types"]["stop"]["error"].startswith("ValueError: (InvalidArgument)")


def test_fitting_a_scaler_is_no_training(traced):
    """The loader of a table goes on without it; what bounds an initializer and when the loop ends sizes nothing."""
    assert asked(traced["scaled"]) == {"rows_shape_last": 256}


def test_a_name_that_numpy_has_no_more_stops_behind_data_that_is_not_here(traced):
    result = traced["removed"]
    assert (result["status"], result["questions"]) == ("would_stop", [])
    assert result["stop"]["error"].startswith("AttributeError: module 'numpy' has no attribute 'float'")


def test_what_joblib_does_side_by_side_is_followed(traced):
    assert traced["parallel"]["status"] == "ok"
    assert "data_followed" in traced["parallel"]["notes"]


NESTED = """import pickle, paddle, paddle.nn.functional as F
from paddle import nn
{loader}
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for batch in loader:
    loss = F.cross_entropy(net(batch["image"]["pixels"]), batch["label"])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LOADERS = {
    "kept": "with open('absent.pkl', 'rb') as file:\n    loader = pickle.load(file)",
    "loader": "class Rows(paddle.io.Dataset):\n"
    "    def __init__(self):\n        self.rows = pickle.load(open('absent.pkl', 'rb'))\n"
    "    def __len__(self):\n        return len(self.rows)\n"
    "    def __getitem__(self, i):\n        return self.rows[i]\n"
    "loader = paddle.io.DataLoader(Rows(), batch_size=32)",
}


@pytest.mark.parametrize("name", LOADERS)
def test_mappings_in_mappings_are_suggested_and_answered_by_names_with_dots(run_child, name):
    source, given = NESTED.format(loader=LOADERS[name]), "image.pixels: float32[32,3,64,64] label: int64[32]"
    rows = run_child("trace", {"asked": source, "answered": source}, {"answered": {"answers": {"loader": given}}})
    (asked,) = rows["asked"]["questions"]
    assert asked["suggestion"] == "image.pixels: float32[32,3,224,224] label: int64[32,1]"
    assert rows["answered"]["status"] == "ok"
    assert rows["answered"]["inputs"][:1] == ["float32[32, 3, 64, 64]"]
