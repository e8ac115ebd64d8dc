"""Notebooks as courses have them, of which neither the data nor the course's own package is here."""

from __future__ import annotations

HEAD = """
import numpy as np, paddle
from paddle import nn
"""
HELPER = "from absent_course import paddle as course\n" + HEAD
SMALL = """
net = nn.Sequential(nn.Conv2D(1, 2, 3, padding=1), nn.Flatten(), nn.Linear(2 * 28 * 28, 10))
loss = nn.CrossEntropyLoss()
trainer = paddle.optimizer.SGD(parameters=net.parameters())
train_iter, test_iter = course.load(batch_size=8)
"""
OWN_LOOP = """
timer, meter = course.Timer(), course.Accumulator(2)
for epoch in range(3):
    for X, y in train_iter:
        timer.start()
        l = loss(net(X), y)
        trainer.clear_grad()
        l.backward()
        trainer.step()
        meter.add(l, course.accuracy(net(X), y))
"""
CROPS = (
    HEAD
    + """
class Pictures(paddle.io.Dataset):
    def __init__(self, size):
        with open('absent/train.txt') as file:
            self.rows, self.size = file.read().split(), size
    def __getitem__(self, i):
        return crop(self.rows[i], self.size)
    def __len__(self):
        return len(self.rows)
batch_size, crop_size = 16, (40, 56)
train_iter = paddle.io.DataLoader(Pictures(crop_size), batch_size=batch_size)
net = nn.Conv2D(3, 5, 1)
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in train_iter:
    l = nn.functional.cross_entropy(net(x).transpose([0, 2, 3, 1]), y)
    l.backward()
    trainer.step()
    trainer.clear_grad()
"""
)
IN_TENSORS = (
    HEAD
    + """
def read():
    with open('absent/pairs.txt') as file:
        return file.read().split('\\n')
class Lines(paddle.io.Dataset):
    def __init__(self):
        lines = read()
        self.words = paddle.to_tensor([[len(word) for word in line.split()][:20] for line in lines])
        self.labels = []
        for line in lines:
            self.labels.append(paddle.to_tensor(len(line)))
    def __getitem__(self, i):
        return self.words[i], self.labels[i]
    def __len__(self):
        return len(self.labels)
loader = paddle.io.DataLoader(Lines(), batch_size=4)
net = nn.Sequential(nn.Embedding(100, 8), nn.Flatten(), nn.Linear(160, 3))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in loader:
    nn.functional.cross_entropy(net(x), y).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
SEVERAL = (
    HEAD
    + """
data = np.genfromtxt('./absent.dat', delimiter=',')
data = paddle.to_tensor((data - data.mean(axis=0)) / data.std(axis=0))
def get_data(size):
    rows = paddle.io.TensorDataset([data[:, :-1], data[:, -1]])
    return paddle.io.DataLoader(rows, batch_size=size), data.shape[1] - 1
data_iter, feature_dim = get_data(4)
def train(kind):
    net = nn.Linear(feature_dim, 1)
    trainer = kind(parameters=net.parameters())
    for X, y in data_iter:
        out = net(X)
        l = nn.functional.mse_loss(out, y.reshape(out.shape))
        trainer.clear_grad()
        l.backward()
        trainer.step()
for kind in (paddle.optimizer.SGD, paddle.optimizer.Adam):
    train(kind)
"""
)
BY_HAND = (
    HEAD
    + """
def get_data(size):
    data = paddle.to_tensor(np.genfromtxt('absent.dat', dtype=np.float32))
    rows = paddle.io.TensorDataset([data[:, :-1], data[:, -1]])
    return paddle.io.DataLoader(rows, batch_size=size), data.shape[1] - 1
def train(rounds=2):
    data_iter, feature_dim = get_data(4)
    w = paddle.normal(mean=0.0, std=0.01, shape=(feature_dim, 1))
    b = paddle.zeros((1,))
    w.stop_gradient = b.stop_gradient = False
    for _ in range(rounds):
        for X, y in data_iter:
            ((paddle.matmul(X, w) + b - y.reshape((-1, 1))) ** 2).mean().backward()
            with paddle.no_grad():
                for p in (w, b):
                    p.set_value(p - 0.1 * p.grad)
                    p.clear_gradient()
train()
"""
)
REVIEWS = (
    HEAD
    + """
def load(size, num_steps=6):
    rows, labels = np.load('absent.npy'), np.load('labels.npy')
    return paddle.io.DataLoader(paddle.io.TensorDataset([rows, labels]), batch_size=size)
batch_size, num_steps = 4, 6
train_iter = load(batch_size, num_steps)
net = nn.Sequential(nn.Embedding(50, 8), nn.Flatten(), nn.Linear(8 * num_steps, 2))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for X, y in train_iter:
    l = nn.functional.cross_entropy(net(X), y)
    l.backward()
    trainer.step()
    trainer.clear_grad()
"""
)
MASKED = (
    HEAD
    + """
rows = [line.split() for line in open('absent.txt').read().split('\\n')]
class Windows(paddle.io.Dataset):
    def __getitem__(self, i):
        return rows[i][0], rows[i]
    def __len__(self):
        return len(rows)
def collate(samples):
    most = max(len(context) for _, context in samples)
    centers, contexts, masks, labels = [], [], [], []
    for center, context in samples:
        centers += [center]
        contexts += [context + [0] * (most - len(context))]
        masks += [[1] * len(context) + [0] * (most - len(context))]
        labels += [[1] * len(context) + [0] * (most - len(context))]
    return (paddle.to_tensor(centers).reshape((-1, 1)), paddle.to_tensor(contexts),
            paddle.to_tensor(masks, dtype='float32'), paddle.to_tensor(labels, dtype='float32'))
pairs = paddle.io.DataLoader(Windows(), batch_size=8, collate_fn=collate)
words, near = nn.Embedding(50, 4), nn.Embedding(50, 4)
trainer = paddle.optimizer.Adam(parameters=[*words.parameters(), *near.parameters()])
for batch in pairs:
    center, context, mask, label = [one for one in batch]
    score = paddle.bmm(words(center), near(context).transpose((0, 2, 1))).reshape(label.shape)
    l = nn.functional.binary_cross_entropy_with_logits(score, label, weight=mask)
    l.backward()
    trainer.step()
    trainer.clear_grad()
"""
)
TRANSLATION = (
    HEAD
    + """
class Vocab:
    def __init__(self, lines):
        self.words = ['<pad>', '<bos>', *sorted({word for line in lines for word in line})]
        self.numbers = {word: number for number, word in enumerate(self.words)}
    def __len__(self):
        return len(self.words)
    def __getitem__(self, words):
        return [self[word] for word in words] if isinstance(words, list) else self.numbers.get(words, 0)
def read(path):
    with open(path) as file:
        return file.read()
def tokenize(text):
    source, target = [], []
    for line in text.split('\\n'):
        parts = line.split('\\t')
        if len(parts) == 2:
            source.append(parts[0].split(' '))
            target.append(parts[1].split(' '))
    return source, target
def array(lines, vocab, steps):
    rows = [vocab[line] for line in lines]
    return paddle.to_tensor([row[:steps] + [vocab['<pad>']] * (steps - len(row)) for row in rows])
def load(size, steps):
    source, target = tokenize(read('absent.txt'))
    one, other = Vocab(source), Vocab(target)
    rows = paddle.io.TensorDataset([array(source, one, steps), array(target, other, steps)])
    return paddle.io.DataLoader(rows, batch_size=size), one, other
train_iter, source, target = load(4, 9)
net = nn.Sequential(nn.Embedding(len(source), 8), nn.Linear(8, len(target)))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
def train(loader, vocab):
    for X, Y in loader:
        bos = paddle.to_tensor([vocab['<bos>']] * Y.shape[0]).reshape([-1, 1])
        l = nn.functional.cross_entropy(net(X), paddle.concat([bos, Y[:, :-1]], 1), ignore_index=vocab['<pad>'])
        l.backward()
        trainer.step()
        trainer.clear_grad()
train(train_iter, target)
"""
)
COUNTED = (
    HEAD
    + """
class Language:
    def __init__(self):
        self.numbers, self.count = {}, 2
    def add(self, word):
        if word not in self.numbers:
            self.numbers[word] = self.count
            self.count += 1
    def add_all(self, words):
        for word in words.split(' '):
            self.add(word)
def read():
    language = Language()
    lines = [line.strip() for line in open('absent.txt')]
    for line in lines:
        language.add_all(line)
    return language, range(3)
language, some = read()
rows = np.zeros((len(some), 6), 'int64')
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(rows)]), batch_size=3)
net = nn.Embedding(language.count, 4)
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for (x,) in loader:
    net(x).mean().backward()
    trainer.step()
    trainer.clear_grad()
