"""Trainings whose batches come of data that functions, data sets and data modules of the program read by themselves."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

LETTERS = """
import os, paddle
from paddle import nn
text = open(os.path.join(FOLDER, 'absent.txt')).read()
text = text.lower()
known = {c: i for i, c in enumerate(sorted(set(text)))}
data = paddle.to_tensor([known[c] for c in text], dtype='int64')
count = int(0.8 * len(data))
train_data, other_data = data[:count], data[count:]
train_data = train_data[2:]
long, size = 24, 8
def get_batch(kind):
    source = train_data if kind == 'train' else other_data
    starts = paddle.randint(0, len(source) - long, (size,)).tolist()
    x = paddle.stack([source[i:i + long] for i in starts])
    y = paddle.stack([source[i + 1:i + 1 + long] for i in starts])
    return x, y
net = nn.Sequential(nn.Embedding(60, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 60))
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
for step in range(20):
    inputs, wanted = get_batch('train')
    loss = nn.functional.cross_entropy(net(inputs).reshape([-1, 60]), wanted.reshape([-1]))
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
"""
PRESENT = """
import pathlib, tempfile
FOLDER = tempfile.mkdtemp()
pathlib.Path(FOLDER, 'absent.txt').write_text('abcdefghij klmnopqrstuvwxyz' * 40)
"""
MODULE = """
import inspect, paddle
from paddle import nn
class Settings:
    def keep(self):
        names = inspect.getargvalues(inspect.currentframe().f_back)[3]
        for name in names:
            if name != 'self' and not name.startswith('_'):
                setattr(self, name, names[name])
class Data(Settings):
    def __init__(self, root='absent'):
        self.keep()
    def train_loader(self):
        return self.get_loader(train=True)
    def of_tensors(self, tensors, train, indices=slice(0, None)):
        tensors = tuple(a[indices] for a in tensors)
        return paddle.io.DataLoader(paddle.io.TensorDataset(tensors), batch_size=self.batch_size, shuffle=train)
class Novel(Data):
    def __init__(self, batch_size, steps, most=64):
        super().__init__()
        self.keep()
        letters = list(self.read())
        self.known = {c: i for i, c in enumerate(sorted(set(letters)))}
        ids = [self.known[c] for c in letters]
        array = paddle.to_tensor([ids[i:i + steps + 1] for i in range(len(ids) - steps)])
        self.X, self.Y = array[:, :-1], array[:, 1:]
    def read(self):
        with open(self.root + '/novel.txt') as file:
            return file.read()
    def get_loader(self, train):
        part = slice(0, self.most) if train else slice(self.most, None)
        return self.of_tensors([self.X, self.Y], train, part)
class Trainer:
    def fit(self, net, data):
        self.net, self.loader = net, data.train_loader()
        optimizer = paddle.optimizer.SGD(parameters=net.parameters())
        for batch in self.loader:
            loss = self.step(batch)
            optimizer.clear_grad()
            loss.backward()
            optimizer.step()
    def step(self, batch):
        return nn.functional.cross_entropy(self.net(batch[0]).reshape([-1, 60]), batch[1].reshape([-1]))
Trainer().fit(nn.Sequential(nn.Embedding(60, 8), nn.Linear(8, 60)), Novel(batch_size=16, steps=12))
"""
TABLE = """
import pandas as pd, paddle
from paddle import nn
table = pd.read_csv('absent.csv')
features = table[['acid', 'sugar', 'salt']].values.astype('float32')
quality = table['quality'].values.astype('int64')
mean, std = features.mean(0), features.std(0)
class Wine(paddle.io.Dataset):
    def __getitem__(self, i):
        return (features[i] - mean) / std, quality[i]
    def __len__(self):
        return len(features)
net = nn.Linear(3, 10)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Wine(), batch_size=20):
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LOSS = """
def get_loss():
    x, y = get_batch('other')
    return nn.functional.cross_entropy(net(x).reshape([-1, 60]), y.reshape([-1]))
net = nn"""
TRAINED = LETTERS.replace("\nnet = nn", LOSS).replace(
    "    optimizer.clear", "    extra = get_loss()\n    optimizer.clear"
)
SOURCES = {
    "letters": "FOLDER = 'absent'\n" + LETTERS,
    "present": PRESENT + LETTERS,
    "module": MODULE,
    "table": TABLE,
    "trained": "FOLDER = 'absent'\n" + TRAINED,
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", {"present": SOURCES["present"]})


def test_a_function_that_reads_data_of_a_cell_says_what_its_batches_look_like(traced):
    """`x, y = get_batch('train')` over letters of a text that is not here."""
    assert (traced["letters"]["status"], traced["letters"]["questions"]) == ("ok", [])
    assert traced["letters"]["inputs"] == ["int64[8, 24]", "int64[8, 24]"]


def test_the_figure_of_such_batches_is_that_of_real_steps_but_for_the_text(traced, real):
    text = 8 * 27 * 40  # noted as not counted
    assert "tensors_uncounted" in traced["letters"]["notes"]
    assert real["present"]["failure"] is None
    assert traced["letters"]["peak"] == traced["present"]["peak"] - text
    assert traced["present"]["peak"] == max(real["present"]["peaks"][1:])


def test_a_data_module_is_made_again_by_its_constructor(traced):
    """Its slices of arrays, and slices of these, are made again with it."""
    assert (traced["module"]["status"], traced["module"]["questions"]) == ("ok", [])
    assert traced["module"]["inputs"] == ["int64[16, 12]", "int64[16, 12]"]


def test_a_data_set_of_arrays_of_a_cell_says_what_its_samples_look_like(traced):
    """A column of a table is one number a row."""
    assert (traced["table"]["status"], traced["table"]["questions"]) == ("ok", [])
    assert traced["table"]["inputs"] == ["float32[20, 3]", "int64[20]"]


def test_what_a_model_makes_of_such_data_is_no_batch(traced):
    assert "inputs=" in str(traced["trained"]["params"])
    assert "extra=" not in str(traced["trained"]["params"])
