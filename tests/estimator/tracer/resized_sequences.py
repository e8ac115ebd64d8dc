# ruff: noqa: E501 - one script a line reads as a table
"""Notebooks that train on sequences: one script each, the length that is asked for, and the edits by which a person would
have had it."""

from __future__ import annotations

from tests.estimator.tracer.scripts import ADAM, DATASET, HEAD, STEP

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

SOUND = (
    DATASET.format(sample="return np.zeros(4000, 'float32'), np.int64(1)")
    + """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1D(1, 16, 80, stride=16), nn.ReLU(), nn.Conv1D(16, 32, 3), nn.AdaptiveAvgPool1D(1))
        self.head = nn.Linear(32, 5)
    def forward(self, x):
        return self.head(self.body(x.unsqueeze(1)).flatten(1))
model = Net()
"""
    + ADAM
    + """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=16):
        loss = F.cross_entropy(model(x), y)
"""
    + STEP.replace("\n", "\n    ")
)

SPECTROGRAM = (
    HEAD
    + """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mel = paddle.audio.features.LogMelSpectrogram(sr=8000, n_fft=256, hop_length=64, n_mels=32)
        self.lstm, self.head = nn.LSTM(32, 24), nn.Linear(24, 5)
    def forward(self, x):
        out, _ = self.lstm(self.mel(x).transpose([0, 2, 1]))
        return self.head(out[:, -1])
model = Net()
"""
    + ADAM
    + """
waves, labels = paddle.randn([64, 4000]), paddle.zeros([64], 'int64')
for step in range(9):
    loss = F.cross_entropy(model(waves[:16]), labels[:16])
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

CASES = {
    "lstm": (LSTM, {"sequence_length": 75}, {"(30, 12)": "(75, 12)"}),
    "conv1d": (CONV1D, {"sequence_length": 320}, {"100, 6, 200": "100, 6, 320"}),
    "one-channel": (CONV1D.replace("Conv1D(6", "Conv1D(1").replace("100, 6,", "100, 1,"), {"sequence_length": 99}, {"100, 1, 200": "100, 1, 99"}),
    "sound": (SOUND, {"sequence_length": 6400}, {"zeros(4000": "zeros(6400"}),
    "spectrogram": (SPECTROGRAM, {"sequence_length": 6400}, {"[64, 4000]": "[64, 6400]"}),
    "gpt-of-name": (GPT.replace("block_size=48", "block_size=49").replace("[64, 49]", "[64, MAX_LEN]").replace("model = GPT()", "MAX_LEN = 49\nmodel = GPT()"), {"sequence_length": 96}, {"block_size=49": "block_size=97", "MAX_LEN = 49": "MAX_LEN = 97"}),
    "gpt": (GPT, {"sequence_length": 96}, {"block_size=48": "block_size=96", "[64, 49]": "[64, 97]"}),
    "bert": (BERT, {"sequence_length": 128}, {"zeros(40": "zeros(128", "(1, 40)": "(1, 128)", "arange(40)": "arange(128)"}),
    "seq2seq": (SEQ2SEQ, {"sequence_length": 33}, {"[12, 20]": "[12, 33]", "[12, 21]": "[12, 34]"}),
    "time-major": (TIME_MAJOR, {"sequence_length": 70}, {"[35, 16": "[70, 16"}),
}  # fmt: skip
