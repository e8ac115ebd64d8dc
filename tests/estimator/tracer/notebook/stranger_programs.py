"""Programs of strangers without their data."""

RATINGS = """
import paddle
from paddle import nn
rows = open('absent/u.data').read().split()
users, items, stars = ([int(row[k]) for row in rows] for k in range(3))
data = paddle.io.TensorDataset([paddle.to_tensor(users), paddle.to_tensor(items), paddle.to_tensor(stars)])
loader = paddle.io.DataLoader(data, batch_size=64, shuffle=True)
class Factors(nn.Layer):
    def __init__(self):
        super().__init__()
        self.user, self.item, self.bias = nn.Embedding(50, 8), nn.Embedding(90, 8), nn.Embedding(50, 1)
    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(axis=1) + self.bias(user).squeeze()
net = Factors()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for user, item, star in loader:
    loss = nn.functional.mse_loss(net(user, item), star.astype('float32'))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WORDS = """
import paddle
from paddle import nn
class Vocab:
    def __init__(self, sentences):
        self.known = {word: n for n, word in enumerate(sorted({word for one in sentences for word in one}))}
    def __len__(self):
        return len(self.known)
    def __getitem__(self, words):
        return self.known.get(words, 0) if isinstance(words, str) else [self[word] for word in words]
class Pairs(paddle.io.Dataset):
    def __init__(self, path, length):
        super().__init__()
        sentences = [line.split() for line in open(path)]
        self.vocab = Vocab(sentences)
        self.ids, self.sizes = [], []
        for words in sentences:
            words = words[:length]
            self.ids.append(paddle.to_tensor(self.vocab[words] + [0] * (length - len(words)), dtype='int64'))
            self.sizes.append(paddle.to_tensor(len(words), dtype='float32'))
    def __getitem__(self, i):
        return self.ids[i], self.sizes[i]
    def __len__(self):
        return len(self.ids)
loader = paddle.io.DataLoader(Pairs('absent.txt', 24), batch_size=16)
table, out = nn.Embedding(300, 8), nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(parameters=[*table.parameters(), *out.parameters()])
for ids, sizes in loader:
    known = (paddle.arange(24)[None, :].astype('float32') < sizes[:, None]).astype('float32')
    (out(table(ids)).squeeze(-1) * known).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
MASKS = """
import numpy as np, os, paddle
from PIL import Image
from paddle import nn
class Pets(paddle.io.Dataset):
    def __init__(self, folder):
        self.names = sorted(os.listdir(folder))
    def __getitem__(self, i):
        picture = np.array(Image.open(self.names[i]).convert('RGB').resize((40, 32)), 'float32').transpose((2, 0, 1))
        mask = np.array(Image.open(self.names[i]).convert('L').resize((40, 32))).astype('int64') - 1
        return picture, mask[None]
    def __len__(self):
        return len(self.names)
model = paddle.Model(nn.Conv2D(3, 3, 1))
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), nn.CrossEntropyLoss(axis=1))
model.fit(Pets('absent'), batch_size=4, epochs=2)
"""
OPENCV = """
import pathlib, sys, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "cv2.py").write_text("def imread(path, flags=1): return None")
sys.path.insert(0, str(folder))
"""
PICTURE = """
import paddle
{imports}
picture = {read}[..., ::-1]
net = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([2, 3, 16, 16])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SCRATCH = """
import paddle
def update(parameters, rate, size):
    with paddle.no_grad():
        for one in parameters:
            one -= rate * one.grad / size  # another tensor in Paddle: what is trained stays as it was
            one.clear_gradient()
weight = paddle.randn([20, 3])
weight.stop_gradient = False
data = paddle.io.TensorDataset([paddle.rand([256, 20]), paddle.rand([256, 3])])
for x, y in paddle.io.DataLoader(data, batch_size=32):
    loss = ((x @ weight - y) ** 2).sum()
    loss.backward()
    update([weight], 0.1, 32)
"""
COMMON = """
import collections, numpy as np, pandas as pd, paddle
from paddle import nn
table = pd.read_csv('absent.csv')
counter = collections.Counter()
for text in table['text']:
    counter.update(text.split())
vocab = {'[PAD]': 0, '[UNK]': 1}
for n, (word, _) in enumerate(counter.most_common(700)):
    vocab[word] = n + 2
