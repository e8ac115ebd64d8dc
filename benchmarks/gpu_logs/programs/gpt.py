"""A step of GPT 345M as PaddleNLP's case of automatic parallelism on one card has it, in a dynamic graph, on zeros."""

import numpy as np
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
from paddle.nn import functional

WIDTH, LAYERS, HEADS, LENGTH, WORDS, BATCH = 1024, 24, 16, 1024, 50304, 16


class Layer(nn.Layer):
    """Normalisation first; attention by its matrix, as the case has no flash attention."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        """Its output, which alone is kept."""
        heads = self.qkv(self.first(x)).reshape([0, 0, HEADS, 3 * WIDTH // HEADS]).transpose([0, 2, 1, 3])
        q, k, v = paddle.split(heads, 3, axis=-1)
        scores = paddle.matmul(q * (WIDTH // HEADS) ** -0.5, k, transpose_y=True)
        mixed = paddle.matmul(paddle.incubate.softmax_mask_fuse_upper_triangle(scores), v)
        x = x + self.out(mixed.transpose([0, 2, 1, 3]).reshape([0, 0, WIDTH]))
        return x + self.narrow(functional.gelu(self.wide(self.second(x)), approximate=True))


class Gpt(nn.Layer):
    """Scores of the next word by the words' own vectors."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.LayerList([Layer() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens, places):
        """Of every place of a batch."""
        x = self.words(tokens) + self.places(places)
        for layer in self.layers:
            x = recompute(layer, x)
        return paddle.matmul(self.norm(x), self.words.weight, transpose_y=True)


class Zeros(paddle.io.Dataset):
    """Tokens, their places, labels and what counts of the loss."""

    def __len__(self):
        return 40 * BATCH

    def __getitem__(self, index):
        tokens = np.zeros(LENGTH, "int64")
        return tokens, np.arange(LENGTH), tokens, np.ones(LENGTH, "float32")


model = Gpt()
optimizer = paddle.optimizer.AdamW(
    5e-5, parameters=model.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0)
)
for tokens, places, labels, mask in paddle.io.DataLoader(Zeros(), batch_size=BATCH):
    losses = functional.cross_entropy(model(tokens, places), labels.unsqueeze(2), reduction="none")
    counted = mask.reshape([-1])
    loss = paddle.sum(losses.reshape([-1]) * counted) / counted.sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
