"""Questions of notebooks whose data is written, fetched, drawn or looked up: each has an answer to suggest."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

_HEAD = """
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
"""
_STEPS = """
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(2):
    for x, y in loader:
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()
"""
WRITTEN = f"""{_HEAD}
def collect(path, place):
    signs = set()
    with open(path) as file:
        for line in file.readlines():
            for sign in line:
                signs.add(sign)
    known = {{sign: n for n, sign in enumerate(signs)}}
    known['<pad>'] = len(known)
    with open(place, 'w') as file:
        file.write(str(known))
def table(place):
    with open(place) as file:
        return eval(file.readlines()[0])
collect('absent.txt', 'signs.txt')
known = table('signs.txt')
class Lines(paddle.io.Dataset):
    def __init__(self):
        with open('lines.txt') as file:
            self.rows = [line.split() for line in file]
    def __getitem__(self, i):
        ids = [int(one) for one in self.rows[i]][:20]
        ids = np.pad(ids, [0, 20 - len(ids)], 'constant', constant_values=known['<pad>'])
        return ids.astype('int64'), np.array(int(self.rows[i][0])).astype('int64')
    def __len__(self):
        return len(self.rows)
loader = paddle.io.DataLoader(Lines(), batch_size=8)
net = nn.Sequential(nn.Embedding(len(known), 8), nn.Flatten(), nn.Linear(160, 2))
{_STEPS}"""
FETCHED = f"""{_HEAD}
from paddle.vision import transforms
folder = paddle.utils.download.get_path_from_url('http://example.org/pictures.zip', 'data')
resize = transforms.Compose([transforms.Resize((24, 16)), transforms.ToTensor()])
pictures = paddle.vision.datasets.DatasetFolder(folder, transform=resize)
loader = paddle.io.DataLoader(pictures, batch_size=8)
net = nn.Sequential(nn.Flatten(), nn.Linear(1152, 4))
{_STEPS}"""
QUERIED = f"""{_HEAD}
import sqlite3
with_all = sqlite3.connect('absent/shop.db')
rows = with_all.execute('SELECT * FROM orders').fetchall()
people = len(set(row[0] for row in rows))
columns = np.array([row[1:-1] for row in rows])
class Orders(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.int64(rows[i][0]), columns[i], np.int64(rows[i][-1])
    def __len__(self):
        return len(rows)
loader = paddle.io.DataLoader(Orders(), batch_size=8)
class Net(nn.Layer):
    def __init__(self, people, wide):
        super().__init__()
        self.people, self.out = nn.Embedding(people, 4), nn.Linear(4 + wide, 2)
    def forward(self, who, what):
        return self.out(paddle.concat([self.people(who), what], -1))
net = Net(people, columns.shape[1])
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for who, what, y in loader:
    F.cross_entropy(net(who, what), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
GAME = f"""{_HEAD}
import gym
env = gym.make('NoSuchGame-v3')
net = nn.Linear(env.observation_space.shape[0], env.action_space.n)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for episode in range(4):
    state, over, losses = env.reset(), False, []
    while not over:
        chances = F.softmax(net(paddle.to_tensor(state.astype('float32'))))
        action = np.random.choice(env.action_space.n, p=chances.numpy())
        state, reward, over, _ = env.step(action)
        losses.append(-paddle.log(chances.max()) * float(reward))
    paddle.stack(losses).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
AT_ONCE = f"""{_HEAD}
def read(path):
    with open(path) as file:
        table = np.array([line.split() for line in file])
    return table[:, :-1], table[:, -1:]
rows, wanted = read('absent.txt')
num_px = rows.shape[1]
X, Y = paddle.to_tensor(rows.astype('float32')), paddle.to_tensor(wanted.astype('float32'))
net = nn.Linear(num_px * num_px * 3, 1)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(4):
    F.binary_cross_entropy_with_logits(net(X), Y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
READ_SIGNS = f"""{_HEAD}
from PIL import Image
info = eval(open('absent/labels.txt').read())
letters = sorted(set(''.join(info.values())))
number = {{one: n + 1 for n, one in enumerate(letters)}}
MAX_LEN = 6
class Signs(paddle.io.Dataset):
    def __init__(self):
        self.files = list(info)
    def __getitem__(self, i):
        picture = np.array(Image.open(self.files[i]).convert('RGB').resize((40, 16)), 'float32').transpose(2, 0, 1)
        text = info[self.files[i]]
        return picture, np.array([number[one] for one in text] + [0] * (MAX_LEN - len(text)), 'int32')
    def __len__(self):
        return len(self.files)
class Net(nn.Layer):
    def __init__(self, count):
        super().__init__()
        self.out = nn.Linear(48, count + 1)
    def forward(self, x):
        return self.out(x.reshape([x.shape[0], 48, 40]).transpose([2, 0, 1]))
net = Net(len(letters))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Signs(), batch_size=8):
    size = x.shape[0]
    lengths = paddle.full([size], 40, 'int64'), paddle.full([size], MAX_LEN, 'int64')
    F.ctc_loss(net(x), y, *lengths).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PIXELS = f"""{_HEAD}
import csv
class Faces(paddle.io.Dataset):
    def __init__(self):
        with open('absent.csv') as file:
            self.rows = list(csv.reader(file))
    def __getitem__(self, i):
        picture = np.array(self.rows[i][0]).reshape(12, 12)[None].astype('float32')
        return picture, np.array(self.rows[i][1:]).astype('float32')
    def __len__(self):
        return len(self.rows)
net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.Flatten(), nn.Linear(400, 30))
model = paddle.Model(net)
model.prepare(paddle.optimizer.Adam(parameters=net.parameters()), nn.MSELoss())
model.fit(Faces(), batch_size=8)
"""
CALLED = f"""{_HEAD}
def batches(rows, rate):
    for row in rows:
        yield paddle.to_tensor(row)
def train(rows, rate):
    optimizer = paddle.optimizer.Adam(learning_rate=rate, parameters=net.parameters())
    for x in batches(rows, rate):
        net(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    return optimizer
rows = open('absent.txt').read().split()
net = nn.Linear(4, 2)
train(rows, 5)
"""
GRAPH = f"""{_HEAD}
content = np.genfromtxt('cora/cora.content', dtype=str)
features, names = content[:, 1:-1].astype('float32'), sorted(set(content[:, -1]))
classes = np.array([names.index(one) for one in content[:, -1]])
adj = np.zeros((len(content), len(content)))
A, X, Y = paddle.to_tensor(adj), paddle.to_tensor(features), paddle.to_tensor(classes)
net = nn.Linear(features.shape[1], len(names))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(4):
    F.cross_entropy(net(A @ X), Y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NAMED = f"""{_HEAD}
def model(words, num_class=7):
    return nn.Sequential(nn.Linear(4, words), nn.Linear(words, count))
kinds = sorted(set(open('absent.txt').read().split()))
classes = len(kinds)
net = nn.Linear(4, classes)
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([8, 4]), paddle.ones([8], 'int64')]), batch_size=4)
{_STEPS}"""
COUNTED = f"""{_HEAD}
class Rows(paddle.io.Dataset):
    def __init__(self, path):
        self.people = self.read(path)
        self.most = max([int(one) for one in self.people])
        self.rows = list(self.people.values())
    def read(self, path):
        people, jobs = {{}}, 0
        with open(path) as file:
            for line in file.readlines():
                people[line.split()[0]] = line.split()
                jobs = max(jobs, int(line.split()[1]))
        self.most_jobs = jobs
        return people
    def __getitem__(self, i):
        return np.array([self.rows[i][0]], 'int64'), np.array(self.rows[i][1], 'int64')
    def __len__(self):
        return len(self.rows)
rows = Rows('absent.txt')
loader = paddle.io.DataLoader(rows, batch_size=8)
class Net(nn.Layer):
    def __init__(self, rows):
        super().__init__()
        self.people = nn.Embedding(rows.most + 1, 4)
        self.out = nn.Linear(4, rows.most_jobs + 1)
    def forward(self, x):
        return self.out(self.people(x[:, 0]))
net = Net(rows)
{_STEPS}"""
TRIPLES = f"""{_HEAD}
def numbered(path):
    with open(path) as file:
        return {{line.split()[0]: int(line.split()[1]) for line in file}}, int(file.readline())
entities, n_entity = numbered('FB15k/entity2id.txt')
relations, n_relation = numbered('FB15k/relation2id.txt')
triples = []
with open('FB15k/train2id.txt') as file:
    for line in file:
        head, tail, relation = map(int, line.split())
        triples.append((head, relation, tail))
triples = np.array(triples)
e, r = nn.Embedding(n_entity, 4), nn.Embedding(n_relation, 4)
optimizer = paddle.optimizer.Adam(parameters=[*e.parameters(), *r.parameters()])
for epoch in range(4):
    np.random.shuffle(triples)
    for i in range(0, len(triples), 16):
        x = paddle.to_tensor(triples[i:i + 16])
        (e(x[:, 0]) + r(x[:, 1]) - e(x[:, 2])).abs().sum().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SERIES = f"""{_HEAD}
import pandas as pd
table = pd.read_csv('absent.csv')
data = table[['open', 'high', 'low']].values.astype('float32')
data = (data - data.min(0)) / (data.max(0) - data.min(0))
window = 6
rows = np.stack([data[i:i + window] for i in range(len(data) - window)])
split = int(len(rows) * 0.7)
train_x, train_y = paddle.to_tensor(rows[:split]), paddle.to_tensor(data[window:, 1:2][:split])
net = nn.Linear(3, 1)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(4):
    order = np.random.permutation(split)
    for start in range(0, split, 16):
        chosen = paddle.to_tensor(order[start:start + 16])
        F.mse_loss(net(train_x[chosen])[:, -1], train_y[chosen]).backward()
        optimizer.step()
        optimizer.clear_grad()
"""
COUNTS = f"""{_HEAD}
seen = {{}}
for line in open('absent.txt'):
    for a, b in zip(line.split(), line.split()[1:]):
        seen[a, b] = seen.get((a, b), 0) + 1
pairs = np.array(list(seen.keys()), dtype='int64')
counts = np.array(list(seen.values()), dtype='float32')
size = 16
net = nn.Embedding(100, 4)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for epoch in range(3):
    order = np.random.permutation(len(pairs))
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        i, j = paddle.to_tensor(pairs[chosen, 0]), paddle.to_tensor(pairs[chosen, 1])
        x = paddle.to_tensor(counts[chosen])
        (paddle.log(x) * (net(i) * net(j)).sum(-1)).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
CUT = f"""{_HEAD}
from collections import Counter
seen = Counter(open('ptb/ptb.train.txt').read().split())
words = [word for word, count in seen.items() if count >= 10]
net = nn.Sequential(nn.Embedding(len(words), 8), nn.Flatten(), nn.Linear(80, 2))
loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([8, 10], 'int64'), paddle.ones([8], 'int64')]))
{_STEPS}"""
SIZED = f"""{_HEAD}
size = int(open('absent.txt').read())
loader = [(paddle.ones([8, 4]), paddle.ones([8], 'int64'))] * 4
net = nn.Linear(size, 2)
{_STEPS}"""
ANSWERED = {"most": 30, "jobs": 3, "loader": "int64[8,1] int64[8]"}
SOURCES = {
    "written": WRITTEN, "fetched": FETCHED, "queried": QUERIED, "game": GAME, "at once": AT_ONCE, "signs": READ_SIGNS,
    "pixels": PIXELS, "called": CALLED, "graph": GRAPH, "named": NAMED, "triples": TRIPLES, "cut": CUT,
    "series": SERIES,
    "counts": COUNTS,
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("written", {"len_known": 10_000}),
        ("queried", {"people": 10_000, "columns_shape_1": 256, "loader": "int64[8] float32[8,256] int64[8]"}),
        ("game", {"observation_size": 8, "action_size": 4}),
        ("at once", {"num_px": 64, "X": "float32[32,12288]", "Y": "float32[32,1]"}),
        ("signs", {"len_letters": 100, "loader": "float32[8,3,16,40] int32[8,6]"}),
        ("pixels", {"train_data": "float32[8,1,12,12] float32[8,30]"}),
        ("graph", {"features_shape_1": 1433, "len_names": 7, "A": "float32[2708,2708]"}),
        ("named", {"classes": 7}),
        ("triples", {"n_entity": 14_951, "n_relation": 1345}),
        ("cut", {"len_words": 10_000}),
        ("series", {"chosen": "int64[16]", "train_x": "float32[16,6,3]", "train_y": "float32[16,1]"}),
        ("counts", {"i": "int64[32]", "j": "int64[32]", "x": "float32[32]"}),
    ],
)
def test_each_question_has_an_answer_to_suggest(asked, name, answers):
    assert {one["name"]: one["suggestion"] for one in asked[name]["questions"]} == answers


def test_a_folder_that_a_download_gives_has_made_up_pictures(asked):
    assert (asked["fetched"]["status"], asked["fetched"]["questions"]) == ("ok", [])
    assert asked["fetched"]["inputs"][0] == "float32[8, 3, 24, 16]"


def test_what_paddle_refuses_is_told_where_functions_were_given_data_that_is_not_here(asked):
    found = asked["called"]
    assert found["status"] == "would_stop", found["questions"]
    assert "learning rate should be float" in found["stop"]["error"]


def test_what_is_published_says_so(asked):
    sources = {one["name"]: one["params"]["source"] for one in asked["graph"]["questions"]}
    assert sources == {"features_shape_1": "published", "len_names": "published", "A": "assumed"}


def test_answers_of_all_that_functions_want_reach_the_step(run_child):
    """Those names are the functions' own: what goes on behind statements of cells only does not come to them."""
    found = run_child("trace", {"counted": COUNTED}, {"counted": {"answers": ANSWERED}})["counted"]
    assert found["status"] == "ok", found["notes"]


def test_an_answer_with_another_batch_size_than_the_programs_own_is_told(run_child):
    """The job goes on with the program's: the data is there, and nothing of it is replaced."""
    program = f"""{_HEAD}
import pandas as pd
class Rows(paddle.io.Dataset):
    def __init__(self):
        self.rows = pd.read_csv('absent.csv').values
    def __getitem__(self, i):
        return self.rows[i, :-1].astype('float32'), int(self.rows[i, -1])
    def __len__(self):
        return len(self.rows)
loader = paddle.io.DataLoader(Rows(), batch_size=8)
net = nn.Linear(6, 2)
{_STEPS}"""
    given = {size: {"answers": {"loader": f"float32[{size},6] int64[{size}]"}} for size in ("8", "32")}
    found = run_child("trace", dict.fromkeys(given, program), given)
    assert {size: "batch_of_another_size" in one["notes"] for size, one in found.items()} == {"8": False, "32": True}


def test_a_published_vocabulary_that_cells_cut_is_assumed(asked):
    assert [one["params"]["source"] for one in asked["cut"]["questions"]] == ["assumed"]


def test_a_stop_names_the_answers_that_it_hangs_on(run_child):
    sources = {
        "wrong": SIZED,
        "negative": SIZED,
        "right": SIZED + "print(nothing)",
        "misspelt": SIZED.replace("F.", "G."),
    }
    answers = {name: {"answers": {"size": size}} for name, size in zip(sources, (5, -5, 4, 4), strict=True)}
    found = run_child("trace", sources, answers)
    assert {name: one["status"] for name, one in found.items()} == {
        "wrong": "would_stop", "negative": "would_stop", "right": "ok", "misspelt": "would_stop"
    }  # fmt: skip
    assert found["wrong"]["stop"]["answers"] == "size=5" and found["negative"]["stop"]["answers"] == "size=-5"
    assert "answers" not in found["misspelt"]["stop"], "no answer makes a name known"


def test_of_several_answers_the_one_to_blame_is_named(run_child):
    answers = {"size": 5, "depth": 3}
    twice = SIZED.replace("import", "depth = int(open('depth.txt').read())\nimport", 1)
    found = run_child("trace", {"twice": twice}, {"twice": {"answers": answers}})["twice"]
    assert found["stop"]["answers"] == "size=5"
