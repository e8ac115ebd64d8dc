# model: GPT with ALiBi
# batch: 4
# optimizer: AdamW
# feature: parallel residual, learned temperature, decay by name
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

WIDTH, HEADS, WORDS, LENGTH = 96, 6, 2000, 64


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        slopes = paddle.to_tensor([2.0 ** -(8 * (i + 1) / HEADS) for i in range(HEADS)]).reshape([HEADS, 1, 1])
        row = paddle.arange(LENGTH, dtype="float32")
        bias = -slopes * (row.unsqueeze(1) - row.unsqueeze(0)).abs()
        self.register_buffer("bias", bias + paddle.triu(paddle.full([LENGTH, LENGTH], -1e9), 1))

    def forward(self, x):
        h = self.norm(x)
        b, t, _ = h.shape
        q, k, v = self.qkv(h).reshape([b, t, 3, HEADS, -1]).transpose([2, 0, 3, 1, 4]).unbind(0)
        a = F.softmax(paddle.matmul(q, k, transpose_y=True) * (WIDTH // HEADS) ** -0.5 + self.bias[:, :t, :t], -1)
        y = paddle.matmul(a, v).transpose([0, 2, 1, 3]).reshape([b, t, WIDTH])
        return x + self.out(y) + self.down(F.gelu(self.up(h), approximate=True))


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(3)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias_attr=False)
        self.temperature = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.words(tokens)))) / self.temperature


model = Model()
optimizer = paddle.optimizer.AdamW(
    6e-4, parameters=model.parameters(), weight_decay=0.1, apply_decay_param_fun=lambda name: "norm" not in name
)
for step in range(6):
    tokens = paddle.randint(0, WORDS, [4, LENGTH + 1])
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits, tokens[:, 1:], reduction="none").mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
