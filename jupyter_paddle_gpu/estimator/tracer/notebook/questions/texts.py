"""What a setting may be that is no number: a text by which the program chooses, or a list of sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...undecided.needs import Need
from .documented import CODE
from .hints import Hints
from .outer import by_code

_USUAL = (
    (re.compile(r"(?i)opt|solver"), ("Adam", "AdamW", "SGD", "Momentum")),
    (re.compile(r"(?i)act|nonlin"), ("ReLU", "relu", "GELU", "gelu")),
    (re.compile(r"(?i)loss|crit|objective"), ("CrossEntropyLoss", "cross_entropy", "MSELoss", "mse_loss")),
    (re.compile(r"(?i)norm"), ("BatchNorm2D", "BatchNorm1D", "LayerNorm")),
    (re.compile(r"(?i)arch|model|net|backbone|encoder"), ("resnet50", "resnet18", "mobilenet_v2", "vgg16", "LeNet")),
    (re.compile(r"(?i)sched|lr_?(policy|decay|name|type)"), ("CosineAnnealingDecay", "StepDecay", "NoamDecay")),
)
"""By what settings are called, the names that are meant mostly."""
_LISTS = ("[64, 64]", "[2, 2]", "[3, 3]", "[64]", "[2, 2, 2, 2]", "[64, 64, 64]", "[64, 64, 64, 64]")
_ASSUMED = "assumed"
_MOST = 12


def settings_of(need: Need, found: Hints) -> Iterator[tuple[str, str]]:
    """What a text or a list of settings may be, the likeliest first, each with where that comes from."""
    if need.why == "list_unseen":
        yield from ((one, _ASSUMED) for one in _LISTS)
        return
    known = [*need.options, *_compared(need.key, found)]
    named = [names for said, names in _USUAL if said.search(need.key)]
    usual = [one for names in named or [names for _, names in _USUAL] for one in names]
    by_lower = {one.lower(): one for one in reversed(known)}
    # Among what the program itself names, any will do; of a module's names, one that is usual.
    ordered = [by_lower[one.lower()] for one in usual if one.lower() in by_lower]
    own = [need.usual] * (need.usual != "")
    each = list(dict.fromkeys([*own, *ordered, *known]))
    most = len(own) + (_MOST if len(known) <= _MOST else len(ordered) or 1)
    yield from ((one, CODE) for one in each[:most])


def _compared(key: str, found: Hints) -> list[str]:
    return [one for one in by_code(key, [found.text]) if isinstance(one, str)]
