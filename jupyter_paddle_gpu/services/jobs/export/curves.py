"""A curve as a picture of its own, for a page that runs no script."""

from __future__ import annotations

from html import escape

from ....domain.jobs.metrics import MetricCurve
from ....domain.messages import Translate

WIDTH, HEIGHT = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 22
POINTS = 400
"""Points that are drawn: more than the picture has pixels."""


def curve_picture(curve: MetricCurve, translate: Translate) -> str:
    """An SVG figure: over epochs where all points tell them, else over seconds."""
    places = [at for at in curve.epochs if at is not None]
    by_epoch = len(places) == len(curve.values)
    across = places if by_epoch else [time - curve.times[0] for time in curve.times]
    step = max(1, len(across) // POINTS)
    points = [*zip(across, curve.values, strict=True)][::step]
    if points[-1][0] != across[-1]:
        points.append((across[-1], curve.values[-1]))
    low, high = min(curve.values), max(curve.values)
    first, last = min(across), max(across)

    def x(place: float) -> float:
        return LEFT + (place - first) / ((last - first) or 1) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (1 - (value - low) / ((high - low) or 1)) * (HEIGHT - TOP - BOTTOM)

    line = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in points)
    unit = translate("{value} epochs") if by_epoch else "{value} s"
    texts = (
        (LEFT - 4, TOP + 4, "end", f"{high:.4g}"),
        (LEFT - 4, HEIGHT - BOTTOM, "end", f"{low:.4g}"),
        (LEFT, HEIGHT - 6, "start", f"{first:.3g}"),
        (WIDTH - RIGHT, HEIGHT - 6, "end", unit.format(value=f"{last:.4g}")),
    )
    words = "".join(
        f'<text x="{left}" y="{top}" text-anchor="{anchor}" font-size="10" fill="#57606a">{text}</text>'
        for left, top, anchor, text in texts
    )
    frame = f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"
    return (
        f"<figure><figcaption>{escape(curve.name)}: {curve.values[-1]:.5g}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(curve.name, quote=True)}">'
        f'<path d="{frame}" fill="none" stroke="#d0d7de"/>'
        f'<polyline points="{line}" fill="none" stroke="#0969da" stroke-width="1.5"/>{words}</svg></figure>'
    )
