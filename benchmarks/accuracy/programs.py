"""Programs that stand as whole files, each with its description in the comments it begins with: `fresh`, `unseen`."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def described(path: Path) -> tuple[dict[str, str], str]:
    """({"model": …, "batch": …, "optimizer": …, "feature": …, maybe "summary" and "updates"}, source) of a program."""
    source = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for line in source.splitlines():
        if not line.startswith("# "):
            break
        name, _, value = line[2:].partition(": ")
        found[name] = value
    return found, source


def programs(folder: str) -> list[tuple[str, dict[str, str], str]]:
    """(name, description, source) of each in a folder and its subjects' folders, by name."""
    return [(path.stem, *described(path)) for path in sorted((HERE / folder).rglob("*.py"), key=lambda path: path.stem)]
