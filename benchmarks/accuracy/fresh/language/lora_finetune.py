# model: encoder with LoRA
# batch: 16
# optimizer: AdamW
# feature: frozen base, low-rank adaptors
import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class LoraLinear(nn.Layer):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.stop_gradient = True
        cin, cout = base.weight.shape
        self.a = self.create_parameter(
            [cin, rank], default_initializer=nn.initializer.KaimingUniform(negative_slope=math.sqrt(5))
        )
        self.b = self.create_parameter([rank, cout], default_initializer=nn.initializer.Constant(0.0))
        self.scale = alpha / rank
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        return self.base(x) + (self.dropout(x) @ self.a @ self.b) * self.scale


class Classifier(nn.Layer):
    def __init__(self, width=128):
        super().__init__()
        self.embedding, self.position = nn.Embedding(5000, width), nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(width, 4, 512, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, tokens):
        mask = ((tokens == 0).astype("float32") * -1e4).unsqueeze([1, 2])
        x = self.embedding(tokens) + self.position(paddle.arange(tokens.shape[1]))
        return self.head(paddle.tanh(self.pooler(self.encoder(x, mask)[:, 0])))


model = Classifier()
for p in model.parameters():
    p.stop_gradient = True
for layer in model.encoder.layers:
    layer.self_attn.q_proj = LoraLinear(layer.self_attn.q_proj)
    layer.self_attn.v_proj = LoraLinear(layer.self_attn.v_proj)
for p in model.head.parameters():
    p.stop_gradient = False
trainable = [p for p in model.parameters() if not p.stop_gradient]
print(sum(p.size for p in trainable), "of", sum(p.size for p in model.parameters()))
optimizer = paddle.optimizer.AdamW(1e-3, parameters=trainable, weight_decay=0.01)
model.train()
for step in range(6):
    tokens, labels = paddle.randint(0, 5000, [16, 64]), paddle.randint(0, 3, [16])
    loss = F.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
