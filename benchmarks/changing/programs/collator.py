"""Texts with their masks, padded to the longest of their batch by an object that is called, for masked words."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(17)
BATCH, WORDS, WIDTH = 16, 4000, 128
TEXTS = [draws.randint(1, WORDS, max(8, min(128, int(draws.gamma(4, 12))))).astype("int64") for _ in range(2000)]


class Texts(paddle.io.Dataset):
    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, index):
        return {"input_ids": TEXTS[index], "labels": TEXTS[index]}


class Collator:
    def __init__(self, ignored):
        self.ignored = ignored

    def __call__(self, rows):
        longest = max(len(row["input_ids"]) for row in rows)
        ids = np.zeros([len(rows), longest], "int64")
        labels = np.full([len(rows), longest], self.ignored, "int64")
        mask = np.zeros([len(rows), 1, 1, longest], "float32")
        for number, row in enumerate(rows):
            length = len(row["input_ids"])
            ids[number, :length], labels[number, :length] = row["input_ids"], row["labels"]
            mask[number, 0, 0, length:] = -1e4
        return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH), 3)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, ids, mask):
        return self.out(self.encoder(self.words(ids), mask))


net = Net()
optimizer = paddle.optimizer.AdamW(1e-4, parameters=net.parameters())
for batch in paddle.io.DataLoader(Texts(), batch_size=BATCH, shuffle=True, collate_fn=Collator(-100)):
    scores = net(batch["input_ids"], batch["attention_mask"])
    loss = nn.functional.cross_entropy(scores, batch["labels"])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
