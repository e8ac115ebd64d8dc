/** Cards as NVML's stand-in tells of them, and a notebook that asks a question before it can be estimated. */

import { notebook } from './server';

const GIB = 2 ** 30;

/** A card with room, one that somebody fills, one that is lost. */
export const CARDS = [
  'count 3',
  `used 0 ${20 * GIB}`,
  `used 1 ${80 * GIB}`,
  `process 1 1 ${79 * GIB}`,
  'memory 2 15'
];
/** The same after whoever filled the second one has left. */
export const CARDS_LATER = ['count 3', `used 0 ${20 * GIB}`, 'used 1 0', 'memory 2 15'];

/** With simulated ones beside them. */
export const WITH_CARDS = {
  serverOptions: { cards: CARDS, environment: { PADDLE_GPU_SIMULATE: 'RTX 4090' } }
};

/**
 * A training that needs a file that is not there; samples of a batch and the LSTM's width say how much it takes. Seconds
 * behind each step leave the processor to others.
 */
export function tagger(samples: number, width: number, rest = 0): object {
  return notebook([
    `import paddle
from paddle import nn
vocab_size = len(open("corpus.txt").read().split())
LENGTH = 128`,
    `class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 256)
        self.lstm = nn.LSTM(256, ${width}, num_layers=2)
        self.head = nn.Linear(${width}, 9)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])

model = Tagger()
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())`,
    `${rest ? 'import time\n' : ''}for step in range(400):
    x = paddle.randint(0, vocab_size, [${samples}, LENGTH])
    y = paddle.randint(0, 9, [${samples}, LENGTH])
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()${rest ? `\n    time.sleep(${rest})` : ''}`
  ]);
}

/** Two cards of 24 GB. */
export const SMALL_CARDS = [
  'count 2',
  ...[0, 1].flatMap(card => [
    `name ${card} NVIDIA GeForce RTX 3090`,
    `total ${card} ${24 * GIB}`
  ])
];

/** A training that fits neither of them with its own batch, and any card with a small one. */
export function wide(batch = 1_000_000): object {
  return notebook([
    `import paddle

BATCH_SIZE = ${batch}
net = paddle.nn.Sequential(
    paddle.nn.Linear(1000, 4000), paddle.nn.ReLU(), paddle.nn.Linear(4000, 10)
)
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())`,
    `for step in range(400):
    loss = net(paddle.rand([BATCH_SIZE, 1000])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()`
  ]);
}
