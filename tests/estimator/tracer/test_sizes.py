# ruff: noqa: E501 - one script a line reads as a table
"""Another image size or sequence length gives the step of the notebook that a person would have edited by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

STEP = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
"""
ADAM = "optimizer = paddle.optimizer.Adam(1e-5, parameters=model.parameters())\n"

CNN = (
    HEAD
    + """
model = nn.Sequential(nn.Conv2D(3, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(16, 32, 3, padding=1),
                      nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 10))
"""
    + ADAM
    + """
images, labels = paddle.rand([64, 3, 64, 64]), paddle.randint(0, 10, [64])
for epoch in range(3):
    for i in range(0, 64, 16):
        loss = F.cross_entropy(model(images[i:i + 16]), labels[i:i + 16])
"""
    + STEP.replace("\n", "\n    ")
)

DATASET = (
    HEAD
    + """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        {sample}
    def __len__(self):
        return 960
"""
)

UNET = (
    DATASET.format(sample="return np.zeros((3, 64, 64), 'float32'), np.zeros((64, 64), 'int64')")
    + """
def block(a, b):
    return nn.Sequential(nn.Conv2D(a, b, 3, padding=1), nn.BatchNorm2D(b), nn.ReLU())
class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.up = block(3, 8), block(8, 16), block(24, 8)
        self.transposed, self.head = nn.Conv2DTranspose(16, 16, 2, stride=2), nn.Conv2D(8, 5, 1)
    def forward(self, x):
        a = self.down1(x)
        b = self.transposed(self.down2(F.max_pool2d(a, 2)))
        return self.head(self.up(paddle.concat([a, b], 1)))
model = UNet()
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=8):
        loss = F.cross_entropy(model(x), y, axis=1)
"""
    + STEP.replace("\n", "\n    ")
)

VIT = (
    HEAD
    + """
IMG_SIZE, PATCH = 64, 8
class ViT(nn.Layer):
    def __init__(self, img_size=64, width=48):
        super().__init__()
        self.patches = nn.Conv2D(3, width, PATCH, stride=PATCH)
        self.positions = self.create_parameter([1, (img_size // PATCH) ** 2, width])
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 96, dropout=0.0), 2)
        self.head = nn.Linear(width, 10)
    def forward(self, x):
        x = self.patches(x).flatten(2).transpose([0, 2, 1]) + self.positions
        return self.head(self.blocks(x).mean(1))
model = ViT(IMG_SIZE)
"""
    + ADAM
    + """
for step in range(9):
    x, y = paddle.randn([8, 3, IMG_SIZE, IMG_SIZE]), paddle.randint(0, 10, [8])
    loss = F.cross_entropy(model(x), y)
"""
    + STEP
)

PLAIN_VIT = VIT.replace(
    "        self.positions = self.create_parameter([1, (img_size // PATCH) ** 2, width])\n", ""
).replace(" + self.positions", "")
PLAIN_VIT = (
    PLAIN_VIT.replace("IMG_SIZE, PATCH = 64, 8", "PATCH = 8")
    .replace("ViT(IMG_SIZE)", "ViT()")
    .replace("IMG_SIZE, IMG_SIZE", "64, 64")
)

LSTM = (
    DATASET.format(sample="return np.zeros((30, 12), 'float32'), np.float32(1)")
    + """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(12, 32), nn.Linear(32, 1)
    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])
model = Net()
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=16):
        loss = F.mse_loss(model(x).squeeze(-1), y)
"""
    + STEP.replace("\n", "\n    ")
)

CONV1D = (
    HEAD
    + """
model = nn.Sequential(nn.Conv1D(6, 32, 5, padding=2), nn.ReLU(), nn.Conv1D(32, 32, 5, padding=2), nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(32, 3))
"""
    + ADAM
    + """
X, Y = np.zeros((100, 6, 200), 'float32'), np.zeros(100, 'int64')
for step in range(9):
    x, y = paddle.to_tensor(X[:20]), paddle.to_tensor(Y[:20])
    loss = F.cross_entropy(model(x), y)
"""
    + STEP
)

