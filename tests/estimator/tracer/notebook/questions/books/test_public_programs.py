"""What students' and researchers' programs ask without their data: each of these was seen in a public repository."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SPECIFIED = """
import numpy as np, paddle
from paddle import nn
from paddle.static import InputSpec
class Letters(paddle.io.Dataset):
    def __init__(self, path):
        self.words = eval(open(path).read())
        self.names = list(self.words)
    def __getitem__(self, i):
        picture = np.fromfile(self.names[i], 'float32').reshape((3, 30, 70))
        return picture, np.array(list(self.words[self.names[i]]), dtype='int32')
    def __len__(self):
        return len(self.names)
class Loss(nn.Layer):
    def forward(self, found, label):
        steps, letters = (paddle.full([16], count, 'int64') for count in (8, 4))
        return nn.functional.ctc_loss(found.transpose([1, 0, 2]), label, steps, letters, blank=10)
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.Flatten(2), nn.Linear(28 * 68, 11))
taken, said = InputSpec([-1, 3, 30, 70], 'float32', 'image'), InputSpec([-1, 4], 'int32', 'label')
model = paddle.Model(net, inputs=taken, labels=said)
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), Loss())
model.fit(Letters('absent.txt'), batch_size=16, epochs=2)
"""
OPEN = """
import numpy as np, paddle
from paddle import nn
from paddle.static import InputSpec
field = np.array(np.load('absent.npz')['field'])
net = nn.Sequential(nn.Conv2D(2, 8, 3, padding='SAME'), nn.ReLU(), nn.Conv2D(8, 1, 3, padding='SAME'))
paddle.summary(net, (1, 2, 18, 36))
size = InputSpec((len(field[0]), len(field)), 'float32', 'x')
model = paddle.Model(net, size, size)
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), nn.MSELoss())
class Fields(paddle.io.Dataset):
    def __init__(self, x):
        self.x = x
    def __getitem__(self, i):
        return self.x[i], self.x[i]
    def __len__(self):
        return len(self.x)