"""
)
PAGES = (
    HEAD
    + """
import cv2, os
class Pages(paddle.io.Dataset):
    def __init__(self, folder):
        self.names, self.kinds = os.listdir(folder), {'a': 0}
    def __getitem__(self, i):
        page = cv2.imread(os.path.join('absent', self.names[i]), cv2.IMREAD_GRAYSCALE)
        corners = np.zeros((5, 4), 'float32')
        corners[0] = self.kinds[self.names[i]]
        return cv2.resize(page, (24, 16))[None].astype('float32'), corners
    def __len__(self):
        return len(self.names)
pages = Pages('absent')
train, test = paddle.io.random_split(pages, [len(pages) - 3, 3])
loader = paddle.io.DataLoader(train, batch_size=2)
net = nn.Sequential(nn.Conv2D(1, 2, 3, stride=2), nn.Flatten(), nn.Linear(154, 20))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in loader:
    nn.functional.mse_loss(net(x), y.flatten(1)).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
FOLDERS = (
    HEAD
    + """
import os
class Vocab(dict):
    def __init__(self, lines):
        super().__init__({'<pad>': 0})
        for line in lines:
            for word in line:
                self[word] = len(self)
def read(folder):
    texts, labels = [], []
    for label in ('pos', 'neg'):
        for name in os.listdir(os.path.join(folder, label)):
            with open(os.path.join(folder, label, name), 'rb') as file:
                texts.append(file.read().decode('utf-8').split())
                labels.append(1 if label == 'pos' else 0)
    return texts, labels
def load(size, steps=7):
    texts, labels = read('absent')
    vocab = Vocab(texts)
    rows = [([vocab.get(word, 0) for word in text] + [vocab['<pad>']] * steps)[:steps] for text in texts]
    rows = paddle.io.TensorDataset([paddle.to_tensor(rows), paddle.to_tensor(labels)])
    return paddle.io.DataLoader(rows, batch_size=size), vocab
loader, vocab = load(4)
net = nn.Sequential(nn.Embedding(len(vocab), 8), nn.Flatten(), nn.Linear(56, 2))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for X, y in loader:
    nn.functional.cross_entropy(net(X), y).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
FACES = (
    HEAD
    + """
class Faces(paddle.io.Dataset):
    def __init__(self, faces):
        self.faces = faces
    def __getitem__(self, i):
        return self.faces[i].astype('float32') / 255
    def __len__(self):
        return len(self.faces)
loader = paddle.io.DataLoader(Faces(np.load('absent.npy')), batch_size=4)
net = nn.Sequential(nn.Conv2D(3, 4, 4, 2, 1), nn.Conv2DTranspose(4, 3, 4, 2, 1))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for data in loader:
    picture = data
    nn.functional.mse_loss(net(picture), picture).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
IN_A_FUNCTION = (
    HEAD
    + """
class Solver:
    def __init__(self, data, batch_size=6):
        self.data, self.batch_size = data, batch_size
        self.weights = {'W': paddle.randn([5, 3])}
        self.weights['W'].stop_gradient = False
    def step(self):
        chosen = np.random.choice(self.data['X'].shape[0], self.batch_size)
        x = paddle.to_tensor(self.data['X'][chosen], dtype='float32')
        y = paddle.to_tensor(self.data['y'][chosen], dtype='int64')
        loss = nn.functional.cross_entropy(x @ self.weights['W'], y)
        loss.backward()
        with paddle.no_grad():
            for w in self.weights.values():
                w.set_value(w - 0.1 * w.grad)
                w.clear_gradient()
    def train(self):
        for t in range(100):
            self.step()
Solver(np.load('absent.npz')).train()
"""
)
HOUSES = (
    HEAD
    + """
import pandas as pd
rows = pd.read_csv('absent.csv')
features = paddle.to_tensor(rows.iloc[:, 1:-1].values.astype('float32'))
labels = paddle.to_tensor(rows.price.values.reshape(-1, 1), dtype='float32')
in_features = features.shape[1]
def train(net, features, labels, batch_size):
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([features, labels]), batch_size=batch_size)
    trainer = paddle.optimizer.Adam(parameters=net.parameters())
    for X, y in loader:
        nn.MSELoss()(net(X), y).backward()
        trainer.step()
        trainer.clear_grad()
train(nn.Linear(in_features, 1), features[:9], labels[:9], 4)
"""
)
SOURCES = {
    "a table in tensors": HOUSES,
    "a step in a function": IN_A_FUNCTION,
    "folders of texts": FOLDERS,
    "words are counted": COUNTED,
    "pages": PAGES,
    "a loader with its vocabularies": TRANSLATION,
    "steps": REVIEWS,
    "its loop is the package's": HELPER + SMALL + "course.train(net, train_iter, test_iter, loss, 3, trainer)",
    "its data is the package's": HELPER + SMALL + OWN_LOOP,
    "crops": CROPS,
    "a number in a tuple": SEVERAL,
    "sizes of tensors by hand": BY_HAND,
    "as long as the ids": MASKED,
    "one thing": FACES,
    "samples in tensors": IN_TENSORS,
}
