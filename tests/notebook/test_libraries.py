"""Notebooks that train through a library on Paddle (PaddleNLP) and may never name Paddle itself."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts

TRAINER = """
from paddlenlp.transformers import AutoModelForSequenceClassification
from paddlenlp.trainer import Trainer, TrainingArguments
model = AutoModelForSequenceClassification.from_pretrained("ernie-3.0-medium-zh", num_classes=2)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=16, num_train_epochs=5)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
"""


def told(found: NotebookFacts) -> tuple[object, ...]:
    assert found.model and found.optimizer and found.batch_size and found.epochs
    return found.loop, found.model.value, found.optimizer.value, found.batch_size.value, found.epochs.value


def test_a_trainer_is_a_training(inspect):
    found = inspect(TRAINER)
    assert found.imports_paddle
    assert told(found) == ("custom", "AutoModelForSequenceClassification", "AdamW", 16, 5)
    assert (found.optimizer.how, found.batch_size.how) == ("default", "literal")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("per_device_train_batch_size=16, ", "", ("custom", "AutoModelForSequenceClassification", "AdamW", 8, 5)),
        (", num_train_epochs=5", "", ("custom", "AutoModelForSequenceClassification", "AdamW", 16, 3)),
        (
            "model=model, args=args",
            "model, None, args",
            ("custom", "AutoModelForSequenceClassification", "AdamW", 16, 5),
        ),
        (
            "trainer = Trainer(",
            "class Mine(Trainer):\n    pass\ntrainer = Mine(",
            ("custom", "AutoModelForSequenceClassification", "AdamW", 16, 5),
        ),
    ],
)
def test_its_defaults_and_forms(inspect, old, new, expected):
    assert old in TRAINER
    assert told(inspect(TRAINER.replace(old, new))) == expected


def test_arguments_from_elsewhere_leave_the_batch_size_open(inspect):
    source = TRAINER.replace(
        'TrainingArguments(output_dir="out", per_device_train_batch_size=16, num_train_epochs=5)', "a"
    )
    found = inspect(source)
    assert (found.loop, found.batch_size, found.epochs) == ("custom", None, None)


def test_a_trainer_of_something_else_is_none(inspect):
    assert inspect("from other import Trainer\nTrainer(model=1).train()").loop == "none"
    assert inspect("import paddle\nmodel = paddle.nn.Linear(1, 1)\nmodel.train()").loop == "none"


def test_a_model_made_of_a_configuration_has_its_own_name(inspect):
    loop = (
        "import paddle\nfrom paddlenlp.transformers import Bert, BertConfig\nmodel = Bert.from_config(BertConfig())\n"
    )
    loop += "optimizer = paddle.optimizer.SGD(parameters=model.parameters())\nmodel(x).backward()\noptimizer.step()\n"
    found = inspect(loop)
    assert found.model and found.model.value == "Bert"
