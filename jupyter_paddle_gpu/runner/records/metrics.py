"""Progress read from what a training prints: `Epoch 3/5`, `step 40/200 - loss: 0.12`, `第 3 轮 损失：0.3`."""

import math
import re
from typing import Any, Dict, List, Match, Optional

_HINTS = (
    *("epoch", "step", "iter", "batch", "loss", "acc", "lr", "auc", "f1", "ppl", "perplexity", "miou", "map", "%|"),
    *("mae", "mse", "psnr", "reward", "bleu", "iou", "top", "precision", "recall", "dice", "ssim"),
    *("轮", "步", "批", "迭代", "损失", "率", "精度", "误差", "困惑度", "奖励"),
)
_VALUE = r"[-+]?(?:(?:[1-9]\d{0,2}(?:,\d{3})+\.\d+|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?:nan|inf)\b)"
_COUNT = r"s?\b\s*[:=\[(#]*\s*(\d+)(?![\d.]*\s*%)(?:\s*(?:/|of)\s*(\d+))?"  # a share of 100 is no count
_EPOCH = re.compile(r"\bepoch" + _COUNT, re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter|iteration|batch)" + _COUNT, re.IGNORECASE)
_BAR = re.compile(r"\d%\|[^|]*\|\s*(\d+)/(\d+)\s*\[")
"""A bar of tqdm: `45%|####5     | 45/100 [00:10<00:12, 4.42it/s]`; sizes, as a download has them, carry a unit."""
_METRIC = re.compile(
    # Of which data it is, or of which part of what is trained.
    r"\b((?:(?:train(?:ing)?|val|valid|validation|test|eval|avg|mean)[_ /-])?"
    r"(?:(?:d|g|disc|gen|discriminator|generator|actor|critic|policy|value|content|style|kl|cls|reg|box|mask)[_ /-])?"
    r"(?:loss(?:_(?!scal)[a-z]\w{0,20})?|acc(?:u|uracy)?(?:_top\d)?|top\d(?:_acc)?|lr|auc|f1|ppl|perplexity|m?iou|map"
    r"|mae|mse|rmse|psnr|ssim|reward|bleu|precision|recall|m?dice))\b"
    r"(?:\s+(?:of|on|over)\s[^:=,]{1,60}(?=[:=]))?"
    r"[\"']?\s*(?:is\b)?\s*[:=]?\s*(?:array\()?\[?\s*"
    rf"({_VALUE})(?:\s*/\s*(\d+)\b(?!\.))?(\s?%)?",
    re.IGNORECASE,
)
_SHORT = {"training": "train", "validation": "val", "valid": "val", "accu": "acc"}
_BETWEEN = re.compile("[ /-]")

_FULL_WIDTH = str.maketrans("：＝％／，（）［］", ":=%/,()[]")
_DATA = {"训练": "train", "验证": "val", "校验": "val", "测试": "test", "评估": "eval", "平均": "avg"}
_NAMES = {
    **{"损失函数值": "loss", "损失函数": "loss", "损失值": "loss", "损失": "loss", "学习率": "lr", "困惑度": "ppl"},
    **{"准确率": "acc", "正确率": "acc", "精确率": "precision", "精度": "acc", "召回率": "recall", "奖励": "reward"},
    **{"平均绝对误差": "mae", "均方根误差": "rmse", "均方误差": "mse"},
}
_OF = r"(\d+(?:\s*/\s*\d+)?)\s*个?\s*"
_IN_ALL = r"(?:\s*[/,]?\s*共\s*(\d+)\s*个?\s*(?:轮|epoch|周期))?"
_CHINESE = re.compile(
    rf"第\s*{_OF}(?:轮次?|epoch|周期){_IN_ALL}"
    rf"|第\s*{_OF}(?:步|批次?|次迭代|step|iter|batch)"
    r"|(?<![每一])(?P<epoch>轮次?(?!数))|(?P<step>步数|批次|迭代(?!次数|器))"
    rf"|(?:(?P<data>{'|'.join(_DATA)})集?[上的]*(?:平均)?)?\s*(?<!混合)"
    rf"(?P<name>{'|'.join(_NAMES)}|(?<![a-z_])(?:loss|acc|accuracy|lr)(?![a-z_]))(?:值?[为是])?",
    re.IGNORECASE,
)

