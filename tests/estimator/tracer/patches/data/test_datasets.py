"""Paddle's own data sets where their files are not there: stand-ins of their shapes and classes."""

from __future__ import annotations

import paddle
import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import random
from collections import defaultdict
import paddle
data, of_class = paddle.vision.datasets.{name}(mode="test"), defaultdict(list)
for index in range(len(data)):
    of_class[int(data[index][1].item())].append(index)
model = paddle.nn.Linear({pixels}, 8)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(3):
    pairs = [random.sample(of_class[label], 2) for label in range({classes})]
    images = paddle.to_tensor([[data[one][0] for one in pair] for pair in pairs], dtype="float32")
    model(images.reshape([2 * {classes}, {pixels}])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CLASSES = {"Cifar10": (3072, 10), "Cifar100": (3072, 100), "FashionMNIST": (784, 10)}
SOURCES = {name: PAIRS.format(name=name, pixels=pixels, classes=n) for name, (pixels, n) in CLASSES.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_every_class_is_there_under_the_data_sets_own_name(run_child, name):
    row = run_child("trace", {name: SOURCES[name]})[name]
    assert row["status"] == "ok", row["questions"]
    assert (row["notes"], row["params"]) == (["dataset_stand_in"], [{"name": name}])
    assert row["batch_size"] == 2 * CLASSES[name][1]


LOADED = """
import paddle
from paddle import nn
T = paddle.vision.transforms
data = {data}
assert len(data) == {count}
model = {model}
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(3):
    for batch in paddle.io.DataLoader(data, batch_size=4):
        model(batch[0]).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
PICTURES = "paddle.vision.datasets.Flowers(transform=T.Compose([T.Resize((64, 64)), T.ToTensor()]))"
SHAPES = {
    "Flowers": (PICTURES, 6149, "nn.Conv2D(3, 4, 3)", ["float32[4, 3, 64, 64]", "int64[4, 1]"]),
    "MNIST": (
        "paddle.vision.datasets.MNIST(transform=T.ToTensor())",
        60000,
        "nn.Conv2D(1, 4, 3)",
        ["float32[4, 1, 28, 28]", "int64[4, 1]"],
    ),
    "VOC2012": (
        "paddle.vision.datasets.VOC2012(backend='cv2', transform=T.Transpose())",
        2913,
        "nn.Conv2D(3, 4, 3)",
        ["float32[4, 3, 375, 500]", "float32[4, 375, 500]"],
    ),
    "UCIHousing": ("paddle.text.UCIHousing()", 404, "nn.Linear(13, 1)", ["float32[4, 13]", "float32[4, 1]"]),
    "Imikolov": (
        "paddle.text.Imikolov(data_type='NGRAM', window_size=5)",
        803385,
        "nn.Embedding(len(data.word_idx), 4)",
        ["int64[4]"] * 5,
    ),
    "WMT16": (
        "paddle.text.WMT16(src_dict_size=300, trg_dict_size=200)",
        29000,
        "nn.Embedding(300, 4)",
        ["int64[4, 14]"] * 3,
    ),
    "Imdb": ("paddle.text.Imdb()", 25000, "nn.Embedding(len(data.word_idx), 4)", ["int64[4, 233]", "int64[4, 1]"]),
    "Movielens": ("paddle.text.Movielens()", 900188, "nn.Embedding(6041, 4)", [*["int64[4, 1]"] * 6, "int64[4, 4]"]),
    "WMT14": ("paddle.text.WMT14(dict_size=300)", 191155, "nn.Embedding(300, 4)", ["int64[4, 28]"] * 3),
    "Conll05st": ("paddle.text.Conll05st()", 5267, "nn.Embedding(len(data.word_dict), 4)", ["int64[4, 24]"] * 9),
    "ESC50": ("paddle.audio.datasets.ESC50()", 1600, "nn.Linear(220500, 2)", ["float32[4, 220500]", "int64[4]"]),
    "TESS": ("paddle.audio.datasets.TESS()", 2240, "nn.Linear(50000, 2)", ["float32[4, 50000]", "int64[4]"]),
}


@pytest.fixture(scope="module")
def loaded(run_child):
    rows = {name: {"data": data, "count": count, "model": model} for name, (data, count, model, _) in SHAPES.items()}
    return run_child("trace", {name: LOADED.format(**row) for name, row in rows.items()})


@pytest.mark.parametrize("name", SHAPES)
def test_a_data_set_stands_in_by_its_published_shapes(loaded, name):
    assert loaded[name]["status"] == "ok", loaded[name]["questions"]
    assert loaded[name]["params"][0] == {"name": name}
    assert loaded[name]["inputs"][: len(SHAPES[name][3])] == SHAPES[name][3]


DICTIONARIES = {
    "WMT14": ("paddle.text.WMT14(dict_size=300)", "source, target = data.get_dict()", "nn.Embedding(300, 4)"),
    "WMT16": (
        "paddle.text.WMT16(src_dict_size=300, trg_dict_size=200)",
        "source, target = data.get_dict('en'), data.get_dict('de')\n"
        "assert data.get_dict('en', reverse=True)[1] == '<e>'\nassert len(target) == 200",
        "nn.Embedding(len(source), 4)",
    ),
}


@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_of_a_translation_have_their_marks_and_size(run_child, name):
    data, dictionaries, model = DICTIONARIES[name]
    marks = "assert [source[one] for one in ('<s>', '<e>', '<unk>')] == [0, 1, 2]"
    checks = f"{dictionaries}\nassert len(source) == 300\n{marks}"
    source = LOADED.format(data=f"{data}\n{checks}", count=SHAPES[name][1], model=model)
    assert run_child("trace", {name: source})[name]["status"] == "ok"


OF_A_FILE = {
    "Cifar10": (
        "paddle.vision.datasets.Cifar10('data/cifar-10-python.tar.gz', transform=T.ToTensor())",
        50000,
        "nn.Conv2D(3, 4, 3)",
        ["float32[4, 3, 32, 32]", "int64[4]"],
    ),
    "MNIST": (
        "paddle.vision.datasets.MNIST('data/images.gz', 'data/labels.gz', transform=T.ToTensor())",
        *SHAPES["MNIST"][1:],
    ),
}
"""Data sets of a file that the program names and that is not here."""


@pytest.mark.parametrize("name", OF_A_FILE)
def test_a_data_set_of_a_file_that_the_program_names_stands_in_too(run_child, name):
    data, count, model, inputs = OF_A_FILE[name]
    row = run_child("trace", {name: LOADED.format(data=data, count=count, model=model)})[name]
    assert row["status"] == "ok", row["questions"]
    assert (row["notes"], row["inputs"]) == (["data_absent", "dataset_stand_in"], inputs)


def test_every_data_set_of_paddle_is_tried():
    tried = {*SHAPES, *CLASSES}
    every = [
        name
        for module in (paddle.vision.datasets, paddle.text, paddle.audio.datasets)
        for name in module.__all__
        if "Folder" not in name and "iterbi" not in name
    ]
    assert [name for name in every if name not in tried] == []


FEW = """
import paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, index):
        return paddle.rand([4]).numpy(), 1
    def __len__(self):
        return {count}
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_size=64, drop_last={drops}):
    paddle.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_loader_that_drops_all_it_has_is_told(run_child):
    asked = {"none": (10, True), "one": (64, True), "kept": (10, False)}
    rows = run_child("trace", {name: FEW.format(count=count, drops=drops) for name, (count, drops) in asked.items()})
    told = {name: dict(zip(row["notes"], row["params"], strict=True)).get("no_batch") for name, row in rows.items()}
    assert told == {"none": {"samples": 10, "batch": 64, "cell": 1, "line": 10}, "one": None, "kept": None}
