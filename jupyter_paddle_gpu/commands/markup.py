"""Small pieces of HTML for cells: everything is escaped, colours are JupyterLab's own variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..domain.messages import Message
from .speech import Speech

_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table of cells that are HTML already."""
    heading = "".join(f'<th scope="col" style="{_CELL}">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{heading}</tr></thead>' if heading else ''}<tbody>{body}</tbody></table>"


def bar(share: float, colour: str = "var(--jp-brand-color1, #1976d2)") -> str:
    """A bar of `share` (0 to 1) of its place; the number beside it says the same."""
    return (
        '<div aria-hidden="true" style="width:16em;height:0.7em;background:var(--jp-layout-color2, #eee)">'
        f'<div style="width:{100 * min(max(share, 0), 1):.1f}%;height:100%;background:{colour}"></div></div>'
    )


def message(say: Speech, item: Message) -> str:
    """A sentence with its next step below."""
    hint = item.render_hint(say.translate)
    return escape(item.render(say.translate)) + (
        f'<br><small style="color:var(--jp-ui-font-color2, #666)">{escape(hint)}</small>' if hint else ""
    )


def folded(title: str, body: str, *, opened: bool = False) -> str:
    """A part that is opened by those who want it; `opened`: it is open at first."""
    start = f'<details style="margin:4px 0"{" open" * opened}>'
    return f'{start}<summary style="cursor:pointer">{escape(title)}</summary>{body}</details>'


def job_link(job_id: str, words: str) -> str:
    """Leads to a job's page in JupyterLab, where our front end takes the click; elsewhere it leads nowhere."""
    return f'<a href="#paddle-gpu-job={escape(job_id, quote=True)}">{escape(words)}</a>'


def section(title: str, body: str) -> str:
    """A titled part."""
    return f"<div><strong>{escape(title)}</strong>{body}</div>"
