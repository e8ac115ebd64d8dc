"""Pictures with boxes whose annotations are not here: one batch is looked at in a chapter before the model is made, and
what that shows says the rest. A side of what the model gives was asked for instead."""

from __future__ import annotations

from math import prod

import pytest

pytestmark = pytest.mark.paddle

CHAPTER = """import os, numpy as np, paddle, xml.etree.ElementTree as ET
from PIL import Image
from paddle import nn

def annotations(folder):
    @annotations@

def boxes_of(record):
    MOST = 20
    boxes, labels = np.zeros((MOST, 4)), np.zeros((MOST,))
    for i in range(len(record["boxes"])):
        boxes[i] = record["boxes"][i]
        labels[i] = record["labels"][i]
    return boxes.astype("float32"), labels.astype("int32")

class Signs(paddle.io.Dataset):
    def __init__(self, folder):
        self.records = annotations(folder)
        self.img_size = 64
    def __getitem__(self, i):
        record = self.records[i]
        @picture@
        boxes, labels = boxes_of(record)
        @cropped@
        return picture.astype("float32").transpose((2, 0, 1)), boxes, labels, np.array(record["size"], "float32")
    def __len__(self):
        return len(self.records)

img_size = 96
signs = Signs("signs/train")
d = paddle.io.DataLoader(signs, batch_size=2)
img, gt_boxes, gt_labels, im_shape = next(d())
body = nn.Sequential(nn.Conv2D(3, 8, 3, stride=32, padding=1), nn.LeakyReLU())
head = nn.Conv2D(8, 3 * 12, 1)
P0 = head(body(img))
taken_apart = paddle.reshape(P0, [-1, 3, 12, P0.shape[2], P0.shape[3]])
loader = paddle.io.DataLoader(signs, batch_size=4, drop_last=True)
opt = paddle.optimizer.Momentum(parameters=[*body.parameters(), *head.parameters()])
for i, data in enumerate(loader()):
    img, gt_boxes, gt_labels, img_scale = data
    losses = paddle.vision.ops.yolo_loss(
        head(body(img)), gt_boxes, gt_labels, [10, 13, 16, 30, 33, 23], [0, 1, 2], 7, 0.7, 32,
        gt_score=paddle.ones(gt_labels.shape), use_label_smooth=False)
    losses.mean().backward()
    opt.step()
    opt.clear_grad()
"""
ABSENT = {
    "annotations": """records = []
    for name in os.listdir(os.path.join(folder, "xmls")):
        tree = ET.parse(os.path.join(folder, "xmls", name))
        found = tree.findall("object")
        records.append({"file": name, "size": (float(tree.find("h").text), float(tree.find("w").text)),
                        "boxes": np.array([[float(side.text) for side in one] for one in found]),
                        "labels": np.array([int(one.find("name").text) for one in found])})
    return records""",
    "cropped": "import imgaug; picture, boxes, labels = imgaug.crop(picture, boxes, labels)",
    "picture": 'picture = np.array(Image.open(record["file"]).resize((self.img_size, self.img_size)))',
}
MADE = {
    "annotations": 'return [{"size": (64.0, 64.0), "boxes": [[0.5, 0.5, 0.2, 0.2]], "labels": [3]}] * 40',
    "cropped": "",
    "picture": 'picture = np.zeros((64, 64, 3), "uint8")',
}


def _with(parts):
    source = CHAPTER
    for name, part in parts.items():
        source = source.replace(f"@{name}@", part)
    return source


def test_one_batch_is_asked_for_with_the_boxes_that_the_code_makes_room_for(run_child):
    source = _with(ABSENT)
    (question,) = run_child("trace", {"signs": source})["signs"]["questions"]
    assert question["name"] == "d"
    assert question["suggestion"] == "float32[2,3,64,64] float32[2,20,4] int32[2,20] float32[2,2]"
    answered = run_child("trace", {"signs": source}, {"signs": {"answers": {"d": question["suggestion"]}}})["signs"]
    real = run_child("real", {"signs": _with(MADE)})["signs"]
    assert answered["status"] == "ok"
    batch = "float32[4, 3, 64, 64]", "float32[4, 20, 4]", "int32[4, 20]", "float32[4, 2]"
    assert answered["inputs"][: len(batch)] == list(batch)
    ahead = sum(map(prod, ((4, 3, 64, 64, 4), (4, 20, 4, 4), (4, 20, 4), (4, 2, 4))))  # the loader's thread may be late
    assert 0 <= answered["peak"] - max(real["peaks"][1:]) <= ahead, (answered["peak"], real)
