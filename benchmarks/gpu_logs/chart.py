"""Draws `results/gpu_logs.json`: by how much each estimate misses what was logged.

`python -m benchmarks.gpu_logs.chart` writes `docs/images/gpu-logs.svg`.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from .collection import read
from .rebuild import kept

FILE = Path(__file__).resolve().parents[2] / "docs" / "images" / "gpu-logs.svg"
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 860, 26, 360, 40, 58, 54
MOST = 0.25
"""The axis ends at this error; what lies beyond is drawn at its end with its number."""
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.faint{fill:#59636e}.line{stroke:#d1d9e0}"
    ".zero{stroke:#1f2328}.allocated{fill:#0969da}.reserved{fill:none;stroke:#bc4c00;stroke-width:2}"
)


def place(error: float) -> float:
    """Of an error on the axis, in pixels."""
    middle = (LEFT + WIDTH - RIGHT) / 2
    return middle + max(-MOST, min(MOST, error)) / MOST * (WIDTH - RIGHT - LEFT) / 2


def drawn(rows: list[dict[str, Any]]) -> str:
    """The picture: a row a variant, a dot for `allocated`, a ring for `reserved`."""
    height = TOP + ROW * len(rows) + BOTTOM
    foot = height - BOTTOM + 4
    title = "Estimated for a GPU beside what public logs say"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{title}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="16" y="24" font-weight="600">{title}</text>',
        '<circle class="allocated" cx="22" cy="40" r="5"/><text x="34" y="44">allocated</text>',
        '<circle class="reserved" cx="110" cy="40" r="5"/><text x="122" y="44">reserved</text>',
    ]
    for tick in (-0.2, -0.1, 0.0, 0.1, 0.2):
        kind, x, says = ("line" if tick else "zero"), place(tick), f"{tick:+.0%}" if tick else "0"
        parts.append(f'<path class="{kind}" d="M{x:.1f} {TOP - 6}V{foot}"/>')
        parts.append(f'<text x="{x:.1f}" y="{foot + 16}" text-anchor="middle">{says}</text>')
    told = {log.log: log.says for log in read() if log.log}
    for number, row in enumerate(rows):
        y = TOP + ROW * number + ROW / 2
        called = told.get(row["thread"], row["thread"].removeprefix("PaddlePaddle/"))
        name = called + (f", {row['assumes']}" if row["assumes"] else "")
        name = name if len(name) < 54 else f"{name[:52]}…"
        parts.append(f'<text x="16" y="{y + 4:.1f}">{escape(name)}</text>')
        for kind, key in (("allocated", "error"), ("reserved", "reserved_error")):
            if row[key] is None:
                continue
            x = place(row[key])
            says = f"{row['thread']}: {kind} {row[key]:+.1%}"
            parts.append(
                f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{escape(says)}</title></circle>'
            )
            if abs(row[key]) > MOST:
                end, side = ("end", -9) if row[key] > 0 else ("start", 9)
                lift = -5 if kind == "allocated" else 13
                at = f'x="{x + side:.1f}" y="{y + lift:.1f}" text-anchor="{end}"'
                parts.append(f'<text class="faint" {at}>{row[key]:+.0%}</text>')
    parts.append(f'<text class="faint" x="16" y="{height - 14}">estimate above (right) or below (left) the log</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Draw all rows for which something was logged: those that may be looked at first."""
    rows = [row for row in kept() if row["error"] is not None]
    rows.sort(key=lambda row: (row["half"] != "rules", abs(row["error"])))
    FILE.write_text(drawn(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