tags = {tag: n for n, tag in enumerate(sorted(set(table['tag'])))}
ids = np.array([[vocab.get(word, 1) for word in text.split()][:12] for text in table['text']], dtype='int64')
labels = table['tag'].map(tags).values.astype('int64')
class Texts(paddle.io.Dataset):
    def __init__(self, ids, labels):
        self.ids, self.labels = ids, labels
    def __getitem__(self, i):
        return self.ids[i], self.labels[i]
    def __len__(self):
        return len(self.ids)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(len(vocab), 16), nn.Linear(16, len(tags))
    def forward(self, ids):
        return self.out(self.table(ids).mean(axis=1))
net = Net()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for ids, label in paddle.io.DataLoader(Texts(ids, labels), batch_size=32):
    nn.functional.cross_entropy(net(ids), label).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
AGENT = """
import numpy, paddle
import absent_agents
class Model(absent_agents.Model):
    def __init__(self):
        super().__init__()
        self.out = paddle.nn.Linear(4, 2)
agent = absent_agents.Agent(absent_agents.DQN(Model()))
for step in range(10):
    loss = agent.learn(numpy.zeros((8, 4)), numpy.zeros(8))
"""
LINES = """
import paddle
from paddle import nn
def read():
    with open('absent/pairs.txt') as file:
        return file.read()
def cleaned(text):
    letters = [letter.lower() for letter in text]
    return ''.join(letters)
def tokenize(text):
    source, target = [], []
    for line in text.split('\\n'):
        parts = line.split('\\t')
        if len(parts) == 2:
            source.append(parts[0].split(' '))
            target.append(parts[1].split(' '))
    return source, target
class Vocab:
    def __init__(self, lines):
        self.known = {word: n for n, word in enumerate(['<pad>', '<eos>', *sorted({w for one in lines for w in one})])}
    def __getitem__(self, words):
        return [self[word] for word in words] if isinstance(words, (list, tuple)) else self.known.get(words, 0)
def build(lines, vocab, steps):
    ids = [vocab[line] + [vocab['<eos>']] for line in lines]
    ids = [line[:steps] if len(line) > steps else line + [vocab['<pad>']] * (steps - len(line)) for line in ids]
    ids = paddle.to_tensor(ids)
    return ids, (ids != vocab['<pad>']).astype('int32').sum(1)
class Pairs(paddle.io.Dataset):
    def __init__(self, *held):
        self.held, self.held_lengths, self.target, self.target_lengths = held
    def __getitem__(self, i):
        return self.held[i], self.held_lengths[i], self.target[i], self.target_lengths[i]
    def __len__(self):
        return len(self.held)
source, target = tokenize(cleaned(read()))
before, after = Vocab(source), Vocab(target)
ids, sizes = build(source, before, 9)
wanted, wanted_sizes = build(target, after, 12)
data = DATA
table, out = nn.Embedding(300, 8), nn.Linear(8, 40)
optimizer = paddle.optimizer.SGD(parameters=[*table.parameters(), *out.parameters()])
for x, n, y, m in paddle.io.DataLoader(data, batch_size=16):
    states = table(x).mean(axis=1, keepdim=True).tile([1, y.shape[1], 1])
    known = (paddle.arange(y.shape[1])[None, :] < m[:, None]).astype('float32')
    (nn.functional.cross_entropy(out(states), y, reduction='none').squeeze(-1) * known).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
REVIEWS = """
import os, paddle
from paddle import nn
def read(folder):
    texts, kinds = [], []
    for kind in ('pos', 'neg'):
        for name in os.listdir(os.path.join(folder, kind)):
            with open(os.path.join(folder, kind, name)) as file:
                texts.append(file.read().lower())
                kinds.append(1 if kind == 'pos' else 0)
    return texts, kinds
def loader(arrays, size):
    return paddle.io.DataLoader(paddle.io.TensorDataset(arrays), batch_size=size, shuffle=True)
