"""Notebooks as courses have them, on a machine without their data or without the course's own package: what is asked,
and that the suggestions, accepted unread, give a figure."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.notebook.questions.books import course_notebooks

pytestmark = pytest.mark.paddle
CLICKS = (
    course_notebooks.HEAD
    + """
class Clicks(paddle.io.Dataset):
    def __init__(self, path, count=5):
        seen, self.rows, self.sizes = {i: {} for i in range(count)}, {}, np.zeros(count, 'int64')
        self.words = {}
        with open(path) as file:
            for line in file:
                self.rows[len(self.rows)] = line.split()
                [self.words.setdefault(word, len(self.words)) for word in line.split()]
                for i in range(count):
                    seen[i][line.split()[i]] = len(seen[i])
        for i in seen:
            self.sizes[i] = len(seen[i])
    def __getitem__(self, i):
        return encoded(self.rows[i])
    def __len__(self):
        return len(self.rows)
clicks = Clicks('absent.txt')
total = int(sum(clicks.sizes)) + 1
known, width = len(clicks.words) + 1, len(clicks.sizes) * 4
items, words, out = nn.Embedding(total, 4), nn.Embedding(known, 4), nn.Linear(width, 1)
loader = paddle.io.DataLoader(clicks, batch_size=8)
trainer = paddle.optimizer.SGD(parameters=[*items.parameters(), *words.parameters(), *out.parameters()])
for x, y in loader:
    z = (items(x) + words(x)).reshape([-1, width])
    nn.functional.binary_cross_entropy_with_logits(out(z), y).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
ROWS = (
    course_notebooks.HEAD
    + """
import pandas as pd
faces = np.load('absent.npy')
faces = faces.reshape(-1, 1, 4, 4).astype('float32') / 255
table = pd.read_csv('absent.csv')
sizes = table[['height', 'width', 'weight']].fillna(0).values.astype('float32')
sizes = (sizes - sizes.mean(axis=0)) / sizes.std(axis=0)
split = int(0.9 * len(faces))
class People(paddle.io.Dataset):
    def __init__(self, faces, sizes):
        self.faces, self.sizes = faces, sizes
    def __getitem__(self, i):
        return self.faces[i], self.sizes[i]
    def __len__(self):
        return len(self.faces)
net = nn.Sequential(nn.Flatten(), nn.Linear(16, sizes.shape[1]))
trainer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(People(faces[:split], sizes[:split]), batch_size=8):
    nn.functional.mse_loss(net(x), y).backward()
    trainer.step()
    trainer.clear_grad()
"""
)
FILMS = (
    course_notebooks.HEAD
    + """
class Ratings:
    def __init__(self, path='ml-1m/ratings.dat'):
        self.films = {}
        with open(path) as file:
            for line in file.readlines():
                film, title, kinds = line.split('::')
                self.films[film] = {'id': int(film), 'title': title.split(), 'kinds': kinds.split('|')}
        self.rows = [self.films[film] for film in self.films]
    def read(self, size):
        def generator():
            ids, kinds, titles = [], [], []
            for row in self.rows:
                ids.append(row['id'])
                kinds.append(row['kinds'])
                titles.append(row['title'])
                if len(ids) == size:
                    wide = np.array(titles).reshape(-1, 1, 15).astype('int64')
                    yield [np.array(ids)], [np.reshape(np.array(kinds), [size, 6]).astype('int64'), wide]
                    ids, kinds, titles = [], [], []
        return generator
ratings = Ratings()
films, kinds, titles = (nn.Embedding(40, 4) for _ in range(3))
every = [*films.parameters(), *kinds.parameters(), *titles.parameters()]
trainer = paddle.optimizer.SGD(parameters=every)
for film, more in ratings.read(8)():
    (ids,), (cats, words) = map(paddle.to_tensor, film), map(paddle.to_tensor, more)
    found = films(ids) * kinds(cats).sum(1) * titles(words).sum([1, 2])
    found.mean().backward()
    trainer.step()
    trainer.clear_grad()
"""
)
FITTED = (
    course_notebooks.HEAD
    + """
rows = [[int(number) for number in line.split()] for line in open('absent.txt')]
def batches(rows, batch_size, longest):
    cut = [row[:longest] for row in rows]
    return [cut[i:i + batch_size] for i in range(0, len(cut), batch_size)]
train = batches(rows, batch_size=8, longest=20)
net = nn.Sequential(nn.Linear(20, 4), nn.Linear(4, 2))
model = paddle.Model(net)
model.prepare(paddle.optimizer.SGD(parameters=net.parameters()), nn.CrossEntropyLoss())
model.fit(train, epochs=1, verbose=0)
"""
)
SOURCES = {
    **course_notebooks.SOURCES,
    "films": FILMS,
    "batches that a model is fitted to": FITTED,
    "an array that a loop fills": CLICKS,
    "rows": ROWS,
}
ANSWERS = {
    "batches that a model is fitted to": {"train": "float32[8,20] int64[8]"},
    "an array that a loop fills": {"total": 10000, "known": 10000, "loader": "int64[8,5] float32[8,1]"},
    "a table in tensors": {"in_features": 256, "loader": "float32[4,256] float32[4,1]"},
    "a step in a function": {"x": "float32[6,5]", "y": "int64[6,1]"},
    "sizes of tensors by hand": {"data_shape_1": 256, "loader": "float32[4,255] float32[4,1]"},
    "folders of texts": {"len_vocab": 10000},
    "one thing": {"loader": "float32[4,3,224,224]"},
    "words are counted": {"count": 10000},
    "a loader with its vocabularies": {"len_source": 10000, "len_target": 10000},
    "as long as the ids": {"pairs": "int64[8,1] int64[8,128] float32[8,128] float32[8,128]"},
    "its data is the package's": {"train_iter": "float32[8,1,28,28] int64[8,1]"},
    "steps": {"loader": "int64[4,6] int64[4,1]"},
    "crops": {"train_iter": "float32[16,3,40,56] int64[16,40,56]"},
    "a number in a tuple": {"feature_dim": 256, "loader": "float32[4,256] float32[4,1]"},
}


