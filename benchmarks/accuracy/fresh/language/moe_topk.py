# model: mixture of experts
# batch: 16
# optimizer: AdamW
# feature: top-2 gating, tokens sent by nonzero
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

WIDTH, EXPERTS = 64, 4


class Moe(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS, bias_attr=False)
        self.experts = nn.LayerList(
            [nn.Sequential(nn.Linear(WIDTH, 128), nn.GELU(), nn.Linear(128, WIDTH)) for _ in range(EXPERTS)]
        )

    def forward(self, x):
        b, t, d = x.shape
        flat = x.reshape([-1, d])
        probability = F.softmax(self.gate(flat), axis=-1)
        weight, chosen = paddle.topk(probability, 2, axis=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        out = paddle.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            rows, slot = paddle.where(chosen == e)
            rows, slot = rows.flatten(), slot.flatten()
            if rows.shape[0] == 0:
                continue
            taken = paddle.gather(flat, rows)
            share = paddle.gather_nd(weight, paddle.stack([rows, slot], axis=1)).unsqueeze(-1)
            out = paddle.scatter(out, rows, expert(taken) * share + paddle.gather(out, rows), overwrite=True)
        importance = probability.mean(0)
        balance = EXPERTS * (importance * importance).sum()
        return out.reshape([b, t, d]), balance


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attention, self.moe = nn.MultiHeadAttention(WIDTH, 4), Moe()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        h = self.ln1(x)
        x = x + self.attention(h, h, h)
        y, balance = self.moe(self.ln2(x))
        return x + y, balance


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding, self.blocks, self.head = (
            nn.Embedding(1000, WIDTH),
            nn.LayerList([Block(), Block()]),
            nn.Linear(WIDTH, 1000),
        )

    def forward(self, tokens):
        x, total = self.embedding(tokens), 0.0
        for block in self.blocks:
            x, balance = block(x)
            total = total + balance
        return self.head(x), total


model = Model()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
for step in range(6):
    tokens = paddle.randint(0, 1000, [16, 65])
    logits, balance = model(tokens[:, :-1])
    loss = F.cross_entropy(logits, tokens[:, 1:]) + 0.01 * balance
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
