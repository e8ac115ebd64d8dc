# model: FNet
# batch: 16
# optimizer: Rprop
# feature: Fourier mixing of tokens
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Block(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ff = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        mixed = paddle.real(paddle.fft.fft(paddle.fft.fft(x.astype("complex64"), axis=-1), axis=-2))
        x = self.norm1(x + mixed)
        return self.norm2(x + self.ff(x))


class FNet(nn.Layer):
    def __init__(self, width=96):
        super().__init__()
        self.embedding, self.segment = nn.Embedding(3000, width), nn.Embedding(2, width)
        self.blocks, self.head = nn.Sequential(Block(width), Block(width)), nn.Linear(width, 2)

    def forward(self, tokens, types):
        x = self.blocks(self.embedding(tokens) + self.segment(types))
        return self.head(x.mean(1))


model = FNet()
optimizer = paddle.optimizer.Rprop(1e-3, parameters=model.parameters())
for step in range(6):
    tokens, types, y = paddle.randint(0, 3000, [16, 80]), paddle.randint(0, 2, [16, 80]), paddle.randint(0, 2, [16])
    loss = F.cross_entropy(model(tokens, types), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
