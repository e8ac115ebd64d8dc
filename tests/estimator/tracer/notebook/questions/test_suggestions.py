"""Suggestions for what is not here: what the notebook says wins over what merely fits."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

RATINGS = """
import numpy as np, pandas as pd, paddle
from paddle import nn
frame = pd.read_csv('absent.csv')
class Ratings(paddle.io.Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __getitem__(self, i):
        return self.x[i], self.y[i]
    def __len__(self):
        return len(self.x)
y = frame['rating'].values[:, np.newaxis].astype('float32')
loader = paddle.io.DataLoader(Ratings(frame[['user', 'movie']].values, y), batch_size=16)
for ids, rating in loader:  # looked at before there is a model: what it takes says what they are
    print(ids.shape, rating.shape)
    break
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.user, self.movie, self.bias = nn.Embedding(50, 8), nn.Embedding(90, 8), nn.Embedding(50, 1)
    def forward(self, ids):
        product = paddle.dot(self.user(ids[:, 0]), self.movie(ids[:, 1]))
        return nn.functional.sigmoid(product + self.bias(ids[:, 0]))
model = paddle.Model(Net())
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), nn.BCELoss())
model.fit(loader, epochs=2)
"""


@pytest.fixture(scope="module")
def ratings(run_child):
    """With what the notebook printed of a batch, and without."""
    requests = {"printed": {"printed": {"shapes": [[16, 2], [16, 1]], "numbers": {}}}}
    return run_child("trace", {"printed": RATINGS, "unsaid": RATINGS}, requests)


def test_a_batch_that_was_printed_wins_over_one_that_merely_fits(ratings):
    """Paddle refuses these labels: the sum of [16] and [16, 1] is [16, 16]. The notebook stops, and is told so."""
    assert [one["suggestion"] for one in ratings["printed"]["questions"]] == ["int64[16,2] float32[16,1]"]


def test_where_only_labels_fit_that_no_binary_loss_takes_the_end_is_told_with_the_guess(ratings):
    (asked,) = [one for one in ratings["unsaid"]["questions"] if one["name"] == "loader"]
    assert asked["suggestion"].startswith("int64[16,")
    assert (asked["params"]["source"], bool(asked["params"]["end"])) == ("assumed", True)


LEFT_BEHIND = """
import sys, paddle
sys.left_behind = [paddle.nn.Conv2D(5, 900, 3) for _ in range(3)]
"""
TABLE = """
import pandas as pd, paddle
class Rows(paddle.io.Dataset):
    def __init__(self, values):
        self.values = values
    def __getitem__(self, i):
        return self.values[i]
    def __len__(self):
        return len(self.values)
