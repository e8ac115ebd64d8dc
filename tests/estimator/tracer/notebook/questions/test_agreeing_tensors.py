"""Suggestions that agree with each other: tensors that one step takes of data which is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import wave
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
"""
STORED = """
data = np.load('hopper_medium.npz', allow_pickle=True)
obs, act, rew, nxt = [data[k] for k in ('observations', 'actions', 'rewards', 'next_observations')]
obs_dim, act_dim = obs.shape[1], act.shape[1]
q = nn.Sequential(nn.Linear(obs_dim + act_dim, 256), nn.ReLU(), nn.Linear(256, 1))
pi = nn.Sequential(nn.Linear(obs_dim, 256), nn.ReLU(), nn.Linear(256, act_dim), nn.Tanh())
oq = paddle.optimizer.Adam(parameters=q.parameters())
op = paddle.optimizer.Adam(parameters=pi.parameters())
for step in range(1000):
    i = np.random.randint(0, len(obs), 128)
    s = paddle.to_tensor(obs[i], dtype='float32'); a = paddle.to_tensor(act[i], dtype='float32')
    r = paddle.to_tensor(rew[i], dtype='float32'); s2 = paddle.to_tensor(nxt[i], dtype='float32')
    with paddle.no_grad():
        t = r.unsqueeze(-1) + 0.99 * q(paddle.concat([s2, pi(s2)], -1))
    lq = F.mse_loss(q(paddle.concat([s, a], -1)), t)
    lq.backward(); oq.step(); oq.clear_grad()
    lp = -q(paddle.concat([s, pi(s)], -1)).mean()
    lp.backward(); op.step(); op.clear_grad(); oq.clear_grad()
"""
GRAPH = """
content = np.genfromtxt('cora/cora.content', dtype=str)
feats = content[:, 1:-1].astype('float32')
classes = sorted(set(content[:, -1]))
labels = np.array([classes.index(c) for c in content[:, -1]])
idx = {n: i for i, n in enumerate(content[:, 0])}
edges = np.array([[idx[a], idx[b]] for a, b in np.genfromtxt('cora/cora.cites', dtype=str)])
N = len(labels)
adj = np.zeros((N, N), 'float32'); adj[edges[:, 0], edges[:, 1]] = 1; adj += np.eye(N, dtype='float32')
adj = adj / adj.sum(1, keepdims=True)
class GCN(nn.Layer):
    def __init__(self, d, n):
        super().__init__()
        self.a, self.b = nn.Linear(d, 16), nn.Linear(16, n)
    def forward(self, x, A):
        return paddle.matmul(A, self.b(F.relu(paddle.matmul(A, self.a(x)))))
x = paddle.to_tensor(feats); A = paddle.to_tensor(adj); y = paddle.to_tensor(labels)
net = GCN(feats.shape[1], len(classes))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(200):
    loss = F.cross_entropy(net(x, A)[:140], y[:140])
    loss.backward(); opt.step(); opt.clear_grad()
"""
SOUND = """
rows = [line.strip().split(',') for line in open('speech/train.csv')]
class Speech(paddle.io.Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        with wave.open('speech/' + rows[i][0]) as w:
            data = np.frombuffer(w.readframes(w.getnframes()), dtype=np.int16).astype('float32') / 32768
        data = data[:16000]
        return np.pad(data, (0, 16000 - len(data))), int(rows[i][1])
net = nn.Linear(16000, 10)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Speech(), batch_size=64):
    loss = F.cross_entropy(net(x), y)
    loss.backward(); opt.step(); opt.clear_grad()
"""
CAPTIONS = """
import json
caps = json.load(open('captions.json'))
feats = np.load('feats.npy')
class Captions(paddle.io.Dataset):
    def __len__(self):
        return len(caps)
    def __getitem__(self, i):
        return feats[caps[i]['image']], [1] + [int(w) for w in caps[i]['text'].split()] + [2]
def collate(batch):
    ids = np.zeros([len(batch), max(len(c) for _, c in batch)], 'int64')
    for k, (_, c) in enumerate(batch):
        ids[k, :len(c)] = c
    return paddle.to_tensor(np.stack([f for f, _ in batch])), paddle.to_tensor(ids)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.f, self.e = nn.Linear(256, 64), nn.Embedding(500, 64)
        self.r, self.o = nn.LSTM(64, 64), nn.Linear(64, 500)
    def forward(self, f, ids):
        h, _ = self.r(paddle.concat([self.f(f).unsqueeze(1), self.e(ids[:, :-1])], 1))
        return self.o(h)
net = Net()
opt = paddle.optimizer.Adam(parameters=net.parameters())
for f, ids in paddle.io.DataLoader(Captions(), batch_size=32, collate_fn=collate):
    loss = F.cross_entropy(net(f, ids), ids)
    loss.backward(); opt.step(); opt.clear_grad()
"""
TABLE = """
import pandas as pd
table = pd.read_csv('houses.csv')
x = paddle.to_tensor(table.iloc[:, :-1].values, dtype='float32')
y = paddle.to_tensor(table.iloc[:, -1:].values, dtype='float32')
net = nn.Linear(x.shape[1], 1)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(10):
    loss = F.mse_loss(net(x), y)
    loss.backward(); opt.step(); opt.clear_grad()
"""
DIGITS = """
rows = [line.split() for line in open('digits/train.txt')]
class Digits(paddle.io.Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        return rows[i][0], rows[i][1]
class Embedding(nn.Layer):
    def __init__(self, count, width):
        super().__init__()
        self.W = paddle.create_parameter([count, width], 'float32')
    def forward(self, ids):
        return self.W[ids]
length = 12
net = nn.Sequential(Embedding(10, 32), nn.Flatten(), nn.Linear(32 * length, 19))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Digits(), batch_size=8):
    loss = F.cross_entropy(net(x), y)
    loss.backward(); opt.step(); opt.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child):
    answers = {"obs_dim": 8, "act_dim": 4, "s2": "float32[128,8]"}
    answered = {"feats_shape_1": 1433, "len_classes": 7, "x": "float32[2708,1433]"}
    sources = {"stored": STORED, "answered": STORED, "graph": GRAPH, "whole": GRAPH, "sound": SOUND, "digits": DIGITS}
    sources |= {"captions": CAPTIONS, "table": TABLE, "described": TABLE}
    printed = {"shapes": [[8, 32], [8, 20, 32], [1, 8, 32]], "numbers": {}}
    asked = {"answered": {"answers": answers}, "whole": {"answers": answered}, "digits": {"printed": printed}}
    asked |= {"described": {"answers": {"x": "float32[1000,256]", "y": "float32[1000,1]"}}}
    return run_child("trace", {name: HEAD + source for name, source in sources.items()}, asked)


def _asked(row):
    return {one["name"]: one["suggestion"] for one in row["questions"]}


def _assumed(row):
    return row["params"][row["notes"].index("answers_assumed")]["answers"]


def test_a_step_of_stored_experience_asks_for_three_things(traced):
    """A state was suggested of one number, which the net refuses; what came of it had no suggestion."""
    assert _asked(traced["stored"]) == {"obs_dim": 8, "act_dim": 4, "s2": "float32[128,8]"}


def test_what_it_takes_beside_them_agrees_with_the_answers(traced):
    """Also what is bound within a `with` of the loop."""
    row = traced["answered"]
    assert (row["status"], row["questions"]) == ("ok", [])
    assert _assumed(row) == "s=float32[128,8], a=float32[128,4], t=float32[128,1]"


def test_a_public_graph_has_its_nodes(traced):
    """Its rows were taken for those of any table, and its labels for a part of them."""
    assert _asked(traced["graph"]) == {"feats_shape_1": 1433, "len_classes": 7, "x": "float32[2708,1433]"}
    assert _assumed(traced["whole"]) == "A=float32[2708,2708], y=int64[2708]"


def test_a_clip_has_the_type_that_the_code_gives_it(traced):
    row = traced["sound"]
    assert (row["status"], row["inputs"]) == ("ok", ["float32[64, 16000]", "int64[64]"])


def test_outputs_of_other_cells_are_no_batch(traced):
    """A state and the outputs of a layer were printed by a cell that tries it; the net wants whole numbers."""
    (question,) = traced["digits"]["questions"]
    assert question["suggestion"].startswith("int64[8,12] int64[8")
    assert not question["candidates"][0][0].endswith("[8,20,32]")


def test_rows_beside_a_text_are_what_the_first_layer_takes(traced):
    """They look like numbers to the code that puts them into a batch; texts of one word were suggested."""
    assert _asked(traced["captions"]) == {"loader": "float32[32,256] int64[32,128]"}


def test_a_side_of_what_is_described_is_not_asked_for(traced):
    """A model is as wide as the tensor that stands in an answer says."""
    assert _asked(traced["table"]) == {"x": "float32[1000,256]", "y": "float32[1000,1]"}
    assert (traced["described"]["status"], "answers_untaken_alone" in traced["described"]["notes"]) == ("ok", False)