GPT = (
    HEAD
    + """
class GPT(nn.Layer):
    def __init__(self, vocab=200, width=32, block_size=48):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(block_size, width)
        self.blocks = nn.LayerList([nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, normalize_before=True) for _ in range(2)])
        self.head = nn.Linear(width, vocab)
    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.positions(paddle.arange(length))
        mask = paddle.triu(paddle.full([length, length], -1e9), 1)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)
model = GPT()
"""
    + ADAM
    + """
data = paddle.randint(0, 200, [64, 49])
for step in range(9):
    batch = data[:8]
    loss = F.cross_entropy(model(batch[:, :-1]), batch[:, 1:])
"""
    + STEP
)

BERT = (
    DATASET.format(
        sample="return {'ids': np.zeros(40, 'int64'), 'mask': np.ones((1, 40), 'float32'), 'label': np.int64(1)}"
    )
    + """
class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(500, 32), nn.Embedding(512, 32)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1), 2)
        self.head = nn.Linear(32, 2)
    def forward(self, ids, mask, positions):
        x = self.words(ids) + self.places(positions)
        return self.head(self.encoder(x, (1 - mask.unsqueeze(1)) * -1e9)[:, 0])
model = Bert()
"""
    + ADAM
    + """
for epoch in range(3):
    for batch in paddle.io.DataLoader(Data(), batch_size=16):
        positions = paddle.arange(40).unsqueeze(0)
        loss = F.cross_entropy(model(batch['ids'], batch['mask'], positions=positions), batch['label'])
"""
    + STEP.replace("\n", "\n    ")
)

SEGMENTATION = (
    DATASET.format(sample="return paddle.zeros([48, 64, 3]).transpose([2, 0, 1]), np.zeros((1, 48, 64), 'float32')")
    + """
network = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2D(8, 16, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2D(16, 1, 1))
model = paddle.Model(network)
model.prepare(paddle.optimizer.Momentum(1e-5, parameters=network.parameters()), nn.BCEWithLogitsLoss())
model.fit(Data(), epochs=2, batch_size=8, verbose=0)
"""
)

SUPER = (
    DATASET.format(
        sample="return np.zeros((1, 40, 40), 'float32'), np.zeros((1, 120, 120), 'float32'), np.zeros((1, 20, 20), 'float32')"
    )
    + """
model = nn.Sequential(nn.Conv2D(1, 9, 3, padding=1), nn.PixelShuffle(3))
"""
    + ADAM
    + """
blur = paddle.ones([1, 1, 5, 5]) / 25
for epoch in range(3):
    for x, large, small in paddle.io.DataLoader(Data(), batch_size=16):
        out = model(F.conv2d(x, blur, padding=2))
        loss = F.mse_loss(out, large) + F.mse_loss(F.avg_pool2d(out, 6), small)
"""
    + STEP.replace("\n", "\n    ")
)

CHANNELS_LAST = (
    HEAD
    + """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2D(3, 16, 3, data_format='NHWC'), nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.conv(x).mean([1, 2]))
model = Net()
"""
    + ADAM
    + """
data = np.zeros((40, 32, 32, 3), 'uint8')
for step in range(9):
    x = paddle.to_tensor(data[:8]).astype('float32') / 255
    loss = F.cross_entropy(model(x), paddle.randint(0, 4, [8]))
"""
    + STEP
)

RESIZED = (
    HEAD
    + """
from paddle.vision.transforms import Compose, Resize, ToTensor
data = paddle.vision.datasets.MNIST(mode='train', transform=Compose([Resize(48), ToTensor()]))
model = nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2D(2), nn.Flatten(), nn.Linear(32, 10))
"""
    + ADAM
    + """
for x, y in paddle.io.DataLoader(data, batch_size=32, shuffle=True):
    loss = F.cross_entropy(model(x), y)
"""
    + STEP
)

TENSORS = (
    HEAD
    + """
data = paddle.io.TensorDataset([paddle.randn([60, 3, 32, 32]), paddle.randint(0, 4, [60])])
model = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 4))
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(data, batch_size=10):
        loss = F.cross_entropy(model(x), y)
"""
    + STEP.replace("\n", "\n    ")
)

SEQ2SEQ = (
    HEAD
    + """
model = nn.Transformer(32, 4, 1, 1, 64, dropout=0.0)
words, out = nn.Embedding(100, 32), nn.Linear(32, 100)
optimizer = paddle.optimizer.Adam(1e-5, parameters=[*model.parameters(), *words.parameters(), *out.parameters()])
source, target = paddle.randint(0, 100, [12, 20]), paddle.randint(0, 100, [12, 21])
for step in range(9):
    h = model(words(source), words(target[:, :-1]), None, model.generate_square_subsequent_mask(target.shape[1] - 1), None)
    loss = F.cross_entropy(out(h), target[:, 1:])
"""
    + STEP
)

