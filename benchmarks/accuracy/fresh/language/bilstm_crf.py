# model: BiLSTM-CRF
# batch: 32
# optimizer: Adam
# feature: forward algorithm in a loop
import paddle
import paddle.nn as nn

VOCAB, TAGS, LENGTH = 6000, 9, 30


class Crf(nn.Layer):
    def __init__(self, tags):
        super().__init__()
        self.transitions = self.create_parameter([tags, tags])
        self.start = self.create_parameter([tags], is_bias=True)
        self.end = self.create_parameter([tags], is_bias=True)

    def score(self, emissions, tags):
        batch, length, _ = emissions.shape
        picked = paddle.take_along_axis(emissions, tags.unsqueeze(-1), axis=2).squeeze(-1).sum(1)
        flat = tags[:, :-1] * self.transitions.shape[0] + tags[:, 1:]
        steps = paddle.gather(self.transitions.flatten(), flat.flatten()).reshape([batch, length - 1]).sum(1)
        return picked + steps + paddle.gather(self.start, tags[:, 0]) + paddle.gather(self.end, tags[:, -1])

    def partition(self, emissions):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            scores = alpha.unsqueeze(2) + self.transitions + emissions[:, t].unsqueeze(1)
            alpha = paddle.logsumexp(scores, axis=1)
        return paddle.logsumexp(alpha + self.end, axis=1)

    def forward(self, emissions, tags):
        return (self.partition(emissions) - self.score(emissions, tags)).mean()


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 100)
        self.lstm = nn.LSTM(100, 128, num_layers=2, direction="bidirectional", dropout=0.25)
        self.project = nn.Linear(256, TAGS)
        self.crf = Crf(TAGS)

    def forward(self, words, tags):
        hidden, (h, c) = self.lstm(self.embedding(words))
        return self.crf(self.project(hidden), tags)


model = Tagger()
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
for step in range(6):
    words = paddle.randint(0, VOCAB, [32, LENGTH])
    tags = paddle.randint(0, TAGS, [32, LENGTH])
    loss = model(words, tags)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    if step % 2 == 0:
        print(f"step {step} loss {float(loss):.3f}")
