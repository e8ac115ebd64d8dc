# model: GRU encoder, Bahdanau decoder
# batch: 24
# optimizer: Adam
# feature: teacher forcing, cells in a loop
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

SOURCE, TARGET, WIDTH, MAX = 4000, 3500, 160, 18


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(SOURCE, WIDTH, padding_idx=0)
        self.gru = nn.GRU(WIDTH, WIDTH, direction="bidirect")
        self.bridge = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, lengths):
        outputs, hidden = self.gru(self.embedding(x), sequence_length=lengths)
        hidden = paddle.tanh(self.bridge(paddle.concat([hidden[0], hidden[1]], axis=-1)))
        return outputs, hidden


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(2 * WIDTH, WIDTH)
        self.score = nn.Linear(WIDTH, 1, bias_attr=False)

    def forward(self, hidden, outputs, mask):
        energy = paddle.tanh(self.query(hidden).unsqueeze(1) + self.key(outputs))
        score = self.score(energy).squeeze(-1)
        score = score + (1.0 - mask) * -1e9
        weight = F.softmax(score, axis=-1)
        return paddle.bmm(weight.unsqueeze(1), outputs).squeeze(1), weight


class Decoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TARGET, WIDTH)
        self.attention = Attention()
        self.cell = nn.GRUCell(3 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH + 2 * WIDTH, TARGET)

    def forward(self, token, hidden, outputs, mask):
        context, _ = self.attention(hidden, outputs, mask)
        x = paddle.concat([self.embedding(token), context], axis=-1)
        _, hidden = self.cell(x, hidden)
        return self.out(paddle.concat([hidden, context], axis=-1)), hidden


encoder, decoder = Encoder(), Decoder()
parameters = encoder.parameters() + decoder.parameters()
optimizer = paddle.optimizer.Adam(2e-3, parameters=parameters, grad_clip=nn.ClipGradByNorm(1.0))
for step in range(6):
    source = paddle.randint(1, SOURCE, [24, 20])
    target = paddle.randint(1, TARGET, [24, MAX])
    lengths = paddle.full([24], 20, dtype="int64")
    mask = (source != 0).astype("float32")
    outputs, hidden = encoder(source, lengths)
    loss = 0
    token = target[:, 0]
    for t in range(1, MAX):
        logits, hidden = decoder(token, hidden, outputs, mask)
        loss += F.cross_entropy(logits, target[:, t])
        token = target[:, t]
    loss = loss / MAX
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
