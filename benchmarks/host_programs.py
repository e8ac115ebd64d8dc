"""Programs of `host_memory`: trainings that differ in what they take of the machine's own memory."""

from __future__ import annotations

import json
from pathlib import Path

from .programs import BERT, HEAD, LOOP, RESNET

EXAMPLES = Path(__file__).parents[1] / "examples"

_TRAIN = """
model = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
"""

_EPOCH = (
    _TRAIN
    + """
for start in range(0, len(data), BATCH):
    x, y = paddle.to_tensor(data[start:start + BATCH]), paddle.to_tensor(labels[start:start + BATCH])
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)

DIGITS = (
    """
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
images, labels = load_digits(return_X_y=True)
train_x, test_x, train_y, test_y = train_test_split(images.astype("float32") / 16, labels, test_size=0.2)
FEATURES = 64
"""
    + _TRAIN
    + """
for epoch in range(10):
    for start in range(0, len(train_x), 64):
        x, y = paddle.to_tensor(train_x[start:start + 64]), paddle.to_tensor(train_y[start:start + 64])
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
model.eval()
with paddle.no_grad():
    accuracy = (model(paddle.to_tensor(test_x)).argmax(-1).numpy() == test_y).mean()
"""
)

ARRAY = (
    """
import numpy as np
rng = np.random.default_rng(0)
data = rng.standard_normal((100_000, 784), dtype="float32")
labels = rng.integers(0, 10, 100_000)
FEATURES, BATCH = 784, 500
"""
    + _EPOCH
)

NORMALISED = (
    """
import numpy as np
rng = np.random.default_rng(0)
raw = rng.standard_normal((60_000, 784))
data = ((raw - raw.mean(0)) / raw.std(0)).astype("float32")
labels = rng.integers(0, 10, 60_000)
x, y = paddle.to_tensor(data), paddle.to_tensor(labels)
FEATURES = 784
"""
    + _TRAIN
    + """
for start in range(0, 60_000, 500):
    loss = F.cross_entropy(model(x[start:start + 500]), y[start:start + 500])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)

FRAME = (
    """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.standard_normal((400_000, 40)), columns=[f"c{n}" for n in range(40)])
frame["label"] = (frame["c0"] + frame["c1"] > 0).astype("int64")
frame = frame.fillna(0).drop_duplicates()
data = frame.drop(columns="label").to_numpy("float32")
labels = frame["label"].to_numpy()
FEATURES, BATCH = 40, 4000
"""
    + _EPOCH
)

_SAMPLES = (
    """
import numpy as np
class Samples(paddle.io.Dataset):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.rows = {rows}
    def __len__(self):
        return 20_000
    def __getitem__(self, number):
        return {item}
FEATURES = 3072
"""
    + _TRAIN
    + """
if __name__ == "__main__":
    for x, y in paddle.io.DataLoader(Samples(), batch_size=256, shuffle=True, num_workers={workers}):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
)

WORKERS = _SAMPLES.format(
    rows='rng.standard_normal((20_000, 3072), dtype="float32")', item="(self.rows[number], number % 10)", workers=4
)

OBJECTS = _SAMPLES.format(
    rows="[(float(n), [n + 1000 + i for i in range(60)]) for n in range(20_000)]",
    item='(np.full(3072, sum(self.rows[number][1]) * 1e-6, "float32"), number % 10)',
    workers=4,
)

GROWING = (
    ARRAY
    + """
kept = []
for epoch in range(4):
    for start in range(0, 100_000, 500):
        x, y = paddle.to_tensor(data[start:start + 500]), paddle.to_tensor(labels[start:start + 500])
        scores = model(x)
        loss = F.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        kept.append([float(value) for value in scores.numpy().ravel()])
"""
)

PREDICTING = (
    ARRAY
    + """
model.eval()
with paddle.no_grad():
    hidden = [model[1](model[0](paddle.to_tensor(data[n:n + 500]))).numpy() for n in range(0, 100_000, 500)]
    together = np.concatenate(hidden)
    distances = ((together[:5000, None, :16] - together[None, :1000, :16]) ** 2).sum(-1)
"""
)

SAVING = """
import os, tempfile
import numpy as np
model = nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Linear(8192, 1000))
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
for step in range(6):
    loss = F.cross_entropy(model(paddle.rand([64, 4096])), paddle.randint(0, 1000, [64]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with tempfile.TemporaryDirectory() as folder:
        paddle.save(model.state_dict(), os.path.join(folder, "model.pdparams"))
        paddle.save(optimizer.state_dict(), os.path.join(folder, "optimizer.pdopt"))
"""


def cells(name: str) -> list[str]:
    """The code cells of one of the examples."""
    notebook = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


PROGRAMS: dict[str, list[str]] = {
    "digits_fit (example)": cells("digits_fit.ipynb"),
    "digits_loop (example)": cells("digits_loop.ipynb"),
    "scikit-learn's digits": [HEAD, DIGITS],
    "array of 300 MB, in batches": [HEAD, ARRAY],
    "array normalised, one tensor": [HEAD, NORMALISED],
    "pandas frame of 130 MB": [HEAD, FRAME],
    "array, 4 workers": [HEAD, WORKERS],
    "Python objects, 4 workers": [HEAD, OBJECTS],
    "list that grows by the step": [HEAD, GROWING],
    "predictions after the training": [HEAD, PREDICTING],
    "checkpoint in every step": [HEAD, SAVING],
    "ResNet-50, batch 8": [HEAD, RESNET.format(batch=8), LOOP],
    "BERT base, batch 8": [HEAD, BERT.format(batch=8), LOOP],
}