model.fit(Fields(field), batch_size=4, epochs=2)
"""
LEFT_OUT = """
import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument('-c', '--config_file', type=str)
arguments = parser.parse_args([])
lines = open(arguments.config_file).readlines()
net = paddle.nn.Linear(4, len(lines))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    net(paddle.rand([2, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NAMED_BY_AN_ARGUMENT = """
import argparse, paddle
parser = argparse.ArgumentParser()
parser.add_argument('--dataset', required=True)
given = parser.parse_args([])
items = [int(line.split()[1]) for line in open('rows/%s.txt' % given.dataset)]
itemnum = max(items)
table = paddle.nn.Embedding(itemnum + 1, 8)
optimizer = paddle.optimizer.Adam(parameters=table.parameters())
for _ in range(3):
    table(paddle.arange(6)).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SHORTER = """
import pickle
import paddle
from paddle import nn
max_len, batch_size = 64, 4
ids, labels = pickle.load(open('rows.pkl', 'rb'))
def encode(tokenizer, texts):
    return tokenizer(texts, max_seq_len=max_len - 2, pad_to_max_seq_len=True)
class Rows(paddle.io.Dataset):
    def __getitem__(self, i):
        return ids[i], labels[i]
    def __len__(self):
        return len(ids)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.out = nn.Embedding(500, 8), nn.Embedding(62, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.out((self.words(x) + self.places(paddle.arange(x.shape[1]))).mean(1))
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Rows(), batch_size=batch_size):
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WORD = """
import paddle
configuration = {'lr': 0.1}
loader = paddle.io.DataLoader(paddle.vision.datasets.MNIST(transform=paddle.vision.transforms.ToTensor()), batch_size=8)
net = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(784, 10))
optimizer = paddle.optimizer.SGD(configuration['lr_peak'], parameters=net.parameters())
for x, y in loader:
    paddle.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CUT = """
import numpy as np, paddle
net = paddle.nn.Linear(1, 6)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
def losses_of(points, wanted):
    return [net(paddle.to_tensor(one)).square().mean() for one in np.split(points, wanted)]
points = np.loadtxt('absent.dat')
for step in range(5):
    losses = losses_of(points, int(points.max()))
    total = paddle.sum(losses)
    optimizer.clear_grad()
    total.backward()
    optimizer.step()
"""
BRANCHES = """
import pickle, paddle
from paddle import nn
class Sounds(paddle.io.Dataset):
    def __init__(self, held):
        self.heard, self.read, self.labels = held['heard'], held['read'], held['labels']
    def __getitem__(self, i):
        return [self.heard[i, :], self.read[i, :, :], self.labels[i]]
    def __len__(self):
        return len(self.labels)
class Both(nn.Layer):
    def __init__(self):
        super().__init__()
        self.of_sound = nn.Sequential(nn.BatchNorm1D(74), nn.Linear(74, 8))
        self.of_text, self.last = nn.LSTM(30, 8), nn.Linear(16, 4)
    def forward(self, heard, read):
        return self.last(paddle.concat([self.of_sound(heard), self.of_text(read)[1][0][0]], 1))
class Evaluator(nn.Layer):  # never begun, and so without parameters
    def __init__(self):
        self.rows = 3
evaluator = Evaluator()
loader = paddle.io.DataLoader(Sounds(pickle.load(open('absent.pkl', 'rb'))), batch_size=8)
net = Both()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for batch in loader:
    found = net(batch[0].astype('float32'), batch[1].astype('float32'))
    nn.functional.cross_entropy(found, batch[-1].astype('int64')).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
COUNTED = """
import paddle
from paddle import nn
class Faces(paddle.io.Dataset):
    def __init__(self, path):
        self.rows = [line.split() for line in open(path)]
        self.people = len({int(row[1]) for row in self.rows})
    def __getitem__(self, i):
        return self.rows[i][0], self.rows[i][1]
    def __len__(self):
        return len(self.rows)
def train():
    faces = Faces('absent.txt')
    loader = paddle.io.DataLoader(faces, batch_size=8)
    net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, faces.people))
    paddle.summary(net, (1, 3, 24, 24))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for x, y in loader:
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()
train()
"""
PICTURES = """
import numpy as np, paddle
from paddle import nn
sizes = dict({sizes})
class Pictures(paddle.io.Dataset):
    def __init__(self, path):
        self.rows = np.load(path)
    def __getitem__(self, i):
        return self.rows[i][0], self.rows[i][1]
    def __len__(self):
        return len(self.rows)
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
loader = paddle.io.DataLoader(Pictures('absent.npy'), batch_size=8)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ONE_SIZE, TWO_SIZES = (PICTURES.format(sizes=sizes) for sizes in ("image_size=48", "image_size=48, crop_size=32"))
PROGRAMS = {
    "specified": SPECIFIED,
    "open": OPEN,
    "left out": LEFT_OUT,
    "shorter": SHORTER,
    "word": WORD,
    "cut": CUT,
    "branches": BRANCHES,
    "counted": COUNTED,
    "one size": ONE_SIZE,
    "two sizes": TWO_SIZES,
}


@pytest.fixture(scope="module")
def rows(run_child):
    return run_child("trace", PROGRAMS)


def asked(row: dict) -> dict[str, object]:
    return {one["name"]: one["suggestion"] for one in row["questions"]}


def test_what_a_model_is_specified_with_wins_over_an_assumed_length(rows):
    assert list(asked(rows["specified"]).values()) == ["float32[16,3,30,70] int32[16,4]"]


def test_a_specification_leaves_open_what_hangs_on_data(rows):
    """The batch is asked for, not the specification; its label has the channels that the last convolution gives."""
    assert list(asked(rows["open"]).values()) == ["float32[4,2,18,36] float32[4,1,18,36]"]


def test_an_option_that_is_left_out_is_asked_for_where_none_will_not_do(rows):
    (question,) = rows["left out"]["questions"]
    assert (question["why"], question["name"]) == ("argument_missing", "config_file")


def test_a_size_of_public_data_that_an_answer_names_is_the_published_one(run_child):
    """A recommender asks for its data by `--dataset`; 10,000 films were assumed."""
    program, answers = {"named": NAMED_BY_AN_ARGUMENT}, {"named": {"answers": {"dataset": "ml-1m"}}}
    (question,) = run_child("trace", program, answers)["named"]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == (3952, "published")


def test_a_length_that_is_worked_out_in_a_call_is_tried(rows):
    """A tokenizer is told `max_seq_len=max_len - 2`, and the model takes no more; one token a text was assumed."""
    (question,) = rows["shorter"]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == ("int64[4,62] int64[4]", "cells")


def test_a_word_that_a_configuration_lacks_ends_a_training_on_a_published_data_set(rows):
    assert (rows["word"]["status"], rows["word"]["stop"]["error"]) == ("would_stop", "KeyError: 'lr_peak'")


def test_no_tensor_is_suggested_that_cuts_the_loss_from_its_model(rows):
    """None that could be described would leave the model in the training: all that is asked is where the file is."""
    path, found = rows["cut"]["questions"]
    assert (path["why"], path["params"]) == ("path_missing", {"path": "absent.dat"})
    assert (found["name"], found["why"], found["params"]) == ("", "tensor_between", {"tensor": "losses"})


def test_a_branch_that_takes_rows_says_how_wide_they_are(rows):
    """Whatever layers there are beside the model: one that was never begun has no parameters."""
    (question,) = rows["branches"]["questions"]
    assert question["suggestion"] == "float32[8,74] float32[8,128,30] int64[8,1]"
    assert question["params"]["source"] == "assumed"


def test_which_of_two_sizes_is_meant_is_an_assumption(rows):
    """Of one size the cells say what a picture is."""
    found = {name: rows[name]["questions"][0] for name in ("one size", "two sizes")}
    assert {name: one["params"]["source"] for name, one in found.items()} == {
        "one size": "cells",
        "two sizes": "assumed",
    }
    assert {one["suggestion"] for one in found.values()} == {"float32[8,3,48,48] int64[8]"}


def test_a_number_that_a_data_set_would_have_counted_is_asked_for_by_its_name(rows):
    """No training was found: the number had no name, and so nobody was asked for it."""
    assert asked(rows["counted"]) == {"people": 10, "loader": "float32[8,3,24,24] int64[8]"}


OPENNESS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.notebook.questions.trials import openness
for name, row in json.load(sys.stdin).items():
    print(json.dumps([name, openness({"status": "needs_input", "questions": row})]))
"""


def test_a_package_that_another_way_does_without_is_not_asked_for(run_code):
    """A logger's package was needed where the other way had suggestions for all that it asks."""
    package = {"name": "", "why": "module_missing", "suggestion": None}
    number, batch = ({"name": name, "why": "number_unseen", "suggestion": 3} for name in ("number", "batch"))
    unknown = {**number, "suggestion": None}
    found = run_code(OPENNESS, {"package": [package], "suggested": [number, batch], "unknown": [number, unknown]})
    assert sorted(found, key=lambda name: found[name]) == ["suggested", "package", "unknown"]


LOADED = """
import numpy as np, pandas as pd, paddle
from paddle import nn
table = pd.read_csv('ml-100k/u.data')
num_items, num_users = table.item_id.unique().shape[0], table.user_id.unique().shape[0]
seen = np.zeros((num_items, num_users), 'float32')
for line in table.itertuples():
    seen[line[1] - 1, line[2] - 1] = line[3]
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(seen)]), batch_size=16)
net = nn.Linear(num_users, num_users)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, in loader:
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
DEAR = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.notebook.cells import surmises
from tracer.notebook.requests import trace_notebook
surmises.DEAR = 0  # however fast the machine: whatever told nothing is not tried again
row = trace_notebook({"cells": [{"index": 0, "source": json.load(sys.stdin)}], "answers": {}, "target": "cpu"})
print(json.dumps(["asked", [one["name"] for one in row["questions"]]]))
"""


def test_what_told_nothing_is_looked_at_anew_once_more_is_answered(run_code):
    """With both numbers the loader's array is known, and nobody is asked for its batch."""
    assert sorted(run_code(DEAR, LOADED)["asked"]) == ["num_items", "num_users"]
