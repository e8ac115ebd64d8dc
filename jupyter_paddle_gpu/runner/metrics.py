"""Progress read from what a training prints: `Epoch 3/5`, `step 40/200 - loss: 0.12 - acc: 0.9`, `loss=0.3`."""

import re
from typing import Any, Dict

_HINT = re.compile(r"epoch|step|iter|batch|loss|acc|\blr\b|auc|f1|ppl|miou", re.IGNORECASE)
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_EPOCH = re.compile(r"\bepochs?\b\s*[:=\[(#]*\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?", re.IGNORECASE)
_STEP = re.compile(r"\b(?:step|iter|iteration|batch)s?\b\s*[:=\[(#]*\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?", re.IGNORECASE)
_METRIC = re.compile(
    r"\b((?:(?:train|val|valid|validation|test|eval|avg|mean)[_ ])?"
    r"(?:loss|acc(?:uracy)?(?:_top\d)?|lr|auc|f1|ppl|perplexity|miou|map))\b\s*(?:is\b)?\s*[:=]?\s*\[?\s*"
    + _NUMBER
    + r"(%?)",
    re.IGNORECASE,
)
_LONGEST = 500


def read(line: str) -> Dict[str, Any]:
    """What a line says of progress: any of `epoch`, `epochs`, `step`, `steps`, `metrics`; empty where nothing."""
    if len(line) > _LONGEST or not _HINT.search(line):
        return {}
    found: Dict[str, Any] = {}
    for name, pattern in (("epoch", _EPOCH), ("step", _STEP)):
        match = pattern.search(line)
        if match:
            found[name] = int(match.group(1))
            if match.group(2):
                found[name + "s"] = int(match.group(2))
    metrics = {}
    for match in _METRIC.finditer(line):
        value = float(match.group(2))
        metrics[match.group(1).lower().replace(" ", "_")] = value / 100 if match.group(3) else value
    if metrics:
        found["metrics"] = metrics
    return found
