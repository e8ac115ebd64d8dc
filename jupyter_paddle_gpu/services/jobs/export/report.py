"""A job on one HTML page without a script or an address in it: to be sent, printed, kept.

Whatever a job wrote is text here, and its pictures are images, in which no script of a drawing runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from ....domain.jobs.figures import Figure
from ....domain.jobs.job import Job, LogLine
from ....domain.jobs.metrics import MetricCurve
from ....domain.jobs.state_words import state_words
from ....domain.messages import Message, Translate, untranslated
from ....domain.sizes import human
from .curves import curve_picture

if TYPE_CHECKING:
    from ....jobs.service import JobService

LOG_LINES = 2_000
"""Of the log's end; all of it is in the archive."""
OUTPUT_CHARACTERS = 20_000
"""Of a cell's printed output."""

_LANGUAGE = "en"
"""The tag of the page's language; its translation is that language's own."""
_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1000px;padding:0 1em;color:#1b1f24;background:#fff}
h1{font-size:1.5em}h2{font-size:1.1em;border-bottom:1px solid #d0d7de;margin-top:2em}
table{border-collapse:collapse}th{color:#57606a;font-weight:400;text-align:left;padding:3px 24px 3px 0}
th{vertical-align:top}
td{padding:3px 0;white-space:pre-line;overflow-wrap:anywhere}
pre{background:#f6f8fa;overflow:auto;padding:8px;font-size:12px}img{max-width:100%}figure{margin:0}
.curves{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(280px,1fr))}
.cell{margin:12px 0}.cell>small{color:#57606a}.note{background:#fff8c5;padding:8px}
"""


def report(jobs: JobService, job: Job, translate: Translate = untranslated) -> str:
    """The page in a reader's language, English by default: it is for people elsewhere."""
    parts = [
        f"<h1>{_title(job)}</h1>",
        f'<p class="note">{escape(job.note)}</p>' if job.note else "",
        f"<p>{escape(job.reason.render(translate))}</p>" if job.reason else "",
        _facts(job, _where(jobs, job, translate), translate),
        _curves(jobs.metrics(job.id).curves, translate),
        _figures(jobs.figures(job.id).figures, translate),
        _cells(jobs, job, translate),
        _log(jobs, job, translate),
    ]
    head = f'<meta charset="utf-8"><title>{_title(job)}</title><style>{_STYLE}</style>'
    body = f"<head>{head}</head><body>{''.join(parts)}</body>"
    return f'<!doctype html>\n<html lang="{translate(_LANGUAGE)}">{body}</html>\n'


def _title(job: Job) -> str:
    changed = [f"{one.name or one.role or one.kind} {one.after}" for one in job.spec.differs if one.after is not None]
    return escape(" · ".join([job.spec.name, *changed[:2], _moment(job.created)]))


def _moment(seconds: float | None) -> str:
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(seconds))


def _where(jobs: JobService, job: Job, translate: Translate) -> str:
    """What people call the engine; its name where it is not there any more."""
    engine = jobs.engines.get(job.spec.engine)
    return engine.supported_features().title.render(translate) if engine else job.spec.engine


def _facts(job: Job, where: str, translate: Translate) -> str:
    spec, result = job.spec, job.result
    measured = result and (result.device_allocated_bytes or result.step_allocated_bytes)
    rows: list[tuple[str, Any]] = [
        ("Job", job.id),
        ("State", translate(state_words(job))),
        ("Notebook", spec.notebook),
        ("Submitted by", job.owner),
        ("Submitted", _moment(job.created)),
        ("Started", _moment(job.started)),
        ("Ended", _moment(job.ended)),
        ("Where", where),
        ("Image", spec.image),
        ("Devices", "\n".join(_device(job, name, translate) for name in job.device_ids)),
        ("Cost", _cost(job)),
        ("Paddle", (result.paddle_version if result else None) or spec.estimated_paddle_version),
        ("Variables", "\n".join(f"{one.name or one.role} = {one.value!r}" for one in spec.settings.variables)),
        (
            "Changed since the run before",
            "\n".join(f"{one.name or one.role or one.kind}: {one.before} → {one.after}" for one in spec.differs),
        ),
        ("Estimated peak", human(spec.estimated_allocated_bytes) if spec.estimated_allocated_bytes else ""),
        ("Estimated on the device", _on_device(job)),
        ("Measured peak", human(measured) if measured else ""),
        ("Attention", job.progress.warning.render(translate) if job.progress.warning else ""),
        ("Last values", "\n".join(f"{name} {value:.5g}" for name, value in job.progress.metrics.items())),
    ]
    told = "".join(
        f"<tr><th>{escape(translate(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in rows if value
    )
    return f"<h2>{translate('Facts')}</h2><table>{told}</table>"


def _device(job: Job, name: str, translate: Translate) -> str:
    """What a device was called when the job was given it."""
    called = job.device_names.get(name)
    return name if called is None else called.render(translate)


def _on_device(job: Job) -> str:
    """What the driver would show for the process, with its range, and on which accelerator."""
    spec, need = job.spec, job.spec.need
    if not spec.estimated_device or not spec.estimated_peak_bytes:
        return ""
    reach = f" ({human(need.low)} – {human(need.high)})" if need and need.high else ""
    return f"{human(spec.estimated_peak_bytes)}{reach}, {spec.estimated_device}"


def _cost(job: Job) -> str:
    cost = job.cost(time.time())
    return "" if cost is None or job.price is None else f"{cost:.2g} {job.price.currency}"


def _curves(curves: Sequence[MetricCurve], translate: Translate) -> str:
    drawn = "".join(curve_picture(curve, translate) for curve in curves if len(curve.values) > 1)
    return f'<h2>{translate("Curves")}</h2><div class="curves">{drawn}</div>' if drawn else ""


def _figures(figures: Iterable[Figure], translate: Translate) -> str:
    drawn = "".join(
        f'<figure><img alt="{_cell_name(one.cell, translate)}" src="{_address(one)}"></figure>' for one in figures
    )
    return f"<h2>{translate('Figures')}</h2>{drawn}" if drawn else ""


def _address(figure: Figure) -> str:
    if figure.mime == "image/svg+xml":
        return "data:image/svg+xml," + quote(figure.data)
    return f"data:{figure.mime};base64," + escape("".join(figure.data.split()), quote=True)


def _cells(jobs: JobService, job: Job, translate: Translate) -> str:
    from ....engines import own_files
    from ....jobs.folder.figures import NOTEBOOK_BYTES

    try:
        content = msgspec.json.decode(own_files.read(jobs.folder_of(job.id).notebook, NOTEBOOK_BYTES))
        cells = content["cells"]
        drawn = "".join(
            _cell(index, cell, translate) for index, cell in enumerate(cells) if cell.get("cell_type") == "code"
        )
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError, RecursionError):
        return ""  # nothing executed yet, or no notebook
    return f"<h2>{translate('Notebook')}</h2>{drawn}"


def _cell(index: int, cell: dict[str, Any], translate: Translate) -> str:
    printed = escape("".join(_printed(cell.get("outputs") or []))[-OUTPUT_CHARACTERS:])
    source = escape(_text(cell.get("source")))
    output = f"<pre>{printed}</pre>" if printed.strip() else ""
    return f'<div class="cell"><small>{_cell_name(index, translate)}</small><pre>{source}</pre>{output}</div>'


def _printed(outputs: Iterable[dict[str, Any]]) -> Iterator[str]:
    for output in outputs:
        if output.get("output_type") == "stream":
            yield _text(output.get("text"))
        elif output.get("output_type") == "error":
            yield f"{output.get('ename')}: {output.get('evalue')}\n"
        else:
            yield _text((output.get("data") or {}).get("text/plain")) + "\n"


def _text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value or "")


def _cell_name(index: int, translate: Translate) -> str:
    """Cells are counted from 1 for people."""
    return escape(translate("cell {cell}").format(cell=index + 1))


def _said(line: LogLine, translate: Translate) -> str:
    """The text of a line; a sentence of ours in the reader's language."""
    if line.says is None:
        return line.text
    return Message(code="log", text=line.says.text, params=line.says.params).render(translate)


def _log(jobs: JobService, job: Job, translate: Translate) -> str:
    page = jobs.log(job.id, -LOG_LINES, LOG_LINES)
    lines = "\n".join(_said(line, translate) for line in page.lines if not line.passing)
    left = page.total - len(page.lines)
    cut = escape(translate("{count} lines before these are left out.").format(count=f"{left:,}"))
    before = f"<p>{cut}</p>" if left > 0 else ""
    return f"<h2>{translate('Log')}</h2>{before}<pre>{escape(lines)}</pre>"
