"""The well-known libraries that a notebook imports: a worker imports them once, before it forks for the notebook."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...domain.parsing import parse

WELL_KNOWN = frozenset(
    ("numpy", "scipy", "pandas", "sklearn", "matplotlib", "seaborn", "PIL", "cv2", "skimage", "tqdm")
)
"""Installed libraries whose import has no effect that a notebook could miss; never a person's own modules."""


def imported(sources: Iterable[str]) -> tuple[str, ...]:
    """Dotted module names of well-known libraries that the sources import, in order, without repetition."""
    found: dict[str, None] = {}
    for source in sources:
        try:
            tree = parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(dict.fromkeys(alias.name for alias in node.names))
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                found[node.module] = None
    return tuple(name for name in found if name.partition(".")[0] in WELL_KNOWN)
