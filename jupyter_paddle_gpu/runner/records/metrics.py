"""Progress read from what a training prints: `Epoch 3/5`, `step 40/200 - loss: 0.12 - acc: 0.9`, `loss=0.3`."""

import re
from typing import Any, Dict, List

_HINTS = (
    *("epoch", "step", "iter", "batch", "loss", "acc", "lr", "auc", "f1", "ppl", "perplexity", "miou", "map", "%|"),
    *("mae", "mse", "psnr", "reward", "bleu", "iou", "top"),
)
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_COUNT = r"s?\b\s*[:=\[(#]*\s*(\d+)(?![\d.]*\s*%)(?:\s*(?:/|of)\s*(\d+))?"  # a share of 100 is no count
_EPOCH = re.compile(r"\bepoch" + _COUNT, re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter|iteration|batch)" + _COUNT, re.IGNORECASE)
_BAR = re.compile(r"\d%\|[^|]*\|\s*(\d+)/(\d+)\s*\[")
"""A bar of tqdm: `45%|####5     | 45/100 [00:10<00:12, 4.42it/s]`; sizes, as a download has them, carry a unit."""
_METRIC = re.compile(
    r"\b((?:(?:train|val|valid|validation|test|eval|avg|mean)[_ /-])?"
    r"(?:loss|acc(?:uracy)?(?:_top\d)?|top\d(?:_acc)?|lr|auc|f1|ppl|perplexity|miou|iou|map|mae|mse|rmse|psnr|reward"
    r"|bleu))\b[\"']?\s*(?:is\b)?\s*[:=]?\s*\[?\s*" + _NUMBER + r"(%?)",
    re.IGNORECASE,
)
_BETWEEN = re.compile("[ /-]")
_LONGEST = 500
_BATCH = 50
"""Of many lines that come at once only so many of the last ones are read: newer progress replaces older."""


def read(line: str) -> Dict[str, Any]:
    """What a line says of progress: any of `epoch`, `epochs`, `step`, `steps`, `metrics`; empty where nothing."""
    if len(line) > _LONGEST or not _speaks(line):
        return {}
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
        value = float(match.group(2))
        name = _BETWEEN.sub("_", match.group(1).lower())
        metrics[name] = value / 100 if match.group(3) else value
    if metrics:
        found["metrics"] = metrics
    return found


def read_lines(lines: List[str]) -> List[Dict[str, Any]]:
    """What lines that came at once say, one after the other; of many the last ones that say something."""
    if len(lines) > _BATCH and not _speaks("\n".join(lines)):
        return []
    speaking: List[str] = []
    for line in reversed(lines):
        if len(line) <= _LONGEST and _speaks(line):
            speaking.append(line)
            if len(speaking) == _BATCH:
                break
    return [found for found in map(read, reversed(speaking)) if found]


def _speaks(text: str) -> bool:
    """Whether a text may speak of progress: many times cheaper than the expressions that read it."""
    text = text.lower()
    return any(hint in text for hint in _HINTS)