TIME_MAJOR = (
    HEAD
    + """
model = nn.GRU(10, 24, time_major=True)
"""
    + ADAM
    + """
x = paddle.randn([35, 16, 10])
for step in range(9):
    out, last = model(x)
    loss = out.mean()
"""
    + STEP
)

ROWS = (
    HEAD
    + """
model = nn.Sequential(nn.Conv2D(1, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
"""
    + ADAM
    + """
pixels = np.zeros((600, 784), 'float32')
for step in range(9):
    x = paddle.reshape(paddle.to_tensor(pixels[:32]), [-1, 1, 28, 28])
    loss = F.cross_entropy(model(x), paddle.randint(0, 10, [32]))
"""
    + STEP
)

VOLUMES = (
    HEAD
    + """
model = nn.Sequential(nn.Conv3D(2, 8, 3, padding=1), nn.BatchNorm3D(8), nn.ReLU(), nn.MaxPool3D(2), nn.Conv3D(8, 4, 3, padding=1))
volumes = paddle.rand([24, 2, 16, 32, 32])
"""
    + ADAM
    + "for i in range(0, 24, 4):\n    loss = model(volumes[i:i + 4]).mean()"
    + STEP
)
CLIPS = (
    DATASET.format(sample="return np.zeros((6, 3, 32, 32), 'float32'), np.zeros((1,), 'int64')")
    + """
class Frames(nn.Layer):
    def __init__(self):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2D(2), nn.Flatten())
        self.rnn, self.head = nn.GRU(32, 16), nn.Linear(16, 5)
    def forward(self, x):
        b, t = x.shape[:2]
        return self.head(self.rnn(self.frames(x.flatten(0, 1)).reshape([b, t, 32]))[0][:, -1])
model = Frames()
"""
    + ADAM
    + "for x, y in paddle.io.DataLoader(Data(), batch_size=8):\n    loss = F.cross_entropy(model(x), y)"
    + STEP
)
CLIPS_LAST = (
    HEAD
    + """
model = nn.Sequential(nn.Conv3D(3, 8, 3, padding=1, data_format="NDHWC"), nn.ReLU(), nn.MaxPool3D(2, data_format="NDHWC"))
clips = paddle.rand([24, 8, 32, 32, 3])
"""
    + ADAM
    + "for i in range(0, 24, 4):\n    loss = model(clips[i:i + 4]).mean()"
    + STEP
)
CASES = {
    "rows-of-pixels": (ROWS, {"image_size": 56}, {"600, 784": "600, 3136", "28, 28": "56, 56"}),
    "cnn": (CNN, {"image_size": 96}, {"64, 64]": "96, 96]"}),
    "unet": (UNET, {"image_size": 48}, {"64, 64)": "48, 48)"}),
    "vit": (VIT, {"image_size": 96}, {"IMG_SIZE, PATCH = 64": "IMG_SIZE, PATCH = 96"}),
    "plain-vit": (PLAIN_VIT, {"image_size": 40}, {"64, 64]": "40, 40]"}),
    "lstm": (LSTM, {"sequence_length": 75}, {"(30, 12)": "(75, 12)"}),
    "conv1d": (CONV1D, {"sequence_length": 320}, {"100, 6, 200": "100, 6, 320"}),
    "one-channel": (CONV1D.replace("Conv1D(6", "Conv1D(1").replace("100, 6,", "100, 1,"), {"sequence_length": 99}, {"100, 1, 200": "100, 1, 99"}),
    "gpt-of-name": (GPT.replace("block_size=48", "block_size=49").replace("[64, 49]", "[64, MAX_LEN]").replace("model = GPT()", "MAX_LEN = 49\nmodel = GPT()"), {"sequence_length": 96}, {"block_size=49": "block_size=97", "MAX_LEN = 49": "MAX_LEN = 97"}),
    "gpt": (GPT, {"sequence_length": 96}, {"block_size=48": "block_size=96", "[64, 49]": "[64, 97]"}),
    "bert": (BERT, {"sequence_length": 128}, {"zeros(40": "zeros(128", "(1, 40)": "(1, 128)", "arange(40)": "arange(128)"}),
    "segmentation": (SEGMENTATION, {"image_size": 96}, {"48, 64": "96, 96"}),
    "super-resolution": (SUPER, {"image_size": 64}, {"40, 40": "64, 64", "120, 120": "192, 192", "20, 20": "32, 32"}),
    "channels-last": (CHANNELS_LAST, {"image_size": 20}, {"32, 32": "20, 20"}),
    "resized": (RESIZED, {"image_size": 64}, {"Resize(48)": "Resize(64)"}),
    "tensors": (TENSORS, {"image_size": 50}, {"32, 32]": "50, 50]"}),
    "seq2seq": (SEQ2SEQ, {"sequence_length": 33}, {"[12, 20]": "[12, 33]", "[12, 21]": "[12, 34]"}),
    "volumes": (VOLUMES, {"image_size": 24}, {"16, 32, 32": "16, 24, 24"}),
    "clips": (CLIPS, {"image_size": 48}, {"6, 3, 32, 32": "6, 3, 48, 48"}),
    "clips-last": (CLIPS_LAST, {"image_size": 20}, {"8, 32, 32, 3": "8, 20, 20, 3"}),
    "time-major": (TIME_MAJOR, {"sequence_length": 70}, {"[35, 16": "[70, 16"}),
}  # fmt: skip


