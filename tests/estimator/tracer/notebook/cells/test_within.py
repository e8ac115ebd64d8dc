"""Readers, data sets and training functions of a notebook's own, whose data is not here: what one batch looks like is
asked once, with a suggestion that is right."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import gzip, json, os, random, tarfile
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""
TRAIN = """
def train(model, optimizer, read):
    model.train()
    for epoch in range(4):
        for number, data in enumerate({reader}):
            x, y = data
            loss = paddle.mean({loss}(model(paddle.to_tensor(x)), paddle.to_tensor(y)))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
"""
ROWS = """
    def reader():
        xs, ys = [], []
        for i in order:
            xs.append(np.reshape(images[i], [1, ROWS, 28]).astype('float32'))
            ys.append(np.reshape(labels[i], [1]).astype('int64'))
            if len(xs) == BATCHSIZE:
                yield np.array(xs), np.array(ys)
                xs, ys = [], []
        if xs:
            yield np.array(xs), np.array(ys)
    return reader
"""
ARCHIVE = """
def load(path):
    whole = json.load(gzip.open(path))
    train_set, test_set = whole
    images, labels = train_set[0], train_set[1]
    assert len(images) == len(labels), f'{len(images)}'
    order = list(range(len(images)))
    ROWS, IMG_ROWS, IMG_COLS, BATCHSIZE = 28, 28, 28, 20
    random.shuffle(order)
"""
ARCHIVE_HERE = ARCHIVE.replace(
    "whole = json.load(gzip.open(path))", "images, labels = np.zeros([60, 784]), np.zeros(60)"
)
ARCHIVE_HERE = "\n".join(
    line for line in ARCHIVE_HERE.splitlines() if not line.strip().startswith(("train_set", "images, labels = train"))
)
DIGITS = """
model = nn.Sequential(nn.Conv2D(1, 4, 5), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(4, 10))
train(model, paddle.optimizer.Adam(parameters=model.parameters()), load('absent.gz'))
"""
PICTURES = """
import cv2
def prepared(path):
    picture = cv2.resize(cv2.imread(path), (48, 40))
    return np.transpose(picture, (2, 0, 1)).astype('float32') / 255
def reader_of(folder, batch_size=6):
    names = os.listdir(folder)
    def reader():
        random.shuffle(names)
        xs, ys = [], []
        for name in names:
            xs.append(prepared(os.path.join(folder, name)))
            if name[0] == 'H' or name[0] == 'N':
                ys.append(0)
            else:
                ys.append(1)
            if len(xs) == batch_size:
                yield np.array(xs), np.array(ys).astype('float32').reshape(-1, 1)
                xs, ys = [], []
    return reader
