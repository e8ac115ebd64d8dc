"""Words and numbers for people, shared by terminal and cell."""

from __future__ import annotations

from datetime import datetime

from ..domain.jobs.job import Job
from ..domain.messages import Translate
from ..domain.sizes import human
from ..i18n import translator

_WIDE = tuple("。，：；！？）”")


class Speech:
    """Says things in one language: `say("{n} jobs", n=3)`. The literals are the keys of the catalogue."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.translate: Translate = translator(language)

    def __call__(self, template: str, **fields: object) -> str:
        """The template in the language, with its fields filled in."""
        return self.translate(template).format_map(fields)

    def n(self, singular: str, plural: str, number: int, **fields: object) -> str:
        """One of two templates by a number: `say.n("{n} job", "{n} jobs", 3, n=3)`."""
        return self(singular if number == 1 else plural, **fields)


def together(*sentences: str) -> str:
    """Sentences in a row, without those that are empty; Chinese punctuation brings its own room."""
    row = ""
    for sentence in filter(None, sentences):
        row += sentence if not row or row.endswith(_WIDE) else f" {sentence}"
    return row


def size(count: float | None) -> str:
    """Bytes as every face writes them; a dash where there is no number."""
    return "–" if count is None else human(count)


def count(number: float | None) -> str:
    """A number with thousands apart; a dash where there is none."""
    return "–" if number is None else f"{number:,}"


def number(value: float | None) -> str:
    """A metric with as many digits as tell two runs apart; a dash where there is none."""
    return "–" if value is None else f"{value:.4g}"


def operations(flops: float | None) -> str:
    """FLOPs with an SI prefix."""
    if flops is None:
        return "–"
    amount = float(flops)
    for unit in ("", " K", " M", " G", " T"):
        if abs(amount) < 1000:
            return f"{amount:.3g}{unit}"
        amount /= 1000
    return f"{amount:.3g} P"


def duration(seconds: float | None) -> str:
    """Seconds as `4.2 s`, `3 min 20 s` or `2 h 05 min`; a dash where there is none."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def moment(time: float) -> str:
    """A time of this machine's clock, without the year."""
    return datetime.fromtimestamp(time).strftime("%m-%d %H:%M:%S")


def run_time(job: Job, now: float) -> str:
    """How long a job has run, or ran."""
    return "–" if job.started is None else duration((job.ended or now) - job.started)
