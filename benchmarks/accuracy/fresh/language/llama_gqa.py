# model: LLaMA-like
# batch: 4
# optimizer: AdamW
# feature: RMSNorm, rotary positions, grouped heads, SwiGLU, accumulation
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

VOCAB, WIDTH, HEADS, KV, LENGTH = 2400, 128, 8, 2, 96


class RMSNorm(nn.Layer):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0)), eps

    def forward(self, x):
        variance = x.astype("float32").pow(2).mean(-1, keepdim=True)
        return x * paddle.rsqrt(variance + self.eps) * self.weight


def rotate_half(x):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return paddle.concat([-b, a], axis=-1)


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.head = WIDTH // HEADS
        self.q = nn.Linear(WIDTH, WIDTH, bias_attr=False)
        self.k, self.v = (
            nn.Linear(WIDTH, KV * self.head, bias_attr=False),
            nn.Linear(WIDTH, KV * self.head, bias_attr=False),
        )
        self.o = nn.Linear(WIDTH, WIDTH, bias_attr=False)
        inverse = 1.0 / 10000 ** (paddle.arange(0, self.head, 2, dtype="float32") / self.head)
        angle = paddle.outer(paddle.arange(LENGTH, dtype="float32"), inverse)
        angle = paddle.concat([angle, angle], axis=-1)
        self.register_buffer("cos", angle.cos()[None, :, None, :], persistable=False)
        self.register_buffer("sin", angle.sin()[None, :, None, :], persistable=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q(x).reshape([b, t, HEADS, self.head])
        k, v = self.k(x).reshape([b, t, KV, self.head]), self.v(x).reshape([b, t, KV, self.head])
        q = q * self.cos[:, :t] + rotate_half(q) * self.sin[:, :t]
        k = k * self.cos[:, :t] + rotate_half(k) * self.sin[:, :t]
        k, v = k.repeat_interleave(HEADS // KV, axis=2), v.repeat_interleave(HEADS // KV, axis=2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, training=self.training)
        return self.o(out.reshape([b, t, WIDTH]))


class Mlp(nn.Layer):
    def __init__(self, hidden=344):
        super().__init__()
        self.gate, self.up, self.down = (
            nn.Linear(a, b, bias_attr=False) for a, b in ((WIDTH, hidden), (WIDTH, hidden), (hidden, WIDTH))
        )

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.n1, self.attention, self.n2, self.mlp = RMSNorm(WIDTH), Attention(), RMSNorm(WIDTH), Mlp()

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.mlp(self.n2(x))


class Llama(nn.Layer):
    def __init__(self, depth=3):
        super().__init__()
        self.embedding, self.blocks = nn.Embedding(VOCAB, WIDTH), nn.LayerList([Block() for _ in range(depth)])
        self.norm, self.head = RMSNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias_attr=False)

    def forward(self, tokens, labels=None):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].reshape([-1, VOCAB]), labels[:, 1:].reshape([-1])), logits


model = Llama()
no_decay = {p.name for n, p in model.named_parameters() if "norm" in n or n.endswith(".weight") and p.ndim == 1}
optimizer = paddle.optimizer.AdamW(
    3e-4,
    beta2=0.95,
    parameters=model.parameters(),
    weight_decay=0.1,
    apply_decay_param_fun=lambda name: name not in no_decay,
    grad_clip=nn.ClipGradByGlobalNorm(1.0),
)
for step in range(12):
    tokens = paddle.randint(0, VOCAB, [4, LENGTH])
    loss, _ = model(tokens, tokens)
    (loss / 2).backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.clear_grad()
