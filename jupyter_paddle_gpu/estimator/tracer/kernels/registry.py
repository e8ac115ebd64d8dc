"""The one table of rules. Whatever wants to know something of an operator asks `rule_of`."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from . import arithmetic, collectives, creation, fourier, indexing, layout, optimizer, reduction, selection, sparse
from .linalg import decomposition, einsum, least_squares, products, singular
from .nn import activation, attention, convolution, fused, loss, normalisation, recurrent, vision
from .rules import Operator, Rule

FAMILIES: tuple[ModuleType, ...] = (
    activation, arithmetic, attention, collectives, convolution, creation, decomposition, einsum, fourier, fused,
    indexing, layout, least_squares, loss, normalisation, optimizer, products, recurrent, reduction, selection,
    singular, sparse, vision,
)  # fmt: skip
PLAIN = Rule()
"""Of a kernel that nobody has declared."""


def gathered(operators: Iterable[Operator]) -> dict[str, Rule]:
    """The rules by kernel.

    Raises:
        ValueError: a kernel is declared twice.
    """
    rules: dict[str, Rule] = {}
    for operator in operators:
        for name, rule in operator.kernels().items():
            if name in rules:
                message = f"{name} is declared twice, the second time with {operator.names}"
                raise ValueError(message)
            rules[name] = rule
    return rules


RULES = gathered(operator for family in FAMILIES for operator in family.OPERATORS)
"""By the name of the kernel."""


def rule_of(name: str) -> Rule:
    """What is known of a kernel."""
    return RULES.get(name, PLAIN)