def edited(source: str, edits: dict[str, str]) -> str:
    """The notebook as a person would have changed it."""
    for old, new in edits.items():
        assert old in source, old
        source = source.replace(old, new)
    return source


HERE = Path(__file__).parent
CHILD = """
import json, sys
sys.path[:0] = sys.argv[1:]
import tracer
from real_steps import peak_of
for name, (source, asked) in json.load(sys.stdin).items():
    cells = [{"index": index, "source": part} for index, part in enumerate(source.split("#---"))]
    found = tracer.trace_notebook({"cells": cells, "answers": {}, "target": "cpu", **asked})
    kept = {key: found.get(key) for key in ("status", "notes", "questions", "image_size", "sequence_length", "inputs")}
    print(json.dumps([name, {**kept, "peak": peak_of(found) if found["status"] == "ok" else None}]))
"""
REAL = ("volumes", "clips", "clips-last", "cnn", "unet", "plain-vit", "lstm", "conv1d", "gpt", "bert", "time-major")
FLAT = CNN.replace("nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 10)", "nn.Flatten(), nn.Linear(32768, 10)")
LITERAL = VIT.replace("IMG_SIZE, PATCH = 64, 8", "PATCH = 8").replace("IMG_SIZE", "64").replace("img_size=64", "n=64")
TABLE = GPT.replace("nn.Embedding(block_size, width)", "nn.Embedding(48, width)").replace("block_size", "b")
WORDS = HEAD + "x = paddle.randn([8, 20])\nmodel = nn.Linear(20, 3)\noptimizer = paddle.optimizer.SGD(parameters="
WORDS += "model.parameters())\nfor step in range(9):\n    loss = model(x).mean()" + STEP
KEPT = CNN.replace("model(images[i:i + 16])", "model(F.interpolate(images[i:i + 16], [32, 32]))")
UNRELATED = "import numpy, paddle\nshown = paddle.rand([3, 64, 64]).reshape([12288])\n#---" + CNN
EARLY = CNN.rstrip() + "\n        raise ValueError"
AFTERWARDS = CNN.replace("for epoch in", "kept = [paddle.zeros([1]) for _ in range(2)]\nmodel.eval()\nfor epoch in")
AFTERWARDS = AFTERWARDS.rstrip() + "\n    raise ValueError"
TWO_MODELS = FLAT + "#---" + CNN.replace("3, 64, 64", "3, 128, 128")
OTHERS = {
    "flat": (FLAT, {"image_size": 96}),
    "positions-parameter": (LITERAL.replace("img_size", "n"), {"image_size": 96}),
    "positions-table": (TABLE, {"sequence_length": 64}),
    "positions-table-shorter": (TABLE, {"sequence_length": 32}),
    "no-images": (WORDS, {"image_size": 96}),
    "no-sequences": (WORDS, {"sequence_length": 96}),
    "kept": (KEPT, {"image_size": 96}),
    "unrelated-cell": (UNRELATED, {"image_size": 96}),
    "fails-afterwards": (AFTERWARDS, {"image_size": 96}),
    "fails-behind-one-step": (EARLY, {"image_size": 96}),
    "second-model": (TWO_MODELS, {"image_size": 128}),
    "the-same": (VIT, {"image_size": 64}),
    "with-batch": (UNET, {"image_size": 48, "batch_size": 4}),
    "no-training": ("import paddle\nx = paddle.ones([3])", {"image_size": 96}),
    "missing-file": ("import numpy as np\nrows = np.load('rows.npy')", {"image_size": 96}),
}


