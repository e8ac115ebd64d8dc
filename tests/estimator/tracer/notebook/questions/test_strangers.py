"""What notebooks of people nobody here knows were told wrong at first: each is a small program of the same kind."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

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
SOURCES = {
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


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


def test_numbers_that_a_loss_would_compare_all_with_all_are_not_suggested(traced):
    """`mse_loss` of [64] and [64, 1] is one of [64, 64], with a figure that nobody meant."""
    (asked,) = traced["ratings"]["questions"]
    assert asked["suggestion"].split()[:2] == ["int64[64]", "int64[64]"]
    assert asked["suggestion"].endswith("[64]")


def test_a_vocabulary_of_the_most_common_words_is_as_large_as_the_cells_say(traced):
    suggested = {one["name"]: one["suggestion"] for one in traced["common"]["questions"]}
    assert (suggested["len_vocab"], suggested["len_tags"]) == (702, 10)
    assert suggested["loader"].endswith(" int64[32]"), "an entry of an array is one number"


def test_a_vocabulary_tells_words_from_lists_of_them(traced):
    assert traced["words"]["status"] == "ok", traced["words"]["questions"]
    assert traced["words"]["inputs"] == ["int64[16, 24]", "float32[16]"]


def test_numbers_of_made_up_pictures_are_no_labels(traced):
    """A black mask less one is a class that there is not."""
    assert (traced["masks"]["status"], traced["masks"]["questions"]) == ("ok", [])
    assert traced["masks"]["inputs"] == ["float32[4, 3, 32, 40]", "int64[4, 1, 32, 40]"]


@pytest.mark.parametrize("name", ["opencv", "paddle"])
def test_a_picture_that_opencv_does_not_find_is_data_that_is_not_here(traced, name):
    assert traced[name]["status"] == "ok", traced[name]["stop"]
    assert "data_absent" in traced[name]["notes"]


def test_a_loop_of_which_the_update_changes_nothing_has_a_step_all_the_same(traced):
    assert traced["scratch"]["status"] == "ok"
    assert traced["scratch"]["batch_size"] == 32


def test_a_training_within_a_library_that_is_not_here_asks_for_the_library(traced):
    asked = [one["params"] for one in traced["agent"]["questions"]]
    assert {"module": "absent_agents"} in asked


@pytest.mark.parametrize("name", ["tensors", "held"])
def test_tensors_that_functions_make_of_lines_are_followed_to_the_lines(traced, name):
    """Lengths are one number a line, and a target may be longer than a source."""
    assert (traced[name]["status"], traced[name]["questions"]) == ("ok", [])
    assert traced[name]["inputs"] == ["int64[16, 9]", "int64[16]", "int64[16, 12]", "int64[16]"]


def test_a_tensor_without_a_name_is_followed_to_what_it_is_made_of(traced):
    """`TensorDataset([rows, to_tensor(kinds)])`: the kinds are one number a text, not a column."""
    assert traced["reviews"]["questions"] == []
    assert traced["reviews"]["inputs"] == ["int64[16, 30]", "int64[16]"]


def test_what_is_made_up_to_follow_a_batch_is_in_no_figure(traced):
    """What a function that failed has made up is in cycles of references: it goes all the same."""
    held = 8 * 320 * (9 + 1 + 12 + 1)  # tensors of all lines, which a run without them does not count
    assert "tensors_uncounted" in traced["tensors"]["notes"]
    assert traced["tensors"]["peak"] == traced["present"]["peak"] - held


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("rate", 8, "TypeError: learning rate should be float or LRScheduler, got <class 'int'> here"),
        ("fed", 9, "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_wrong_type_is_refused_beside_data_that_is_not_here(traced, name, line, said):
    """`SGD(learning_rate=1)`, `DataLoader(data, 16)`, whose second argument is no batch size."""
    assert traced[name]["status"] == "would_stop", traced[name]["questions"]
    assert (traced[name]["stop"]["line"], traced[name]["stop"]["error"]) == (line, said)


def test_a_model_of_a_network_that_is_not_known_is_none():
    """`paddle.Model(Bert(...))` whose network a library would have made: it has no parameters to look at."""
    import paddle

    from jupyter_paddle_gpu.estimator.tracer.memory.ledger import Ledger
    from jupyter_paddle_gpu.estimator.tracer.notebook.questions.models import Models
    from jupyter_paddle_gpu.estimator.tracer.undecided.absent_data import Unseen

    model = paddle.Model.__new__(paddle.Model)
    model.network = Unseen()
    assert model not in Models(Ledger()).wrapped


def test_ids_that_the_program_makes_one_hot_are_suggested(traced):
    """A recurrent layer takes them so; how many stand in a row is what a call in the cells gives by name."""
    (asked,) = traced["steps"]["questions"]
    assert (asked["kind"], asked["suggestion"]) == ("batch", "int64[64,24] int64[64,24]")


def test_a_shape_in_the_cells_is_nothing_that_was_printed(traced):
    """What was printed is so, and a program that refuses it stops; a tuple of sizes may be anything's."""
    assert traced["observed"]["status"] != "would_stop", traced["observed"]["stop"]
    assert [one["suggestion"] for one in traced["observed"]["questions"]] == ["float32[1,36,52]"]