"""
PICTURES_HERE = (
    PICTURES.replace("import cv2", "")
    .replace("os.listdir(folder)", "[f'{kind}{i}.jpg' for i in range(40) for kind in 'HP']")
    .replace("cv2.resize(cv2.imread(path), (48, 40))", "np.zeros((40, 48, 3), 'uint8')")
)
SICK = """
model = nn.Sequential(nn.Conv2D(3, 4, 3), nn.Flatten(), nn.Linear(4 * 38 * 46, 1))
train(model, paddle.optimizer.Momentum(1e-5, parameters=model.parameters()), reader_of('absent'))
"""
TABLE = """
def load_data():
    data = np.fromfile('absent.data', sep=' ', dtype='float32')
    width = len('abcdef')
    data = data.reshape([data.shape[0] // width, width])
    offset = int(data.shape[0] * 0.8)
    for i in range(width):
        data[:, i] = data[:, i] - data[:offset].mean(axis=0)[i]
    return data[:offset], data[offset:]
BATCH = 8
training_data, test_data = load_data()
model = nn.Linear(5, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(4):
    np.random.shuffle(training_data)
    parts = [training_data[k:k + BATCH] for k in range(0, len(training_data), BATCH)]
    for number, part in enumerate(parts):
        x, y = np.array(part[:, :-1]), np.array(part[:, -1:])
        loss = paddle.mean(F.square_error_cost(model(paddle.to_tensor(x)), paddle.to_tensor(y)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
WORDS = """
def load(kind):
    found = []
    with tarfile.open('absent.tgz') as archive:
        member = archive.next()
        while member != None:
            found.append((archive.extractfile(member).read().decode(), kind))
            member = archive.next()
    return found
def build_dict(corpus):
    count = {}
    for sentence, _ in corpus:
        for word in sentence:
            count[word] = count.get(word, 0) + 1
    return {word: number for number, (word, _) in enumerate(sorted(count.items()))}
corpus = load('pos')
word_ids = build_dict(corpus)
vocab_size = len(word_ids)
max_seq_len, batch_size = 12, 16
def batches(corpus):
    xs, ys = [], []
    for sentence, label in corpus:
        xs.append([word_ids[word] for word in sentence][:max_seq_len])
        ys.append([label])
        if len(xs) == batch_size:
            yield np.array(xs).astype('int64'), np.array(ys).astype('int64')
            xs, ys = [], []
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(vocab_size, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.out(self.words(x).mean(axis=1))
model = Net()
train(model, paddle.optimizer.Adam(parameters=model.parameters()), None)
"""
SCAN = """
class Scans(paddle.io.Dataset):
    def __init__(self, folder):
        super().__init__()
        self.files = []
        for name in os.listdir(folder):
            self.files.append(name)
    def __getitem__(self, i):
        return np.load(self.files[i]), np.ones(1, 'float32')
    def __len__(self):
        return len(self.files)
loader = paddle.io.DataLoader(Scans('absent'), batch_size=2)
model = nn.Sequential(nn.Conv3D(1, 2, 3), nn.Flatten(), nn.Linear(2 * 6 * 6 * 2, 1))
paddle.summary(model, (1, 1, 8, 8, 4))
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for x, y in loader:
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
BRANCHES = """
import absent_eyes
image_size = [24, 24]
scan_img_size = [16, 16]
class Eyes(paddle.io.Dataset):
    def __init__(self, root):
        super().__init__()
        self.files = [[name, absent_eyes.label(name)] for name in os.listdir(root)]
    def __getitem__(self, i):
        name, label = self.files[i]
        return absent_eyes.photo(name), absent_eyes.scan(name), label
    def __len__(self):
        return len(self.files)
class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.photo = nn.Sequential(nn.Conv2D(3, 4, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten())
        self.scan = nn.Sequential(nn.Conv2D(5, 4, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten())
        self.out = nn.Linear(8, 3)
    def forward(self, photo, scan):
        return self.out(paddle.concat([self.photo(photo), self.scan(scan)], 1))
loader = paddle.io.DataLoader(Eyes('absent'), batch_size=2)
model = Model()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for data in loader:
    photo, scan, label = data[0], data[1], data[2]
    loss = F.cross_entropy(model(photo, scan), label.astype('int64'))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
REMOVED = """
import absent_log
rows = np.load('absent.npy')
whole = np.int(3)
model = nn.Linear(3, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(3):
    model(paddle.to_tensor(rows)).mean().backward()
    optimizer.step()
"""
EPISODES = """
rows = READ
def episodes(rows):
    kept = []
    for _ in range(3):
        shown, told = [], []
        for _ in range(4):
            pictures, labels = [], []
            drawn = np.random.choice(rows.shape[0], 5, replace=False)
            for number, kind in enumerate(drawn):
                few = np.random.choice(20, 2, replace=False)
                pictures.append(rows[kind][few])
                labels.append([number for _ in range(2)])
            order = np.random.permutation(10)
            shown.append(np.array(pictures).reshape(10, 1, 12, 12)[order])
            told.append(np.array(labels).reshape(10)[order])
        shown = np.array(shown).astype(np.float32).reshape(4, 10, 1, 12, 12)
        told = np.array(told).astype(np.int64).reshape(4, 10)
        kept.append([shown, told])
    return kept
kept = episodes(rows)
model = nn.Sequential(nn.Conv2D(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(600, 5))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(8):
    x, y = map(paddle.to_tensor, kept[step % len(kept)])
    loss = sum(F.cross_entropy(model(x[i]), y[i]) for i in range(4)) / 4
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
"""Tasks of few pictures of few classes, as meta-learning has them: their shapes stand behind what draws them."""
OLD = TABLE.replace("loss.backward()", "loss.backward(); print(loss.numpy()[0])")


def training(reader, loss):
    return TRAIN.format(reader=reader, loss=loss)


SOURCES = {
    "archive": HEAD + ARCHIVE + ROWS + training("read()", "F.cross_entropy") + DIGITS,
    "archive-here": HEAD + ARCHIVE_HERE + ROWS + training("read()", "F.cross_entropy") + DIGITS,
    "pictures": HEAD + PICTURES + training("read()", "F.binary_cross_entropy_with_logits") + SICK,
    "pictures-here": HEAD + PICTURES_HERE + training("read()", "F.binary_cross_entropy_with_logits") + SICK,
    "table": HEAD + TABLE,
    "words": HEAD + training("batches(corpus)", "F.cross_entropy") + WORDS,
    "scan": HEAD + SCAN,
    "branches": HEAD + BRANCHES,
    "removed": HEAD + REMOVED,
    "episodes": HEAD + EPISODES.replace("READ", "np.load('absent.npy')"),
    "episodes-here": HEAD + EPISODES.replace("READ", "np.zeros((9, 20, 1, 12, 12))"),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("table", {"parts": "float32[8,6]"}),
        ("words", {"vocab_size": 10000}),
        ("branches", {"loader": "float32[2,3,24,24] float32[2,5,16,16] int64[2,1]"}),
        ("scan", {"loader": "float32[2,1,8,8,4] float32[2,1]"}),
    ],
)
def test_one_batch_is_asked_for_with_what_it_is(traced, name, answers):
    row = traced[name]
    assert row["status"] == "needs_input"
    assert {one["name"]: one["suggestion"] for one in row["questions"]} == answers


@pytest.mark.parametrize("name", ["archive", "pictures"])
def test_a_reader_whose_code_says_how_large_a_batch_is_needs_no_answer(traced, name):
    row = traced[name]
    assert (row["status"], row["peak"]) == ("ok", traced[f"{name}-here"]["peak"])


def test_pictures_that_lie_in_a_folder_need_no_answer(traced):
    """What a reader makes of them stands in its code."""
    row = traced["pictures"]
    assert (row["status"], row["questions"], row["inputs"][0]) == ("ok", [], "float32[6, 3, 40, 48]")


def test_what_would_stop_behind_the_batch_is_told_with_it(run_child):
    """Paddle 3 gives a number where Paddle 2 gave an array of one: the notebook stops, whatever its data."""
    row = run_child("trace", {"old": HEAD + OLD}, {"old": {"answers": {"parts": "float32[8,6]"}}})["old"]
    assert row["status"] == "would_stop" and "too many indices" in row["stop"]["error"]


def test_a_name_that_a_library_has_no_more_stops_the_notebook_whatever_is_missing(traced):
    row = traced["removed"]
    assert row["status"] == "would_stop" and "numpy' has no attribute 'int'" in row["stop"]["error"]


def test_what_loops_fill_has_the_shape_that_the_program_gives_it(traced):
    row = traced["episodes"]
    assert (row["status"], row["peak"]) == ("ok", traced["episodes-here"]["peak"])
