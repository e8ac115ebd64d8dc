"""Reads a folder of notebooks on a machine without their data, and accepts every suggestion unread.

`python -m benchmarks.reading FOLDER...` estimates each notebook that trains for the CPU, answers its questions with
what they suggest, up to three of them, and prints a table; `results/reading.json` has every row, of other folders those
of earlier runs.
`--again` reads only those for which a question was left open there.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from jupyter_paddle_gpu.domain.estimates import Estimate, Question
from jupyter_paddle_gpu.domain.notebooks import FactValue
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.translate import SOURCES
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

from ..report import RESULTS, save, show

_OPEN = frozenset(("needs_input", "no_package", "unsupported"))
"""How a notebook ends of which a question is left."""
_OF_MACHINE = re.compile(r"/\S*/site-packages/")
MOST_QUESTIONS = 3
"""Answers that a person is willing to give."""


@dataclass
class Reading:
    """How far one notebook came."""

    notebook: str
    status: str
    repository: str = ""
    """The folder that was read."""
    evidence: str = ""
    peak: int | None = None
    batch: int | None = None
    answers: dict[str, FactValue] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    """Questions without a suggestion, and what else keeps a notebook from its figure."""
    notes: list[str] = field(default_factory=list)
    followed: str = ""
    """Batches that follow from the notebook's own code."""
    assumed: bool = False
    """Whether a suggestion was marked as an assumption."""
    seconds: float = 0.0


def read(service: EstimateService, path: Path, folder: Path) -> Reading:
    """The estimate of a notebook after as many of its own suggestions as it needs."""
    started = time.monotonic()
    facts = inspect_notebook(read_notebook(path))
    answers: dict[str, FactValue] = {}
    is_assumed = False
    while True:
        estimate = service.estimate(facts, folder, EstimateRequest(answers=answers, target="cpu"))
        new = {
            one.name: one.suggestion
            for one in estimate.questions
            if one.name and one.suggestion is not None and one.name not in answers
        }
        if estimate.status != "needs_input" or not new or len(answers) + len(new) > MOST_QUESTIONS:
            break
        answers |= new
        is_assumed = is_assumed or any(_is_assumed(one) for one in estimate.questions if one.name in new)
    found = _reading(path, estimate, answers, time.monotonic() - started)
    found.open = [_OF_MACHINE.sub("", one.replace(f"{folder}/", "")) for one in found.open]
    found.assumed = is_assumed or "answers_assumed" in found.notes
    return found


def _is_assumed(question: Question) -> bool:
    """Whether a question says that its suggestion is an assumption."""
    return question.why.hint == SOURCES["assumed"]


def _reading(path: Path, estimate: Estimate, answers: dict[str, FactValue], seconds: float) -> Reading:
    questions = [f"{one.kind} {one.name or '-'}: {one.why.render()}" for one in estimate.questions]
    stop = [f"stops: {estimate.stop.error}"] if estimate.stop else []
    stop += [one.render() for one in estimate.notes if one.code == "unsupported"]
    return Reading(
        notebook=name_of(path),
        status=estimate.status,
        evidence=estimate.evidence,
        peak=estimate.allocated_peak_bytes,
        batch=estimate.batch_size,
        answers=answers,
        open=[*questions, *stop] if estimate.status != "ok" else [],
        notes=[one.code for one in estimate.notes],
        followed=next((str(one.params["batches"]) for one in estimate.notes if one.code == "data_followed"), ""),
        seconds=round(seconds, 1),
    )


def name_of(path: Path) -> str:
    """What a notebook is called in tables."""
    return f"{path.parent.name}/{path.stem}"


def _settled() -> dict[tuple[str, str], Reading]:
    """The rows of the last run, by repository and notebook."""
    rows = json.loads((RESULTS / "reading.json").read_text())["rows"]
    return {(row["repository"], row["notebook"]): Reading(**row) for row in rows}


def with_modules(notebook: Path, folder: Path) -> Path:
    """A new folder with the Python modules that stand beside a notebook, and nothing of its data."""
    folder.mkdir()
    for module in notebook.parent.rglob("*.py"):
        place = folder / module.relative_to(notebook.parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(module, place)
    return folder


def main(folders: list[str] | None = None) -> None:
    """Every notebook below the folders; each is run in a folder that has nothing but the modules beside it."""
    given = folders or sys.argv[1:]
    folders = [one for one in given if not one.startswith("--")]
    known = _settled()
    paths = {(Path(folder).resolve().name, name_of(path)): path
             for folder in folders for path in sorted(Path(folder).rglob("*.ipynb"))}  # fmt: skip
    rows = [row for key, row in known.items() if key not in paths]
    with tempfile.TemporaryDirectory() as empty:
        service = EstimateService(EstimateSettings(calibration=Path(empty) / "calibration.json"))
        try:
            for key, path in paths.items():
                row = known.get(key)
                if "--again" not in given or row is None or row.status in _OPEN:
                    row = read(service, path, with_modules(path, Path(empty) / str(len(rows))))
                row.repository = key[0]
                rows.append(row)
                sys.stderr.write(f"{row.status:12} {row.notebook}  {row.answers}  {' | '.join(row.open)[:300]}\n")
        finally:
            service.close()
    here = [row for row in rows if (row.repository, row.notebook) in paths]
    trains = [row for row in here if row.status != "no_model"]
    figures = [row for row in trains if row.status == "ok"]
    show(
        f"{len(figures)} of {len(trains)} notebooks that train end in a figure",
        ("Notebook", "Status", "Peak", "Questions", "Seconds"),
        [(row.notebook, row.status, f"{row.peak or 0:,}", len(row.answers), row.seconds) for row in here],
    )
    save("reading", {"rows": [asdict(row) for row in rows]})
