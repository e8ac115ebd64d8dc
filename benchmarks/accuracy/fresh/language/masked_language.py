# model: BERT-like
# batch: 16
# optimizer: AdamW
# feature: loss on masked positions only (masked_select)
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

VOCAB, WIDTH, LENGTH = 3000, 96, 64


class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        self.word, self.position = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.norm, self.drop = nn.LayerNorm(WIDTH, epsilon=1e-12), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 384, 0.1, "gelu", attn_dropout=0.1, act_dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.transform, self.head_norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        self.bias = self.create_parameter([VOCAB], is_bias=True)

    def forward(self, tokens, chosen):
        x = self.drop(self.norm(self.word(tokens) + self.position(paddle.arange(LENGTH).unsqueeze(0))))
        x = self.encoder(x)
        picked = paddle.masked_select(x, chosen.unsqueeze(-1).expand_as(x)).reshape([-1, WIDTH])
        h = self.head_norm(F.gelu(self.transform(picked)))
        return paddle.matmul(h, self.word.weight, transpose_y=True) + self.bias


model = Bert()
optimizer = paddle.optimizer.AdamW(1e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(6):
    tokens = paddle.randint(5, VOCAB, [16, LENGTH])
    chosen = paddle.rand(tokens.shape) < 0.15
    corrupted = paddle.where(chosen, paddle.full_like(tokens, 3), tokens)
    logits = model(corrupted, chosen)
    labels = paddle.masked_select(tokens, chosen)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
