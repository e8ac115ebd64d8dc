"""PaddleNLP's `load_dataset` without its files, and without PaddleNLP."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TRAINED = """
import paddle
from functools import partial
from paddlenlp.datasets import load_dataset
train, dev = load_dataset({name}, splits=["{train}", "{dev}"])
counts = len(train), len(dev)
classes = train.label_list
def convert(example, longest):
    text = example["{text}"]
    words = text if isinstance(text, list) else text.split("\\x02" if "\\x02" in text else None)
    words = list(text) if len(words) == 1 else words
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
    "lcqmc": ("'lcqmc'", "dev", "title", "example['label']", 11, 8_802),
    "bq_corpus": ("'bq_corpus'", "dev", "sentence1", "example['label']", 12, 10_000),
    "paws-x": ("'paws-x'", "test", "sentence2", "0", 43, 2_000),
    "msra_ner": ("'msra_ner'", "test", "tokens", "example['labels'][0]", 48, 3_442),
    "peoples_daily_ner": ("'peoples_daily_ner'", "dev", "tokens", "example['labels'][0]", 47, 2_318),
    "nlpcc14_sc": ("'nlpcc14_sc'", "test", "text", "example['label']", 60, 2_500),
    "seabsa16": ("'seabsa16', 'phns'", "test", "text", "example['label']", 6, 529),
    "cmrc2018": ("'cmrc2018'", "trial", "question", "example['answer_starts'][0]", 16, 1_002),
    "drcd": ("'drcd'", "dev", "question", "0", 23, 3_524),
    "dureader_robust": ("'dureader_robust'", "dev", "context", "0", 64, 1_417),
    "xnli": ("'xnli', 'zh'", "dev", "hypothesis", "example['label']", 16, 2_490),
    "couplet": ("'couplet'", "dev", "second", "0", 9, 999),
    "squad": ("'squad'", "dev_v1", "question", "0", 10, 10_570),
    "imdb": ("'imdb'", "test", "text", "example['label']", 64, 25_000),
    "iwslt15": ("'iwslt15'", "test", "vi", "0", 25, 1_268),
    "wmt14ende": ("'wmt14ende'", "dev-eval", "target", "0", 28, 3_000),
    "ptb": ("'ptb'", "valid", "sentence", "0", 21, 3_370),
    "glue": ("'glue', 'mrpc'", "dev", "sentence1", "example['labels']", 22, 408),
    "clue": ("'clue', name='tnews'", "dev", "sentence", "example['label']", 22, 10_000),
}
"""Each of the twenty names: what is asked for, another split of it, a column, the class, and its length and samples."""


def _trained(asked: str, dev: str, text: str, label: str) -> str:
    train = "train_v1" if "squad" in asked else "train"
    return TRAINED.format(name=asked, train=train, dev=dev, text=text, label=label)


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {name: _trained(asked, dev, text, label) for name, (asked, dev, text, label, _, _) in ROWS.items()}
    sources["own"] = (
        "def read(count):\n    for n in range(count):\n        yield {'text': 'abc', 'label': n % 2}\n"
        + _trained("read, count=40, lazy=False", "x", "text", "example['label']").replace(
            "train, dev = load_dataset(", "train = dev = load_dataset("
        )
    )
    counted = "words = {word for one in train for word in one['text']}\ncounts = 0, len(words)\n"
    sources["counted"] = sources["chnsenticorp"].replace("counts = len(train), len(dev)\n", counted)
    sources["other"] = _trained("'nobody_knows_this'", "dev", "text", "0")
    sources["all languages"] = _trained("'xnli'", "dev", "premise", "example['label']").replace(
        'example["premise"]', 'example["premise"]["fr"]'
    )
    vocabularies = (
        "sizes = [len(open(one['filepath']).read().split()) for one in train.vocab_info.values()]\n"
        "assert all(one['eos_token'] == '</s>' for one in train.vocab_info.values())\n"
    )
    sources["vocabularies"] = sources["iwslt15"].replace(
        "counts = len(train), len(dev)\n", vocabularies + "counts = 0, sum(sizes)\n"
    )
    sources["no such split"] = sources["squad"].replace("train_v1", "train")
    sources["no such language"] = sources["xnli"].replace("'xnli', 'zh'", "'xnli', 'zz'")
    return run_child("trace", sources)


@pytest.mark.parametrize("name", ROWS)
def test_a_name_stands_in_by_its_columns_and_counts(traced, name):
    *_, length, dev = ROWS[name]
    row = traced[name]
    assert row["status"] == "ok", row["questions"]
    assert row["inputs"] == [f"int64[8, {length}]", "int64[8]"]
    assert "dataset_stand_in" in row["notes"]
    assert dev * 4 * 4 < row["standing"]["parameters"] < (dev + 100) * 4 * 4, "the embedding has a row for each sample"


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


def test_whether_a_length_is_published_or_assumed_is_told(traced):
    assert "text_length_mean" in traced["chnsenticorp"]["notes"]
    assert "text_length_assumed" in traced["dureader_robust"]["notes"]
    assert "text_length_mean" not in traced["dureader_robust"]["notes"]


def test_a_split_or_a_language_that_there_is_not_is_refused_in_the_librarys_words(traced):
    ends = [traced[name]["stop"]["error"] for name in ("no such split", "no such language")]
    assert ends[0].startswith("ValueError: Invalid split \"train\". Should be one of ['train_v1',")
    assert ends[1].startswith("ValueError: Name parameter should be specified. Can be one of ['ar',")


def test_xnli_has_all_languages_where_none_is_asked_for(traced):
    row = traced["all languages"]
    assert (row["status"], row["inputs"]) == ("ok", ["int64[8, 20]", "int64[8]"])


def test_vocabularies_that_come_with_it_have_their_published_sizes(traced):
    """`Vocab.load_vocabulary(**train.vocab_info["en"])` found no file: a question stood there."""
    rows = 17_191 + 7_709
    assert rows * 4 * 4 < traced["vocabularies"]["standing"]["parameters"] < (rows + 100) * 4 * 4


def test_another_name_needs_the_package_or_its_data(traced):
    assert traced["other"]["status"] == "needs_input"


def test_every_row_makes_samples_of_its_columns():
    texts = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.data.texts")
    for name, row in texts.TABLE.items():
        assert row.source, name
        for split in row.splits:
            data = texts._made(row, split)
            assert len(data) == row.splits[split], name
            sample = data[len(data) - 1]
            assert set(sample) <= {one.partition("=")[0] for one in row.columns.split()}, name
            if row.labels and not split.startswith("test"):
                samples = map(data.__getitem__, range(min(128, len(data))))
                found = {one.get("label", one.get("labels", [0])) for one in samples
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
