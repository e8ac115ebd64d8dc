# model: shared trunk, three heads
# batch: 64
# optimizer: AdamW
# feature: learned loss weights, padding by length, rates by layer
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Trunk(nn.Layer):
    def __init__(self, width=80):
        super().__init__()
        self.embedding, self.rnn = (
            nn.Embedding(4000, width),
            nn.SimpleRNN(width, width, num_layers=2, direction="bidirect"),
        )
        self.attention = nn.Linear(2 * width, 1)

    def forward(self, tokens, lengths):
        h, _ = self.rnn(self.embedding(tokens), sequence_length=lengths)
        mask = paddle.arange(tokens.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        score = paddle.where(mask, self.attention(h).squeeze(-1), paddle.full(mask.shape, -1e9))
        return (F.softmax(score).unsqueeze(-1) * h).sum(1)


trunk, sentiment, rating, topics = Trunk(), nn.Linear(160, 2), nn.Linear(160, 1), nn.Linear(160, 20)
log_variance = paddle.create_parameter([3], "float32", is_bias=True)
optimizer = paddle.optimizer.AdamW(
    1e-3,
    parameters=[
        {"params": trunk.parameters(), "learning_rate": 0.1, "weight_decay": 0.1},
        {"params": sentiment.parameters() + rating.parameters() + topics.parameters()},
        {"params": [log_variance], "weight_decay": 0.0},
    ],
)
for step in range(6):
    tokens, lengths = paddle.randint(0, 4000, [64, 40]), paddle.randint(5, 41, [64])
    h = trunk(tokens, lengths)
    losses = paddle.stack(
        [
            F.cross_entropy(sentiment(h), paddle.randint(0, 2, [64])),
            F.huber_loss(rating(h), paddle.rand([64, 1]))
            if hasattr(F, "huber_loss")
            else F.smooth_l1_loss(rating(h), paddle.rand([64, 1])),
            F.multi_label_soft_margin_loss(topics(h), paddle.randint(0, 2, [64, 20]).astype("float32")),
        ]
    )
    loss = (paddle.exp(-log_variance) * losses + log_variance).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
