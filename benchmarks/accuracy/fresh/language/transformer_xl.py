# model: Transformer-XL-like
# batch: 8
# optimizer: Adam
# feature: memory of the previous segment, Noam rate
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

VOCAB, WIDTH, HEADS, SEGMENT, MEMORY = 3000, 96, 4, 48, 48


class Layer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.ff = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, WIDTH))
        self.bias = self.create_parameter([HEADS, SEGMENT, SEGMENT + MEMORY])

    def forward(self, x, memory, mask):
        b, t, d = x.shape
        context = x if memory is None else paddle.concat([memory, x], axis=1)
        q = self.q(self.ln1(x)).reshape([b, t, HEADS, d // HEADS]).transpose([0, 2, 1, 3])
        k, v = paddle.split(self.kv(self.ln1(context)), 2, axis=-1)
        k = k.reshape([b, -1, HEADS, d // HEADS]).transpose([0, 2, 3, 1])
        v = v.reshape([b, -1, HEADS, d // HEADS]).transpose([0, 2, 1, 3])
        score = q.matmul(k) * (d // HEADS) ** -0.5 + self.bias[:, :, -context.shape[1] :]
        score = score + mask[:, -context.shape[1] :]
        x = x + self.o(F.softmax(score).matmul(v).transpose([0, 2, 1, 3]).reshape([b, t, d]))
        return x + self.ff(self.ln2(x))


class XL(nn.Layer):
    def __init__(self, depth=3):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.LayerList([Layer() for _ in range(depth)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens, memories):
        mask = paddle.triu(paddle.full([SEGMENT, SEGMENT + MEMORY], -1e4), diagonal=MEMORY + 1)
        x = self.embedding(tokens)
        kept = []
        for layer, memory in zip(self.layers, memories):
            kept.append(x.detach())
            x = layer(x, memory, mask)
        return self.norm(x).matmul(self.embedding.weight, transpose_y=True), kept


model = XL()
noam = paddle.optimizer.lr.NoamDecay(d_model=WIDTH, warmup_steps=400)
optimizer = paddle.optimizer.Adam(
    noam, beta2=0.98, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.25)
)
stream = paddle.randint(0, VOCAB, [8, SEGMENT * 8 + 1])
memories = [None] * 3
for start in range(0, SEGMENT * 8, SEGMENT):
    x, y = stream[:, start : start + SEGMENT], stream[:, start + 1 : start + SEGMENT + 1]
    logits, memories = model(x, memories)
    loss = F.cross_entropy(logits.reshape([-1, VOCAB]), y.reshape([-1]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    noam.step()
