"""PaddleNLP's `load_dataset` without its files, and without PaddleNLP."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINED = """
import paddle
from functools import partial
from paddlenlp.datasets import load_dataset
train, dev = load_dataset({name}, splits=["train", "{dev}"])
counts = len(train), len(dev)
classes = train.label_list
def convert(example, longest):
    text = example["{text}"]
    words = text if isinstance(text, list) else text.split() if " " in text else list(text)
    return [1] * min(len(words), longest), {label}
train = train.map(partial(convert, longest=64))
def padded(rows):
    most = max(len(ids) for ids, _ in rows)
    return [paddle.to_tensor([ids + [0] * (most - len(ids)) for ids, _ in rows]),
            paddle.to_tensor([label for _, label in rows])]
loader = paddle.io.DataLoader(train, batch_size=8, collate_fn=padded)
model = paddle.nn.Sequential(paddle.nn.Embedding(counts[1], 4), paddle.nn.Linear(4, max(2, len(classes or []))))
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
for epoch in range(2):
    for ids, labels in loader:
        loss = paddle.nn.functional.cross_entropy(model(ids).mean(axis=1), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
ROWS = {
    "chnsenticorp": ("'chnsenticorp'", "dev", "text", "example['label']", 64, 1_200),
    "lcqmc": ("'lcqmc'", "dev", "query", "example['label']", 11, 8_802),
    "glue": ("'glue', 'mrpc'", "dev", "sentence1", "example['labels']", 22, 408),
    "clue": ("'clue', name='tnews'", "dev", "sentence", "example['label']", 22, 10_000),
    "msra_ner": ("'msra_ner'", "test", "tokens", "example['labels'][0]", 48, 3_442),
    "imdb": ("'imdb'", "test", "text", "example['label']", 64, 25_000),
}


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {
        name: TRAINED.format(name=asked, dev=dev, text=text, label=label)
        for name, (asked, dev, text, label, _, _) in ROWS.items()
    }
    sources["own"] = (
        "def read(count):\n    for n in range(count):\n        yield {'text': 'abc', 'label': n % 2}\n"
        + TRAINED.format(name="read, count=40, lazy=False", dev="x", text="text", label="example['label']").replace(
            "train, dev = load_dataset(", "train = dev = load_dataset("
        )
    )
    counted = "words = {word for one in train for word in one['text']}\ncounts = 0, len(words)\n"
    sources["counted"] = sources["chnsenticorp"].replace("counts = len(train), len(dev)\n", counted)
    sources["other"] = TRAINED.format(name="'nobody_knows_this'", dev="dev", text="text", label="0")
    return run_child("trace", sources)


@pytest.mark.parametrize("name", ROWS)
def test_a_name_stands_in_by_its_columns_and_counts(traced, name):
    *_, length, dev = ROWS[name]
    row = traced[name]
    assert row["status"] == "ok", row["questions"]
    assert row["inputs"] == [f"int64[8, {length}]", "int64[8]"]
    assert "dataset_stand_in" in row["notes"]
    assert dev > 0


def test_the_programs_own_reader_is_read(traced):
    assert (traced["own"]["status"], traced["own"]["inputs"]) == ("ok", ["int64[8, 3]", "int64[8]"])


def test_a_vocabulary_that_is_counted_is_as_large_as_one_and_is_told_of(traced):
    """It was one character, and the embedding's size without a word of it."""
    row = traced["counted"]
    assert row["status"] == "ok"
    grown = (5_000 - 1_200) * 4 * 4  # bytes of the embedding's rows beside those of the one with `len(dev)` rows
    assert row["peak"] - traced["chnsenticorp"]["peak"] >= 3 * grown
    assert "words_made_up" in row["notes"]
    assert "words_made_up" not in traced["chnsenticorp"]["notes"]


def test_another_name_needs_the_package_or_its_data(traced):
    assert traced["other"]["status"] == "needs_input"


def test_every_row_makes_samples_of_its_columns():
    texts = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.data.texts")
    for name, row in texts._TABLE.items():
        for split in row.splits:
            data = texts._made(row, split)
            assert len(data) == row.splits[split], name
            sample = data[len(data) - 1]
            assert set(sample) <= set(row.columns.split()), name
            if row.labels and not split.startswith("test"):
                found = {one.get("label", one.get("labels", [0])) for one in map(data.__getitem__, range(128))
                         if not isinstance(one.get("labels"), list)}  # fmt: skip
                assert found in (set(), set(range(len(row.labels)))), name


def test_maps_filters_and_shards_as_paddlenlp_does():
    texts = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.data.texts")
    data = texts.MapDataset([{"n": n % 2} for n in range(128)], 1_000)
    assert len(data.filter(lambda one: one["n"] == 1)) == 500
    assert data.map(lambda one: {"m": one["n"] + 1})[499] == {"m": 2}
    assert len(data.map(lambda rows: [row["m"] for row in rows for _ in range(3)], batched=True)) == 1_500
    assert data[1_499] == 2
    assert len(data.shard(4, 0)) == 375
    with pytest.raises(IndexError):
        data[375]