loader = paddle.io.DataLoader(Rows(pd.read_csv('absent.csv').values), batch_size=32)
net = paddle.nn.Linear(13, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for rows, target in loader:
    (net(rows) - target).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WIDTHS = """
import numpy as np, pandas as pd, paddle
table = pd.get_dummies(pd.read_csv('absent.csv'))
{name} = table.shape[1]
net = paddle.nn.Linear({name}, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([64, {name}])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_the_columns_of_a_table_are_no_vocabulary(run_child):
    names = ("in_features", "vocab_size", "config_batch")
    programs = {"left behind": LEFT_BEHIND, "table": TABLE, **{name: WIDTHS.format(name=name) for name in names}}
    rows = run_child("trace", programs)
    suggested = {name: [one["suggestion"] for one in rows[name]["questions"] if one["name"] == name] for name in names}
    assert suggested["config_batch"] == [32]
    # What another trace of this process left behind is no model of this one.
    (asked,) = [one for one in rows["table"]["questions"] if one["name"] == "loader"]
    assert asked["candidates"][0] == ["float32[32,13] float32[32,1]", "assumed"]
    assert 0 < suggested["in_features"][0] < 1_000 < suggested["vocab_size"][0]


SORTED_OUT = """
import paddle
from paddle import nn
text = {text}
known = {{one: n for n, one in enumerate(sorted(set({counted})))}}
vocab = len(known)
net = nn.Sequential(nn.Embedding(vocab, 8), nn.Linear(8, vocab))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
ids = paddle.randint(0, vocab, [16, 32])
nn.functional.cross_entropy(net(ids), ids).backward()
optimizer.step()
"""
TEXTS = {
    "characters": ("open('absent.txt').read()", "text"),
    "lower case": ("open('absent.txt').read().lower()", "text[:1000]"),
    "words": ("open('absent.txt').read()", "text.split()"),
    "words from the start": ("open('absent.txt').read().split()", "text"),
}


@pytest.fixture(scope="module")
def sorted_out(run_child):
    sources = {name: SORTED_OUT.format(text=text, counted=counted) for name, (text, counted) in TEXTS.items()}
    return run_child("trace", sources)


@pytest.mark.parametrize(
    ("name", "entries"), [("characters", 100), ("lower case", 100), ("words", 10000), ("words from the start", 10000)]
)
def test_a_text_has_fewer_characters_than_words(sorted_out, name, entries):
    (question,) = sorted_out[name]["questions"]
    assert (question["name"], question["suggestion"], question["params"]["source"]) == ("vocab", entries, "assumed")


SERIES = """
import numpy as np, paddle
x, y = np.load('x.npy'), np.load('y.npy')
loader = paddle.io.DataLoader(paddle.io.TensorDataset([x, y]), batch_size=4)
net, head = paddle.nn.LSTM(7, 16), paddle.nn.Linear(16, 2)
opt = paddle.optimizer.Adam(parameters=net.parameters() + head.parameters())
for a, b in loader:
    loss = paddle.nn.functional.cross_entropy(head(net(a)[0][:, -1]), b)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


@pytest.mark.parametrize("shapes", [[[4, 12, 7], [4]], [[100, 12, 7], [100]]])
def test_shapes_of_batches_or_of_all_data_that_were_printed_are_suggested(run_child, shapes):
    found = run_child("trace", {"series": SERIES}, {"series": {"printed": {"shapes": shapes, "numbers": {}}}})
    (question,) = found["series"]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == ("float32[4,12,7] int64[4]", "printed")


DIGITS = """
import gzip, json, numpy as np, paddle
BATCH_SIZE = 100
pictures, labels = json.load(gzip.open('absent.json.gz'))
def read():
    for start in range(0, len(pictures), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        yield np.array(pictures[rows]).astype('float32'), np.array(labels[rows]).astype('float32')
net = paddle.nn.Linear(784, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in read():
    loss = paddle.nn.functional.square_error_cost(net(paddle.to_tensor(x)), paddle.to_tensor(y)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_labels_that_were_printed_without_a_column_have_none(run_child):
    """The loss compares each prediction with each label then, as courses have it: the notebook shows that it is so."""
    requests = {"digits": {"printed": {"shapes": [[100, 784], [100]], "numbers": {}}}}
    (question,) = run_child("trace", {"digits": DIGITS}, requests)["digits"]["questions"]
    assert (question["suggestion"], question["params"]["source"]) == ("float32[100,784] float32[100]", "printed")


LINES = """
import json, paddle
class Lines(paddle.io.Dataset):
    def __init__(self, path):
        self.lines = open(path).read().splitlines()
    def __getitem__(self, number):
        return look_up(self.lines[number])
    def __len__(self):
        return len(self.lines)
"""
TAGGER = """
library = {}
exec(compile('''
import paddle
class Configuration:
    def __init__(self, num_classes):
        self.names = {number: f"LABEL_{number}" for number in range(num_classes)}
class Tagger(paddle.nn.Layer):
    def __init__(self, configuration):
        super().__init__()
        self.words = paddle.nn.Embedding(100, 8)
        self.out = paddle.nn.Linear(8, len(configuration.names))
    def forward(self, ids):
        return self.out(self.words(ids))
    @classmethod
    def from_pretrained(cls, name, num_classes=2):
        return cls(Configuration(num_classes))
''', "/usr/lib/some_library/models.py", "exec"), library)
labels = json.load(open("absent.json"))
loader = paddle.io.DataLoader(Lines("absent.txt"), batch_size=16)
model = library["Tagger"].from_pretrained("tagger", num_classes=len(labels))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step, batch in enumerate(loader):
    token_type_ids, lengths, tags = batch
    mask = paddle.nn.functional.sequence_mask(lengths, maxlen=token_type_ids.shape[1])
    each = paddle.nn.functional.cross_entropy(model(token_type_ids), tags.unsqueeze(2), reduction="none")
    (each.squeeze(2) * mask.astype("float32")).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_number_that_a_library_of_models_asks_for_and_the_lengths_of_a_batch(run_child):
    """PaddleNLP's `from_pretrained(name, num_classes=len(labels))`, and `ids, lengths, labels = batch`."""
    found = run_child("trace", {"tagger": LINES + TAGGER})["tagger"]
    asked = {one["name"]: one["suggestion"] for one in found["questions"]}
    assert asked == {"len_labels": 10, "loader": "int64[16,128] int64[16] int64[16,128]"}


STATIC = """
paddle.enable_static()
words = json.load(open("absent.json"))
x, y = paddle.static.data("x", [None, 13]), paddle.static.data("y", [None, 1])
loss = paddle.nn.functional.mse_loss(paddle.nn.Linear(13, 1)(x), y)
paddle.optimizer.SGD(0.1).minimize(loss)
loader = paddle.io.DataLoader(Lines("absent.txt"), feed_list=[x, y], batch_size=16, return_list=False)
executor = paddle.static.Executor()
executor.run(paddle.static.default_startup_program())
for data in loader:
    executor.run(feed=data, fetch_list=[loss])
"""


def test_a_static_program_with_layers_is_suggested_what_it_declares(run_child):
    """Its parameters are no tensors: to ask for their size put an operator into the program, and ended the process."""
    found = run_child("trace", {"static": LINES + STATIC})["static"]
    assert {one["name"]: one["suggestion"] for one in found["questions"]} == {"loader": "float32[16,13] float32[16,1]"}
    assert "suggestion_failed" not in found["notes"]


FILMS = """
import json, os, pandas as pd, paddle
from paddle import nn
frame = pd.read_csv("absent.csv")
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.user, self.film, self.bias = nn.Embedding(50, 8), nn.Embedding(90, 8), nn.Embedding(90, 1)
    def forward(self, user, film):
        return (self.user(user) * self.film(film)).sum(axis=-1) + self.bias(film).squeeze(-1)
net = Net()
optimizer = {optimizer}
for _ in range(3):
    rows = frame.sample(n=48)
    user, film = paddle.to_tensor(rows["user"].values), paddle.to_tensor(rows["film"].values)
    nn.functional.mse_loss(net(user, film), paddle.to_tensor(rows["stars"].values)).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
_ADAM = "paddle.optimizer.Adam(parameters=net.parameters())"
_CHOSEN = """{read}
net = nn.Linear(4, 2)
if kind == "lamb":
    optimizer = paddle.optimizer.Lamb(0.01, parameters=net.parameters())
elif kind == "rmsprop":
    optimizer = paddle.optimizer.RMSProp(0.01, parameters=net.parameters())
elif kind == "sgd":
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for _ in range(3):
    net(paddle.rand([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CHOSEN = {
    "usual": ("kind = json.load(open('absent.json')).get('optimizer', 'rmsprop')", "rmsprop"),
    "usual of a name": ("held = json.load(open('absent.json'))\nkind = held.get('opt', 'lamb').lower()", "lamb"),
    "environment": ("kind = os.environ['OPTIMIZER_OF_RUN']", "lamb"),
}


def test_ids_of_things_that_a_model_looks_up_in_a_table_each_are_no_sequences(run_child):
    """Of a user and a film it was suggested that each sample has 128, which runs as well."""
    found = run_child("trace", {"films": FILMS.replace("{optimizer}", _ADAM)})["films"]
    assert {one["suggestion"] for one in found["questions"]} == {"int64[48]", "float32[48]"}


def test_a_text_is_what_the_program_has_without_it_or_what_its_name_is_compared_with(run_child):
    head = "import json, os, paddle\nfrom paddle import nn\n"
    found = run_child("trace", {name: head + _CHOSEN.format(read=read) for name, (read, _) in CHOSEN.items()})
    said = {name: [one["suggestion"] for one in found[name]["questions"]] for name in CHOSEN}
    assert said == {name: [wanted] for name, (_, wanted) in CHOSEN.items()}


SOUNDS = """
import glob, os, numpy as np, paddle
from scipy.io import wavfile
from paddle import nn
SR, SECONDS = 16000, 2
files = glob.glob("absent/*/*.wav")
breeds = sorted({os.path.basename(os.path.dirname(one)) for one in files})
class Sounds(paddle.io.Dataset):
    def __getitem__(self, i):
        rate, wave = wavfile.read(files[i])
        return wave[: SR * SECONDS][None, :] / 32768, breeds.index(files[i].split("/")[1])
    def __len__(self):
        return len(files)
convolutions = nn.Conv1D(1, 4, 80, stride=16), nn.MaxPool1D(4), nn.Conv1D(4, 8, 9, stride=4), nn.MaxPool1D(8)
net = nn.Sequential(*convolutions, nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(8, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
loader = paddle.io.DataLoader(Sounds(), batch_size=16)
for x, y in loader:
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PICTURES = """
import glob, os, paddle
breeds = sorted({os.path.basename(one).rsplit("_", 1)[0] for one in glob.glob("absent/*.jpg")})
net = paddle.vision.models.LeNet(num_classes=len(breeds))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(4):
    net(paddle.rand([8, 1, 28, 28])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_sounds_are_as_long_as_their_rate_and_seconds_say(run_child):
    """Nothing was suggested: what was tried was shorter than a convolution's kernel."""
    found = run_child("trace", {"sounds": SOUNDS, "pictures": PICTURES})
    assert [one["suggestion"].split()[0] for one in found["sounds"]["questions"]] == ["float32[16,1,32000]"]
    # What Paddle's own models call their classes is no vocabulary.
    assert [one["suggestion"] for one in found["pictures"]["questions"]] == [10]


SINGLE = """
import numpy as np, paddle
from paddle import nn
rows = np.load('absent.npy')
class Rows(paddle.io.Dataset):
    def __getitem__(self, i):
        return rows[i]
    def __len__(self):
        return len(rows)
{model}
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for x in paddle.io.DataLoader(Rows(), batch_size=20):
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CODER = "net = nn.Sequential(nn.Linear(13, 5), nn.Linear(5, 13))"
PAIR = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(13, 1)
    def forward(self, batch):
        rows, wanted = batch
        return ((self.line(rows) - wanted) ** 2).mean()
net = Net()
"""
SINGLES = {
    "handed on": SINGLE.format(model=CODER, loss="net(x).square().mean()"),
    "compared": SINGLE.format(model=CODER, loss="((x - net(paddle.cast(x, 'float32'))) ** 2).mean()"),
    "own function": SINGLE.format(model=CODER + "\ndef run(x):\n    return net(x).mean()", loss="run(x)"),
    "taken apart": SINGLE.format(model=PAIR, loss="net(x)"),
}


def test_a_batch_that_is_handed_on_as_one_thing_is_one_tensor(run_child):
    found = {name: row["questions"][0]["suggestion"] for name, row in run_child("trace", SINGLES).items()}
    assert found.pop("taken apart") == "float32[20,13] float32[20,1]"
    assert set(found.values()) == {"float32[20,13]"}, found
