# model: encoder-decoder with relative bias
# batch: 4
# optimizer: AdamW
# feature: relative position bias, RMS norm, gated GELU, shared embedding
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

WIDTH, HEADS, WORDS = 64, 4, 1200


class RMSNorm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([WIDTH], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        return self.weight * x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Attention(nn.Layer):
    def __init__(self, biased):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias_attr=False) for _ in range(4))
        self.bias = nn.Embedding(32, HEADS) if biased else None

    def forward(self, x, memory, causal=False):
        split = lambda y: y.reshape([y.shape[0], y.shape[1], HEADS, -1]).transpose([0, 2, 1, 3])
        q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
        scores = paddle.matmul(q, k, transpose_y=True)
        if self.bias is not None:
            distance = paddle.arange(x.shape[1]).unsqueeze(1) - paddle.arange(memory.shape[1]).unsqueeze(0)
            scores = scores + self.bias(paddle.clip(distance + 16, 0, 31)).transpose([2, 0, 1]).unsqueeze(0)
        if causal:
            scores = scores + paddle.triu(paddle.full([x.shape[1], x.shape[1]], -1e9), 1)
        y = paddle.matmul(F.softmax(scores, -1), v).transpose([0, 2, 1, 3])
        return self.o(y.reshape([x.shape[0], x.shape[1], WIDTH]))


class Feed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (
            nn.Linear(WIDTH, 160, bias_attr=False),
            nn.Linear(WIDTH, 160, bias_attr=False),
            nn.Linear(160, WIDTH, bias_attr=False),
        )

    def forward(self, x):
        return self.c(F.gelu(self.a(x)) * self.b(x))


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.encode = nn.LayerList([nn.LayerList([RMSNorm(), Attention(True), RMSNorm(), Feed()]) for _ in range(2)])
        self.decode = nn.LayerList(
            [
                nn.LayerList([RMSNorm(), Attention(True), RMSNorm(), Attention(False), RMSNorm(), Feed()])
                for _ in range(2)
            ]
        )
        self.last = RMSNorm()

    def forward(self, source, target):
        x = self.words(source)
        for n1, attention, n2, feed in self.encode:
            h = n1(x)
            x = x + attention(h, h)
            x = x + feed(n2(x))
        y = self.words(target)
        for n1, attention, n2, cross, n3, feed in self.decode:
            h = n1(y)
            y = y + attention(h, h, causal=True)
            y = y + cross(n2(y), x)
            y = y + feed(n3(y))
        return paddle.matmul(self.last(y), self.words.weight, transpose_y=True)


model = Model()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(6):
    source, target = paddle.randint(0, WORDS, [4, 40]), paddle.randint(0, WORDS, [4, 25])
    logits = model(source, target[:, :-1])
    loss = F.cross_entropy(logits.reshape([-1, WORDS]), target[:, 1:].reshape([-1]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
