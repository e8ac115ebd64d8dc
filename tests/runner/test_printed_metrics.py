"""What people print while they train, in their words: metrics, epochs and steps are read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.runner.records import metrics
from jupyter_paddle_gpu.runner.records.events import Events


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Iter 100: D loss 0.3, G loss 0.4", {"step": 100, "metrics": {"d_loss": 0.3, "g_loss": 0.4}}),
        ("d_loss: 0.1 g_loss: 0.3", {"metrics": {"d_loss": 0.1, "g_loss": 0.3}}),
        ("loss_cls: 0.4 loss_bbox: 0.3", {"metrics": {"loss_cls": 0.4, "loss_bbox": 0.3}}),
        ("Training loss 0.3, Validation accuracy 0.9", {"metrics": {"train_loss": 0.3, "val_accuracy": 0.9}}),
        ("loss: 0.69, accu: 0.5, speed: 1.2 step/s", {"metrics": {"loss": 0.69, "acc": 0.5}}),
        ("precision: 0.4 recall: 0.3 mDice 0.9", {"metrics": {"precision": 0.4, "recall": 0.3, "mdice": 0.9}}),
        ("Accuracy: 97/100 (97%)", {"metrics": {"accuracy": 0.97}}),
        ("Accuracy of the network on the 10000 test images: 45 %", {"metrics": {"accuracy": 0.45}}),
        ("loss: 1,234.5", {"metrics": {"loss": 1234.5}}),
        ("loss is: array(0.3, dtype=float32)", {"metrics": {"loss": 0.3}}),
        ("epoch:1,step:20,loss:nan", {"epoch": 1, "step": 20, "metrics": {"loss": None}}),
        ("loss -inf", {"metrics": {"loss": None}}),
        ("loss_scale: 32768.0 loss nano", {}),
    ],
)
def test_words_of_english(line: str, found: dict[str, Any]) -> None:
    assert metrics.read(line) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("第 3 轮，损失 0.412，准确率 91%", {"epoch": 3, "metrics": {"loss": 0.412, "acc": 0.91}}),
        (
            "第3/10轮，第 20/100 步，损失值：0.25",
            {"epoch": 3, "epochs": 10, "step": 20, "steps": 100, "metrics": {"loss": 0.25}},
        ),
        ("第3轮/共10轮 loss=0.3", {"epoch": 3, "epochs": 10, "metrics": {"loss": 0.3}}),
        ("第1个epoch的损失是0.32", {"epoch": 1, "metrics": {"loss": 0.32}}),
        ("轮次 3/10 学习率 0.001", {"epoch": 3, "epochs": 10, "metrics": {"lr": 0.001}}),
        ("迭代 100/1000 loss：0.3", {"step": 100, "steps": 1000, "metrics": {"loss": 0.3}}),
        ("训练集上的损失为0.3，验证集准确率为 91.2%", {"metrics": {"train_loss": 0.3, "val_acc": 0.912}}),
        ("Epoch 3 训练loss：0.3 测试 acc：0.9", {"epoch": 3, "metrics": {"train_loss": 0.3, "test_acc": 0.9}}),
        ("损失：nan", {"metrics": {"loss": None}}),
        # Settings are no progress.
        ("每轮 100 步，训练轮数：10，迭代次数：1000，混合精度 O1", {}),
    ],
)
def test_words_of_chinese(line: str, found: dict[str, Any]) -> None:
    assert metrics.read(line) == found


def test_a_printed_tensor_has_its_number_in_the_next_line() -> None:
    reader = metrics.Reader()
    named = "epoch 1 loss is: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False,"
    assert reader.read([named]) == []
    assert reader.read(["       0.69314718) acc 0.5"]) == [{"epoch": 1, "metrics": {"loss": 0.69314718, "acc": 0.5}}]
    assert reader.read([named, "       [nan])", "loss 2.0"]) == [
        {"epoch": 1, "metrics": {"loss": None}},
        {"metrics": {"loss": 2.0}},
    ]
    assert reader.read([named, "something else 0.3)", "       0.5)"]) == []


def test_what_is_no_number_is_written_as_json_has_it(tmp_path: Path) -> None:
    events = Events(tmp_path / "events.jsonl", metric_seconds=0)
    events.metric({"epoch": 2, "metrics": {"loss": None}}, callback=True)
    events.close()

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    written = json.loads((tmp_path / "events.jsonl").read_text(), parse_constant=refuse)
    assert written["metrics"] == {"loss": None} and written["epoch"] == 2