texts, steps = read('absent/reviews'), 30
known = {word: n + 1 for n, word in enumerate(sorted({word for text in texts[0] for word in text.split()}))}
rows = paddle.to_tensor([([known.get(word, 0) for word in text.split()] + [0] * steps)[:steps] for text in texts[0]])
batches = loader([rows, paddle.to_tensor(texts[1])], 16)
net = nn.Sequential(nn.Embedding(300, 8), nn.Flatten(), nn.Linear(240, 2))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in batches:
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PRESENT = """
import os, pathlib, tempfile
os.chdir(tempfile.mkdtemp())
pathlib.Path('absent').mkdir()
lines = [' '.join(f'w{n}' for n in range(2, 3 + k % 20)) for k in range(320)]
pathlib.Path('absent/pairs.txt').write_text('\\n'.join(f'{line}\\t{line} .' for line in lines))
"""
TYPES = """
import paddle
from paddle import nn
rows = [[int(n) for n in row.split()][:8] for row in open('absent.txt').read().split('\\n')]
data = paddle.io.TensorDataset([paddle.to_tensor(rows)])
loader = paddle.io.DataLoader(data, LOADER)
net = nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 2))
optimizer = paddle.optimizer.SGD(RATE, parameters=net.parameters())
for x, in loader:
    net(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
OBSERVED = """
import numpy as np, paddle
from paddle import nn
resized = (1, 36, 52)
net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.Flatten(), nn.Linear(6800, 2))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
batch_size = 32
seen = open('absent.bin').read()
for step in range(40):
    one = np.expand_dims(seen, axis=0)
    loss = net(paddle.to_tensor(one, dtype='float32')).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
STEPS = """
import numpy as np, paddle
from paddle import nn
class Novel:
    def __init__(self, batch_size, num_steps):
        rows = paddle.to_tensor(np.load('absent.npy'))
        self.size, self.x, self.y = batch_size, rows[:, :-1], rows[:, 1:]
    def loader(self, indices):
        tensors = tuple(one[indices] for one in (self.x, self.y))
        return paddle.io.DataLoader(paddle.io.TensorDataset(tensors), batch_size=self.size, shuffle=True)
data = Novel(batch_size=64, num_steps=24)
class Letters(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(28, 16), nn.Linear(16, 28)
    def forward(self, x):
        return self.out(self.rnn(nn.functional.one_hot(x, 28))[0])
net = Letters()
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in data.loader(slice(0, 1000)):
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SINGLE = """
import json, os, paddle
from paddle import nn
class Meshes(paddle.io.Dataset):
    def __init__(self, path):
        super().__init__()
        try:
            with open(os.path.join(path, 'meta.json')) as lines:
                self.meta = json.load(lines)
        except FileNotFoundError as problem:
            print(problem)
            quit()
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        return paddle.ones([4]), paddle.ones([1])
def train(meshes):
    net = nn.Linear(4, 1)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for i, (x, y) in enumerate(meshes):
        (net(x) - y).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
train(MESHES)
"""
RIGHT = """
import pickle
import paddle
from paddle import nn
with open("absent.pkl", "rb") as file:
    loader = pickle.load(file)
net = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
batch_size = 12
for epoch in range(2):
    for image, label in loader:
        output = net(image)
        nn.functional.cross_entropy(output, label).backward()
        optimizer.step()
        optimizer.clear_grad()
        _, found = output.topk(5, 1, True, True)
        print((found.t() == label).astype("float32").sum().item())
"""
SOURCES = {
    "right": RIGHT,
    "single": SINGLE.replace("MESHES", "Meshes('absent')"),
    "bar": "from tqdm import tqdm\n" + SINGLE.replace("MESHES", "tqdm(Meshes('absent'))"),
    "steps": STEPS,
    "rate": TYPES.replace("LOADER", "batch_size=16").replace("RATE", "learning_rate=1"),
    "fed": TYPES.replace("LOADER", "16").replace("RATE", "0.1"),
    "observed": OBSERVED,
    "reviews": REVIEWS,
    "present": PRESENT + LINES.replace("DATA", "paddle.io.TensorDataset([ids, sizes, wanted, wanted_sizes])"),
    "tensors": LINES.replace("DATA", "paddle.io.TensorDataset([ids, sizes, wanted, wanted_sizes])"),
    "held": LINES.replace("DATA", "Pairs(ids, sizes, wanted, wanted_sizes)"),
    "ratings": RATINGS, "words": WORDS, "masks": MASKS, "scratch": SCRATCH, "agent": AGENT, "common": COMMON,
    "opencv": OPENCV + PICTURE.format(imports="import cv2", read="cv2.imread('absent.jpg')"),
    "paddle": OPENCV + PICTURE.format(imports="", read="paddle.vision.image_load('absent.jpg', backend='cv2')"),
}  # fmt: skip
