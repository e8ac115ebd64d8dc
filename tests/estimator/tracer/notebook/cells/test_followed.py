"""Batches of data that is not here, where the notebook's own code says what they look like: nobody is asked."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import os, re, random, collections
import numpy as np, paddle, paddle.nn.functional as F
import paddle.vision.transforms as T
from paddle import nn
from PIL import Image
from paddle.io import Dataset, DataLoader
"""
FIT = """
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(16, 5))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LISTED = """
files = []
for name in sorted(os.listdir('absent')):
    files.append((os.path.join('absent', name), 1))
class Pictures(Dataset):
    def __init__(self, items):
        self.items = items
        self.transform = T.Compose([T.RandomHorizontalFlip(), T.Resize((40, 48)), T.ToTensor()])
    def __getitem__(self, i):
        path, label = self.items[i]
        picture = Image.open(path)
        if picture.mode != 'RGB':
            picture = picture.convert('RGB')
        return self.transform(picture), np.array([label], dtype='int64')
    def __len__(self):
        return len(self.items)
loader = DataLoader(Pictures(files), batch_size=8, shuffle=True)
"""
FOLDER = """
pictures = paddle.vision.datasets.DatasetFolder('absent', transform=T.Compose([T.Resize((32, 24)), T.ToTensor()]))
loader = DataLoader(pictures, batch_size=6)
"""
CROPPED = """
class Crops(Dataset):
    def __init__(self, size):
        self.size = size
        self.pictures = [one.astype('float32') for one in read()]
    def __getitem__(self, i):
        picture = self.pictures[i]
        high, wide = self.size
        return picture[:, :high, :wide], np.zeros(1, 'int64')
    def __len__(self):
        return len(self.pictures)
def read():
    with open('absent.txt') as file:
        return [np.load(name) for name in file.read().split()]
loader = DataLoader(Crops((30, 20)), batch_size=4)
"""
SETTINGS = """
settings = {'classes': -1}
def look():
    number = 0
    for name in os.listdir('absent'):
        number += 1
    settings['classes'] = number
look()
class Pictures(Dataset):
    def __getitem__(self, i):
        return np.reshape(self.rows[i], [3, 9, 9]).astype('float32'), np.array([0], dtype='int64')
    def __len__(self):
        return len(self.rows)
    def __init__(self):
        self.rows = np.load('absent.npy')
loader = DataLoader(Pictures(), batch_size=4)
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(16, settings['classes']))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
PAIRS = """
class Words:
    def __init__(self, lines):
        counted = collections.Counter(word for line in lines for word in line)
        self.number = {word: i for i, word in enumerate(['<pad>', *counted])}
    def __len__(self):
        return len(self.number)
    def __getitem__(self, words):
        return [self[word] for word in words] if isinstance(words, list) else self.number.get(words, 0)
class Pairs(Dataset):
    def __init__(self, rows, steps):
        first, second = [row.split() for row in rows[0]], [row.split() for row in rows[1]]
        self.words = Words(first + second)
        self.first, self.second = self.filled(first, steps), self.filled(second, steps)
        self.labels = paddle.to_tensor(rows[2])
    def filled(self, lines, steps):
        return paddle.to_tensor([(self.words[line] + [0] * steps)[:steps] for line in lines])
    def __getitem__(self, i):
        return (self.first[i], self.second[i]), self.labels[i]
    def __len__(self):
        return len(self.first)
def read():
    with open('absent.tsv') as file:
        rows = [line.split('\\t') for line in file.readlines()]
    return [row[0] for row in rows], [row[1] for row in rows], [int(row[2]) for row in rows]
data = Pairs(read(), 11)
loader = DataLoader(data, batch_size=4)
words = nn.Embedding(len(data.words), 8)
out = nn.Linear(8, 3)
optimizer = paddle.optimizer.Adam(parameters=[*words.parameters(), *out.parameters()])
for (a, b), y in loader:
    F.cross_entropy(out(words(a).mean(1) + words(b).mean(1)), y).backward()
    optimizer.step()
"""
MADE_BEFORE = """
def read():
    with open('absent.txt') as file:
        return [line.split(',') for line in file]
def batches(rows, size):
    pictures, labels = [], []
    for picture, label in rows:
        pictures.append(np.reshape(picture, [3, 10, 10]).astype('float32'))
        labels.append([label])
        if len(pictures) == size:
            yield np.array(pictures), np.array(labels).astype('int64')
            pictures, labels = [], []
reader = batches(read(), 12)
net = nn.Sequential(nn.Flatten(), nn.Linear(300, 5))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for number, (x, y) in enumerate(reader):
    F.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y)).backward()
    optimizer.step()
"""
HERE = """
class Here(Dataset):
    def __getitem__(self, i):
        return np.zeros({x}, 'float32'), np.zeros(1, 'int64')
    def __len__(self):
        return 64
loader = DataLoader(Here(), batch_size={size})
"""
SHAPES = {"listed": (8, (3, 40, 48)), "cropped": (4, (3, 30, 20))}
SOURCES = {
    "listed": HEAD + LISTED + FIT,
    "cropped": HEAD + CROPPED + FIT,
    "folder": HEAD + FOLDER + FIT,
    "settings": HEAD + SETTINGS,
    "pairs": HEAD + PAIRS,
    "made-before": HEAD + MADE_BEFORE,
    **{f"{name}-here": HEAD + HERE.format(x=x, size=size) + FIT for name, (size, x) in SHAPES.items()},
}


@pytest.fixture(scope="module")
def traced(run_child):
    answers = {"settings": {"number": 7}, "pairs": {"len_data_words": 50}}
    return run_child("trace", SOURCES, {name: {"answers": given} for name, given in answers.items()})


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("listed", ["float32[8, 3, 40, 48]", "int64[8, 1]"]),
        ("cropped", ["float32[4, 3, 30, 20]", "int64[4, 1]"]),
        ("folder", ["float32[6, 3, 32, 24]", "int64[6]"]),
        ("settings", ["float32[4, 3, 9, 9]", "int64[4, 1]"]),
        ("pairs", ["int64[4, 11]", "int64[4, 11]", "int64[4]"]),
        ("made-before", ["float32[12, 3, 10, 10]", "int64[12, 1]"]),
    ],
)
def test_a_batch_follows_from_the_code(traced, name, inputs):
    row = traced[name]
    assert (row["status"], row["inputs"]) == ("ok", inputs)
    assert "data_followed" in row["notes"]


@pytest.mark.parametrize("name", SHAPES)
def test_it_has_the_figure_of_data_that_is_here(traced, name):
    assert traced[name]["peak"] == traced[f"{name}-here"]["peak"]


def test_a_number_that_a_model_is_made_of_is_asked_for_by_the_name_that_it_has(run_child):
    rows = run_child("trace", {name: SOURCES[name] for name in ("settings", "pairs")})
    asked = {name: [one["name"] for one in row["questions"]] for name, row in rows.items()}
    assert asked == {"settings": ["number"], "pairs": ["len_data_words"]}


def test_pictures_of_which_the_code_says_one_side_are_asked_for(run_child):
    """`Resize(20)` gives the shorter side: the other one is the pictures' own."""
    source = HEAD + FOLDER.replace("(32, 24)", "20") + FIT
    row = run_child("trace", {"one side": source})["one side"]
    assert (row["status"], [one["suggestion"] for one in row["questions"]]) == (
        "needs_input",
        ["float32[6,3,20,20] int64[6]"],
    )