@pytest.fixture(scope="module")
def traced():
    pytest.importorskip("paddle")
    sent = {name: (source, asked) for name, (source, asked, _) in CASES.items()}
    sent |= {f"{name} as it is": (source, {}) for name, (source, _, _) in CASES.items()}
    sent |= {f"{name} by hand": (edited(source, edits), {}) for name, (source, _, edits) in CASES.items()}
    sent |= OTHERS | {"with-batch by hand": (UNET.replace("64, 64)", "48, 48)").replace("size=8", "size=4"), {})}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(HERE), str(HERE.parents[2] / "jupyter_paddle_gpu/estimator")],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", {name: edited(CASES[name][0], CASES[name][2]) for name in REAL})


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_step_of_the_notebook_edited_by_hand(traced, name):
    found, by_hand, before = (traced[name + suffix] for suffix in ("", " by hand", " as it is"))
    assert by_hand["status"] == "ok", by_hand["questions"]
    assert found["status"] == "ok", found["notes"]
    assert found["peak"] == by_hand["peak"] != before["peak"]
    assert (found["inputs"], found["notes"]) == (by_hand["inputs"], by_hand["notes"])
    asked = CASES[name][1]
    if "image_size" in asked:
        assert found["image_size"] == [asked["image_size"]] * 2 != before["image_size"]
    else:
        assert found["sequence_length"] == asked["sequence_length"] != before["sequence_length"]


@pytest.mark.parametrize("name", REAL)
def test_it_is_a_real_steps_peak(traced, real, name):
    assert real[name]["failure"] is None
    assert traced[name]["peak"] == pytest.approx(real[name]["peaks"][-1], abs=4)


def note(traced, name):
    found = traced[name]
    assert (found["status"], found["peak"], len(found["notes"])) == ("needs_input", None, 1), found
    return found["notes"][0]["code"], found["notes"][0]["params"]


def test_a_model_of_one_size_says_where_and_why(traced):
    code, params = note(traced, "flat")
    assert (code, params["images"], params["cell"]) == ("image_refused", 96, 1)
    assert FLAT.splitlines()[params["line"] - 1].strip().startswith("loss =")
    assert "73728" in params["problem"] and "32768" in params["problem"]
    assert "\n" not in params["problem"] and "Hint" not in params["problem"]
    code, params = note(traced, "positions-parameter")
    assert code == "image_refused" and "self.positions" in LITERAL.splitlines()[params["line"] - 1]


def test_a_table_that_is_too_short_is_seen_without_data(traced):
    code, params = note(traced, "positions-table")
    assert code == "sequence_refused" and "< 48" in params["problem"] and "63" in params["problem"]
    assert traced["positions-table-shorter"]["sequence_length"] == 32


def test_nothing_of_the_kind_and_what_stays_as_it_is(traced):
    assert note(traced, "no-images")[0] == "no_images"
    assert note(traced, "no-sequences")[0] == "no_sequences"
    assert note(traced, "kept") == ("image_kept", {"asked": 96, "height": 32, "width": 32})


def test_cells_that_have_no_part_in_it_may_fail(traced):
    assert traced["unrelated-cell"]["peak"] == traced["cnn"]["peak"]
    for name in ("unrelated-cell", "fails-afterwards", "fails-behind-one-step"):
        assert traced[name]["image_size"] == [96, 96], traced[name]["notes"]


def test_another_model_behind_one_that_fails_is_no_answer(traced):
    assert note(traced, "second-model")[0] == "image_refused"


def test_the_present_size_and_other_what_ifs_with_it(traced):
    assert traced["the-same"]["peak"] == traced["vit as it is"]["peak"]
    assert traced["with-batch"]["peak"] == traced["with-batch by hand"]["peak"]
    assert traced["with-batch"]["inputs"] == ["float32[4, 3, 48, 48]", "int64[4, 48, 48]"]


def test_what_is_missing_is_asked_for_as_ever(traced):
    assert traced["no-training"]["status"] == "no_model"
    assert traced["missing-file"]["questions"][0]["why"] == "file_missing"