@pytest.fixture(scope="module")
def asked(run_child):
    return run_child("trace", SOURCES)


TOLD = {"samples in tensors": {"loader": "int64[4,20] int64[4]"}, "films": {}}
"""Answers to what is not asked, since the code tells it."""


@pytest.fixture(scope="module")
def answered(run_child):
    all_of_them = ANSWERS | TOLD
    return run_child("trace", {name: SOURCES[name] for name in all_of_them}, {
        name: {"answers": answers} for name, answers in all_of_them.items()
    })  # fmt: skip


def test_a_module_that_may_hold_the_training_is_asked_for(asked):
    (question,) = asked["its loop is the package's"]["questions"]
    assert (question["why"], question["params"]) == ("module_missing", {"module": "absent_course"})
    assert "data_absent" not in asked["its loop is the package's"]["notes"]


@pytest.mark.parametrize("name", ANSWERS)
def test_each_question_has_a_suggestion(asked, name):
    assert {one["name"]: one["suggestion"] for one in asked[name]["questions"]} == ANSWERS[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_suggestions_give_a_figure(answered, name):
    assert (answered[name]["status"], answered[name]["questions"]) == ("ok", [])


def test_a_loader_is_followed_to_the_function_that_gives_it(answered):
    found = answered["a loader with its vocabularies"]
    assert found["inputs"] == ["int64[4, 9]", "int64[4, 9]", "int64[4]"]  # the last one `bos`
    assert "data_followed" in found["notes"]


def test_a_part_that_is_not_known_leaves_the_rest_of_an_array(asked):
    found = asked["pages"]
    assert (found["status"], found["questions"], found["inputs"]) == (
        "ok",
        [],
        ["float32[2, 1, 16, 24]", "float32[2, 5, 4]"],
    )


def test_what_rows_look_like_is_read_from_the_code(asked):
    """`reshape(-1, 1, 4, 4)` and a table's columns by name."""
    found = asked["rows"]
    assert (found["status"], found["questions"], found["inputs"]) == (
        "ok",
        [],
        ["float32[8, 1, 4, 4]", "float32[8, 3]"],
    )


@pytest.mark.parametrize(("name", "size"), [("len_data_movie_cat", 18), ("max_mov_tit", 5175), ("max_mov_id", 3952)])
def test_a_published_number_is_that_of_the_thing_which_is_asked_for(name, size):
    """Kinds of films and words of their titles are fewer and more than films."""
    from jupyter_paddle_gpu.estimator.tracer.notebook.questions.corpora import published
    from jupyter_paddle_gpu.estimator.tracer.undecided.needs import Need

    need = Need(name, "value", "number_unseen", 1, 1)
    assert list(published(need, "open('./ml-1m/movies.dat')")) == [(size, True)]


def test_lists_of_rows_are_as_wide_as_the_program_shapes_them(answered):
    """Things of which nobody knows whether they are numbers or lists: `np.reshape(np.array(kinds), [size, 6])`."""
    assert answered["films"]["inputs"] == ["int64[8]", "int64[8, 6]", "int64[8, 1, 15]"]


def test_what_is_read_from_folders_is_followed(answered):
    assert answered["folders of texts"]["inputs"] == ["int64[4, 7]", "int64[4]"]


def test_tensors_that_a_data_set_would_hold_are_told_of(asked, answered):
    """How many samples there are nobody knows; the real ones may be most of the memory."""
    for found in (asked["samples in tensors"], answered["samples in tensors"]):
        assert (found["status"], found["questions"]) == ("ok", [])
        assert found["params"][found["notes"].index("tensors_uncounted")] == {"names": "words, labels"}
    assert "tensors_uncounted" not in answered["crops"]["notes"]
    table = answered["a table in tensors"]  # answers reach the step on the way that leaves these tensors open
    assert table["params"][table["notes"].index("tensors_uncounted")] == {"names": "features, labels"}
