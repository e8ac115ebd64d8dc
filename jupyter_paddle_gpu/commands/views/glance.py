"""An estimate at a glance in a cell, as the panel shows it: the number with its range, the step, what it is made of.

Colours are JupyterLab's own variables, so that it follows the theme; elsewhere their usual values stand in.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ...domain.estimates import Estimate, TimelinePoint
from ..speech import Speech, count, size
from .machine import marked

KINDS: Mapping[str, tuple[str, str]] = {
    # The colors of the panel (`src/style/common/bar.css`).
    "parameters": ("Parameters", "var(--jp-brand-color0, #0d47a1)"),
    "gradients": ("Gradients", "var(--jp-brand-color1, #1976d2)"),
    "optimizer_state": ("Optimizer state", "var(--jp-brand-color2, #64b5f6)"),
    "activations": ("Activations", "var(--jp-info-color0, #00838f)"),
    "inputs": ("Inputs", "var(--jp-info-color1, #0097a7)"),
    "workspace": ("Workspace", "var(--jp-info-color2, #4dd0e1)"),
    "context": ("Device context", "var(--jp-ui-font-color3, #9e9e9e)"),
}
_MUTED = "color:var(--jp-ui-font-color2, #616161)"
WIDTH, HEIGHT = 480, 72
"""Of the step's course, in pixels; it is drawn as wide as there is room."""


def html(estimate: Estimate, say: Speech, beside: str = "") -> str:
    """The glance; empty where there is no number. `beside`: what stands below the number instead of its range."""
    if estimate.peak_bytes is None:
        return ""
    named = estimate.device and marked(say, estimate.device, checked=estimate.device_checked)
    on = named or (say("on the CPU") if estimate.target == "cpu" else say("a GPU"))
    low, high = estimate.low, estimate.high
    between = beside or (f"{size(low)} – {size(high)}" if low is not None and high is not None and low != high else "")
    facts = [
        estimate.model,
        count(estimate.parameters) if estimate.parameters else None,
        estimate.optimizer,
        say("batch {batch}", batch=count(estimate.batch_size)) if estimate.batch_size else None,
        estimate.amp if estimate.amp not in (None, "off") else None,
    ]
    return (
        '<div style="border:1px solid var(--jp-border-color2, #e0e0e0);border-radius:4px;max-width:520px;'
        'padding:8px 12px;margin:4px 0">'
        f'<div style="{_MUTED}">{escape(" · ".join(filter(None, facts)))}</div>'
        '<div style="display:flex;align-items:center;gap:10px">'
        f'<span style="font-size:28px;font-weight:600;white-space:nowrap">{escape(size(estimate.peak_bytes))}</span>'
        f'<span style="line-height:1.35">{escape(on)}<br><span style="{_MUTED}">{escape(between)}</span></span></div>'
        + _course(estimate.timeline, say)
        + _bar(estimate, say)
        + "</div>"
    )


def _course(points: tuple[TimelinePoint, ...], say: Speech) -> str:
    if len(points) < 2:  # a line has two ends
        return ""
    highest = max(point.bytes for point in points) or 1
    last = points[-1].index or 1
    x = [WIDTH * point.index / last for point in points]
    y = [HEIGHT * (1 - point.bytes / highest) for point in points]
    line = " ".join(f"{one:.1f},{other:.1f}" for one, other in zip(x, y, strict=True))
    peak = max(points, key=lambda point: point.bytes)
    words = say("Memory over one step, highest with {size} at {op}", size=size(peak.bytes), op=peak.op or peak.phase)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" height="{HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(words, quote=True)}" style="display:block;margin:4px 0">'
        f'<polygon points="0,{HEIGHT} {line} {WIDTH},{HEIGHT}" '
        'style="fill:var(--jp-info-color0, #00838f);opacity:0.35"></polygon></svg>'
    )


def _bar(estimate: Estimate, say: Speech) -> str:
    breakdown = estimate.breakdown
    if breakdown is None or not breakdown.total:
        return ""
    parts = [(name, getattr(breakdown, name)) for name in KINDS if getattr(breakdown, name) > 0]
    bar = "".join(
        f'<span style="width:{100 * amount / breakdown.total:.2f}%;background:{KINDS[name][1]}"></span>'
        for name, amount in parts
    )
    legend = "".join(
        '<span style="white-space:nowrap"><span aria-hidden="true" style="display:inline-block;width:9px;height:9px;'
        f'border-radius:2px;background:{KINDS[name][1]}"></span> {escape(say(KINDS[name][0]))} '
        f"<b>{escape(size(amount))}</b></span>"
        for name, amount in sorted(parts, key=lambda part: -part[1])
    )
    return (
        f'<div aria-hidden="true" style="display:flex;height:8px;border-radius:2px;overflow:hidden">{bar}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:0 14px;font-size:12px;margin-top:3px">{legend}</div>'
    )