_TENSOR = re.compile(r"Tensor\(shape=\[1?\], dtype=.*,\Z")
"""A printed tensor with one number, which stands in the next line."""
_ITS_VALUE = re.compile(rf"\s+\[?({_VALUE})\]?\)", re.IGNORECASE)
_LONGEST = 500
_BATCH = 50
"""Of many lines that come at once only so many of the last ones are read: newer progress replaces older."""


class Reader:
    """Reads the lines of one stream, in their order."""

    def __init__(self) -> None:
        self._begun = ""  # a line whose tensor goes on in the next one

    def read(self, lines: List[str]) -> List[Dict[str, Any]]:
        """What lines that came at once say, one after the other; of many the last ones that say something."""
        lines = self._joined(lines)
        if len(lines) > _BATCH and not _speaks("\n".join(lines)):
            return []
        speaking: List[str] = []
        for line in reversed(lines):
            if len(line) <= _LONGEST and _speaks(line):
                speaking.append(line)
                if len(speaking) == _BATCH:
                    break
        return [found for found in map(read, reversed(speaking)) if found]

    def _joined(self, lines: List[str]) -> List[str]:
        """`loss Tensor(shape=[], …,` and the line with its number behind it as one: `loss 0.69`."""
        if not self._begun and not any(line.endswith(",") and "Tensor(shape=[" in line for line in lines):
            return lines
        whole = []
        for printed in lines:
            value = _ITS_VALUE.match(printed) if self._begun else None
            line = self._begun + value.group(1) + printed[value.end() :] if value else printed
            self._begun = ""
            tensor = _TENSOR.search(line) if len(line) <= _LONGEST else None
            if tensor:
                self._begun = line[: tensor.start()]
            else:
                whole.append(line)
        return whole


def read(line: str) -> Dict[str, Any]:
    """What a line says of progress: any of `epoch`, `epochs`, `step`, `steps`, `metrics`; empty where nothing.

    A metric that is told to be no number (`loss nan`) is None.
    """
    if len(line) > _LONGEST or not _speaks(line):
        return {}
    if not line.isascii():
        line = _CHINESE.sub(_english, line.translate(_FULL_WIDTH))
    found: Dict[str, Any] = {}
    for name, pattern in (("epoch", _EPOCH), ("step", _STEP)):
        match = pattern.search(line)
        if match:
            found[name] = int(match.group(1))
            if match.group(2):
                found[name + "s"] = int(match.group(2))
    bar = _BAR.search(line) if "step" not in found else None
    if bar:
        found["step"], found["steps"] = int(bar.group(1)), int(bar.group(2))
    metrics = {}
    for match in _METRIC.finditer(line):
        words = _BETWEEN.sub("_", match.group(1).lower()).split("_")
        metrics["_".join(_SHORT.get(word, word) for word in words)] = _value(*match.group(2, 3, 4))
    if metrics:
        found["metrics"] = metrics
    return found


def _value(number: str, of: Optional[str], percent: Optional[str]) -> Optional[float]:
    value = float(number.replace(",", ""))
    if not math.isfinite(value):
        return None
    if of and int(of) and 0 <= value <= int(of) and "." not in number:  # `accuracy 97/100 (97 %)`
        return value / int(of)
    return value / 100 if percent else value


def _english(match: "Match[str]") -> str:
    """The same in the words that the patterns know."""
    epoch, epochs, step = match.group(1, 2, 3)
    if epoch:
        return " epoch {}{} ".format(epoch, "/" + epochs if epochs else "")
    if step:
        return " step {} ".format(step)
    if match.group("name"):
        data, name = _DATA.get(match.group("data") or ""), match.group("name")
        return " {}{} ".format(data + "_" if data else "", _NAMES.get(name, name))
    return " epoch " if match.group("epoch") else " step "


def _speaks(text: str) -> bool:
    """Whether a text may speak of progress: many times cheaper than the expressions that read it."""
    text = text.lower()
    return any(hint in text for hint in _HINTS)
