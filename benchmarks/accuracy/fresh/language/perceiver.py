# model: Perceiver-like
# batch: 8
# optimizer: Lamb
# feature: cross-attention, learned queries
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Cross(nn.Layer):
    def __init__(self, width, context):
        super().__init__()
        self.nq, self.nc = nn.LayerNorm(width), nn.LayerNorm(context)
        self.attention = nn.MultiHeadAttention(width, 4, kdim=context, vdim=context)
        self.nf, self.ff = (
            nn.LayerNorm(width),
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate=True), nn.Linear(2 * width, width)),
        )

    def forward(self, queries, context):
        context = self.nc(context)
        queries = queries + self.attention(self.nq(queries), context, context)
        return queries + self.ff(self.nf(queries))


class Perceiver(nn.Layer):
    def __init__(self, width=96, latents=32, classes=10):
        super().__init__()
        self.latents = self.create_parameter(
            [1, latents, width], default_initializer=nn.initializer.TruncatedNormal(std=0.02)
        )
        self.stem = nn.Conv2D(3, 40, 3, padding=1)
        self.position = self.create_parameter([1, 24 * 24, 24])
        self.cross = nn.LayerList([Cross(width, 64), Cross(width, 64)])
        self.own = nn.TransformerEncoderLayer(width, 4, 192, 0.0, normalize_before=True)
        self.queries = self.create_parameter([1, classes, width])
        self.decode, self.head = Cross(width, width), nn.Linear(width, 1)

    def forward(self, image):
        x = self.stem(image).flatten(2).transpose([0, 2, 1])
        b = x.shape[0]
        x = paddle.concat([x, self.position.expand([b, -1, -1])], axis=-1)
        z = self.latents.tile([b, 1, 1])
        for cross in self.cross:
            z = self.own(cross(z, x))
        return self.head(self.decode(self.queries.expand([b, -1, -1]), z)).squeeze(-1)


model = Perceiver()
optimizer = paddle.optimizer.Lamb(2e-3, lamb_weight_decay=0.01, parameters=model.parameters())
for step in range(6):
    x, y = paddle.randn([8, 3, 24, 24]), paddle.randint(0, 2, [8, 10]).astype("float32")
    loss = F.binary_cross_entropy_with_logits(model(x), y, pos_weight=paddle.full([10], 2.0))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
