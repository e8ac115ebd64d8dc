"""Programs of the speed benchmark: a training each, as a person would write it; `{batch}` and more are filled in."""

HEAD = """
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
"""
LOOP = """
model.train()
optimizer = paddle.optimizer.AdamW(learning_rate=1e-4, parameters=model.parameters())
for step in range(3):
    x, y = make_batch()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
RESNET = """
BATCH = {batch}
model = paddle.vision.models.resnet50()
def make_batch():
    return paddle.rand([BATCH, 3, 224, 224]), paddle.randint(0, 1000, [BATCH])
loss_of = F.cross_entropy
"""
BERT = """
BATCH = {batch}
class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(30522, 768), nn.Embedding(512, 768)
        self.norm, self.drop = nn.LayerNorm(768), nn.Dropout(0.1)
        block = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(block, 12)
        self.head = nn.Linear(768, 2)
    def forward(self, tokens):
        places = paddle.arange(tokens.shape[1])
        hidden = self.drop(self.norm(self.words(tokens) + self.places(places)))
        return self.head(self.encoder(hidden)[:, 0])
model = Bert()
def make_batch():
    return paddle.randint(0, 30522, [BATCH, 128]), paddle.randint(0, 2, [BATCH])
loss_of = F.cross_entropy
"""
GPT = """
import math
BATCH, LAYERS, WIDTH, HEADS, LENGTH, WORDS = {batch}, {layers}, {width}, {heads}, {length}, 50304
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
    def forward(self, x, mask):
        b, t, c = x.shape
        q, k, v = self.qkv(self.first(x)).reshape([b, t, 3, HEADS, c // HEADS]).transpose([2, 0, 3, 1, 4]).unbind(0)
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(c // HEADS) + mask
        y = paddle.matmul(F.softmax(scores, axis=-1), v).transpose([0, 2, 1, 3]).reshape([b, t, c])
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.second(x))))
class Gpt(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.LayerList([Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias_attr=False)
    def forward(self, tokens):
        mask = paddle.triu(paddle.full([LENGTH, LENGTH], -1e9), 1)
        x = self.words(tokens) + self.places(paddle.arange(LENGTH))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
model = Gpt()
def make_batch():
    return paddle.randint(0, WORDS, [BATCH, LENGTH]), paddle.randint(0, WORDS, [BATCH, LENGTH])
def loss_of(scores, y):
    return F.cross_entropy(scores.reshape([-1, WORDS]), y.reshape([-1]))
"""


def resnet(batch: int) -> str:
    """ResNet-50 at 224 px."""
    return HEAD + RESNET.format(batch=batch) + LOOP


def bert(batch: int) -> str:
    """BERT-base-like at 128 tokens."""
    return HEAD + BERT.format(batch=batch) + LOOP


def gpt(batch: int, layers: int, width: int, heads: int, length: int) -> str:
    """GPT-like with 50,304 words."""
    return HEAD + GPT.format(batch=batch, layers=layers, width=width, heads=heads, length=length) + LOOP
