"""Lists of made-up samples that the program shortens."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PAIRS = """
import json
import paddle
rows = json.load(open('absent.json'))
vocab = {'<pad>': 0}
for a, b in rows:
    for word in a + b:
        vocab.setdefault(word, len(vocab))
def shortened(a, b, most):
    while len(a) + len(b) > most:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
def encoded(a, b, most=12):
    shortened(a, b, most - 3)
    words = ['<pad>'] + a + ['<pad>'] + b + ['<pad>']
    return [vocab[word] for word in words] + [0] * (most - len(words)), len(words)
class Pairs(paddle.io.Dataset):
    def __init__(self):
        made = [encoded(a, b) for a, b in rows]
        self.ids = paddle.to_tensor([ids for ids, _ in made])
        self.lengths = paddle.to_tensor([length for _, length in made])
    def __getitem__(self, place):
        return self.ids[place], self.lengths[place]
    def __len__(self):
        return len(self.ids)
net = paddle.nn.Sequential(paddle.nn.Embedding(300, 8), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for ids, lengths in paddle.io.DataLoader(Pairs(), batch_size=16):
    (net(ids).squeeze(-1).mean(1) * lengths.astype('float32')).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_what_is_taken_out_of_a_list_makes_it_shorter(run_child):
    """`while len(words) > 9: words.pop()` went on until the time was up: the list was as long as before."""
    found = run_child("trace", {"pairs": PAIRS}, {"pairs": {"cpu_seconds": 60}})["pairs"]
    assert "time_up" not in str(found["questions"])
    assert (found["status"], found["inputs"]) == ("ok", ["int64[16, 12]", "int64[16]"])
