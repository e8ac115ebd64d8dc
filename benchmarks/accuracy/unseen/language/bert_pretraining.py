# model: BERT-like
# batch: 8
# optimizer: Lamb
# feature: tied decoder, next-sentence head, token types
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

WIDTH, WORDS, LENGTH = 128, 3000, 48


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.types = (
            nn.Embedding(WORDS, WIDTH),
            nn.Embedding(LENGTH, WIDTH),
            nn.Embedding(2, WIDTH),
        )
        self.norm, self.dropout = nn.LayerNorm(WIDTH), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 512, activation="gelu", attn_dropout=0.1, act_dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.transform, self.after = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        self.bias = self.create_parameter([WORDS], is_bias=True)
        self.pooler, self.next = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, tokens, types, mask):
        places = paddle.arange(tokens.shape[1]).unsqueeze(0)
        x = self.dropout(self.norm(self.words(tokens) + self.places(places) + self.types(types)))
        x = self.encoder(x, ((1.0 - mask) * -1e4).unsqueeze([1, 2]))
        hidden = self.after(F.gelu(self.transform(x)))
        words = paddle.matmul(hidden, self.words.weight, transpose_y=True) + self.bias
        return words, self.next(paddle.tanh(self.pooler(x[:, 0])))


model = Model()
optimizer = paddle.optimizer.Lamb(1e-3, lamb_weight_decay=0.01, parameters=model.parameters())
for step in range(6):
    tokens, types = paddle.randint(0, WORDS, [8, LENGTH]), paddle.randint(0, 2, [8, LENGTH])
    labels = paddle.where(paddle.rand([8, LENGTH]) < 0.15, tokens, paddle.full_like(tokens, -100))
    words, following = model(tokens, types, paddle.ones([8, LENGTH]))
    loss = F.cross_entropy(words, labels, ignore_index=-100) + F.cross_entropy(following, paddle.randint(0, 2, [8]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
