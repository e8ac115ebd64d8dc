"""An estimate for people: how much, made of what, where it fits, and what is still open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ...domain.estimates import Estimate, Package, Question, QuestionKind
from ...domain.messages import Message
from ...domain.notebooks import OTHER_LANGUAGE, Place
from ...domain.placements import DeviceFigure, Placement, Verdict
from ...domain.what_ifs import EstimateRequest, asked_for
from .. import markup
from ..face import View
from ..options import typed
from ..speech import Speech, count, duration, size, together
from . import decision as decision_view
from . import glance
from . import step as step_view
from .changes import unsuited
from .machine import marked

if TYPE_CHECKING:
    from rich.console import RenderableType

STATUS = {
    "ok": 0, "needs_input": 3, "no_model": 4, "no_paddle": 5, "would_stop": 6, "no_package": 7, "static_graph": 8,
    "unsupported": 9,
}  # fmt: skip
"""Exit status of `estimate`."""
BAR_CELLS = 24
EDGE = 6
"""Rows of the catalogue shown on either side of the edge."""


class EstimateView(View):
    """Draws an estimate, with the verdict on each device where a placement is given; `inside`: the step's tables.

    Attributes:
        opened: a cell shows the verdicts unfolded, as below a slider that moves them.
    """

    opened = False

    def __init__(
        self,
        estimate: Estimate,
        placement: Placement | None = None,
        *,
        how: str = "--set",
        inside: bool = False,
        request: EstimateRequest | None = None,
    ) -> None:
        self.data: Estimate = estimate
        self.placement = placement
        self.status = STATUS[estimate.status]
        self._how = how
        self._inside = inside
        self._asked = () if request is None else tuple(asked_for(request))

    # What both drawings share

    def _facts(self, say: Speech) -> list[tuple[str, str]]:
        """What is known; what is not takes no row, and a notebook that trains nothing has none."""
        if self.data.status == "no_model":
            return []
        return [(label, value) for label, value in self._all_facts(say) if value != "–"]

    def _all_facts(self, say: Speech) -> Iterator[tuple[str, str]]:
        estimate = self.data
        if self._asked:
            yield say("What if"), ", ".join(words.render(say.translate) for words in self._asked)
        yield say("Model"), estimate.model or "–"
        yield say("Parameters"), self._parameters(say)
        yield say("Batch size"), step_view.batch(estimate, say)
        yield say("Optimizer"), estimate.optimizer or "–"
        yield say("Mixed precision"), estimate.amp or "–"
        if estimate.flops_per_step is not None:
            yield say("FLOPs per step"), step_view.compute(estimate, say)
        if estimate.bytes_moved:
            yield say("Memory traffic"), step_view.traffic(estimate, say)
        if estimate.host is not None:
            yield say("Host memory"), say("about {size} for each process of the job", size=size(estimate.host.bytes))
        evidence = say(_EVIDENCE[estimate.evidence])
        yield say("Evidence"), say("{evidence}, {seconds}", evidence=evidence, seconds=duration(estimate.seconds))

    def _parameters(self, say: Speech) -> str:
        """How many, and of how many an optimizer may change the numbers, where that is not all."""
        every, trained = self.data.parameters, self.data.trainable_parameters
        if trained is None or trained == every:
            return count(every)
        return say("{count} ({trained} trainable)", count=count(every), trained=count(trained))

    def headline(self, say: Speech) -> str:
        """The answer in a line."""
        estimate = self.data
        if any(note.code == OTHER_LANGUAGE for note in estimate.notes):
            return say("Only Python is read.")
        if estimate.status == "would_stop" and estimate.stop is not None:
            return estimate.stop.says(behind=False).render(say.translate)
        if without := (_WITHOUT_IN_SCRIPT if estimate.is_script else _WITHOUT).get(estimate.status):
            return say(without)
        if estimate.peak_bytes is None:
            return say("The estimate needs an answer." if estimate.questions else "There is no figure for this.")
        if estimate.target == "cpu":
            return say("{peak} on the CPU", peak=size(estimate.peak_bytes))
        name = estimate.device and marked(say, estimate.device, checked=estimate.device_checked)
        return _on_device(estimate, name, say)

    def _second(self, say: Speech) -> str:
        """What it takes on a GPU, where the answer is of the CPU; empty where nobody looked."""
        placement = self.placement
        if placement is None or placement.on_device is None:
            return ""
        figure = _on_device(placement.on_device, None, say)
        most = next((one.params["model"] for one in placement.decision.notes if one.code == "decided_by_most"), None)
        # What a job takes is that of the training that needs most, whichever one is shown.
        return figure if most is None else say("{figure} for {model}, which needs most", figure=figure, model=str(most))

    def _parts(self, say: Speech) -> list[tuple[str, int, float]]:
        breakdown = self.data.breakdown
        if breakdown is None or not breakdown.total:
            return []
        return [
            (say(label), getattr(breakdown, name), getattr(breakdown, name) / breakdown.total)
            for name, label in _KINDS.items()
            if getattr(breakdown, name)
        ]

    def _verdicts(self) -> list[Verdict]:
        """Every device that is here and the one asked for; of the catalogue what lies on either side of the edge. None
        without a number."""
        placement = self.placement
        if placement is None or self.data.peak_bytes is None:
            return []
        asked = [verdict for verdict in placement.catalogue if verdict.device_name == self.data.device]
        fitting = [verdict for verdict in placement.catalogue if verdict.fit == "fits" and verdict not in asked]
        others = [verdict for verdict in placement.catalogue if verdict.fit != "fits" and verdict not in asked]
        return [*placement.verdicts, *asked, *others[-EDGE:], *fitting[:EDGE]]

    def _decided(self, say: Speech) -> list[tuple[str, str]]:
        """What becomes of a submit here and now. None without a number."""
        if self.placement is None or self.data.peak_bytes is None:
            return []
        return list(decision_view.lines(self.placement.decision, say))

    def _changes(self, say: Speech) -> list[tuple[str, str, str, str]]:
        """Each remedy with what the step would take then, the largest batch that would fit, and what asks for it: of
        those that no job can be given it is told why (`unsuited`)."""
        return [
            (
                remedy.says.render(say.translate),
                f"{size(self.data.peak_bytes)} → {size(remedy.peak_bytes)}",
                "" if remedy.largest_batch is None else say("batch up to {batch}", batch=count(remedy.largest_batch)),
                "" if remedy.refused else typed(remedy.request),
            )
            for remedy in self.data.remedies
        ]

    def _largest(self, say: Speech) -> list[str]:
        return [
            say("{device}: not even one sample fits.", device=name)
            if fit.largest_batch is None
            else say("{device}: the largest batch that fits is {batch}.", device=name, batch=count(fit.largest_batch))
            for fit in self.data.fits
            for name in (marked(say, fit.device, checked=fit.checked),)
        ]

    def _trainings(self, say: Speech) -> list[tuple[str, str, str, str, str]]:
        """Where there are several: what asks for it, its model, where it stands, its batch, what its step takes."""
        if len(self.data.trainings) < 2:
            return []
        return [
            (
                typed({"training": row.id}) + (" ←" if row.id == self.data.training else ""),
                row.model or "–",
                self._place(say, row.where),
                "" if row.batch_size is None else say("batch {batch}", batch=count(row.batch_size)),
                say("not reached") if row.allocated_peak_bytes is None else size(row.allocated_peak_bytes),
            )
            for row in self.data.trainings
        ]

    def _listed(self, say: Speech) -> str:
        """The heading of that list."""
        return say("Trainings of this script") if self.data.is_script else say("Trainings of this notebook")

    def _answer(self, question: Question) -> str:
        """What to type for an answer; empty where there is nothing to name (a missing file, a missing module)."""
        if not question.name:
            return ""
        suggestion = str(_PLACEHOLDERS[question.kind] if question.suggestion is None else question.suggestion)
        return f"{self._how} {question.name}={suggestion if suggestion.isalnum() else json.dumps(suggestion)}"

    def _lacking(self) -> list[Package]:
        """Packages without which there is no figure."""
        return [one for one in self.data.packages if one.is_needed]

    def _drawn(self, lacking: Package, say: Speech) -> list[RenderableType]:
        from rich.text import Text

        from ..drawing import sentence

        return [
            Text(),
            sentence(f"? {lacking.module}  {self._place(say, lacking.where)}", "bold yellow"),
            sentence(f"  {lacking.why.render(say.translate)}"),
            sentence(f"  {lacking.why.render_hint(say.translate)}", "green"),
        ]

    def _place(self, say: Speech, where: Place | None) -> str:
        if where is None:
            return ""
        if self.data.is_script:
            return say("line {line}", line=where.line)
        return say("cell {cell}, line {line}", cell=where.cell + 1, line=where.line)

    def _stop(self) -> Message | None:
        """Where the notebook would end with an error."""
        stop = self.data.stop
        return None if stop is None else stop.says(behind=self.data.status == "ok")

    def _opening(self, say: Speech) -> list[RenderableType]:
        """The answer, where the notebook would stop, and what is known of it."""
        from rich.table import Table
        from rich.text import Text

        from ..drawing import sentence

        headline = self.headline(say)
        parts: list[RenderableType] = [sentence(headline, "bold")]
        if second := self._second(say):
            parts.append(sentence(second))
        if stop := self._stop():
            told = stop.render(say.translate)
            parts = [sentence(told, "bold red")] if told == headline else [*parts, Text(), sentence(told, "bold red")]
            parts.append(sentence(stop.render_hint(say.translate), "dim"))
        if known := self._facts(say):
            facts = Table.grid(padding=(0, 2))
            for label, value in known:
                facts.add_row(Text(label, style="dim"), Text(value))
            parts += [Text(), facts]
        return parts

    def rich(self, say: Speech) -> RenderableType:
        """Facts, bars, fit, questions, notes."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from ..drawing import sentence

        parts = self._opening(say)
        if trainings := self._trainings(say):
            listed = Table.grid(padding=(0, 2))
            for training in trainings:
                listed.add_row(*map(Text, training))
            parts += [Text(), Text(self._listed(say), style="bold"), listed]
        if bars := self._parts(say):
            grid = Table.grid(padding=(0, 2))
            for label, amount, share in bars:
                cells = max(1, round(share * BAR_CELLS))
                grid.add_row(Text(label), Text(size(amount), justify="right"), Text("█" * cells, style="cyan"))
            parts += [Text(), grid]
        if verdicts := self._verdicts():
            parts += [Text(), _fit_table(say, verdicts)]
        parts += [sentence(together(*line)) for line in self._decided(say)]
        parts += [sentence(line) for line in self._largest(say)]
        if changes := self._changes(say):
            remedies = Table.grid(padding=(0, 2))
            for change in changes:
                remedies.add_row(*map(Text, change))
            parts += [Text(), Text(say("What would save memory"), style="bold"), remedies]
            parts += [sentence(line, "dim") for line in unsuited(self.data.remedies, say)]
        if self._inside:
            parts += step_view.rich(self.data, say)
        parts += [line for one in self._lacking() for line in self._drawn(one, say)]
        for question in self.data.questions:
            parts.append(Text())
            heading = "  ".join(filter(None, (question.name, self._place(say, question.where))))
            parts.append(sentence(f"? {heading}", "bold yellow"))
            parts.append(sentence(f"  {question.why.render(say.translate)}"))
            if hint := question.why.render_hint(say.translate):
                parts.append(sentence(f"  {hint}", "dim"))
            if answer := self._answer(question):
                parts.append(sentence(f"  {answer}", "green"))
        parts += [_note(say, note) for note in self.data.notes]
        return Group(*parts)

    def html(self, say: Speech) -> str:
        """The same for a cell."""
        stop = self._stop()
        out = [glance.html(self.data, say, self._second(say))]
        if not out[0] and (stop is None or self.data.status == "ok"):
            out = [f"<p><strong>{escape(self.headline(say))}</strong></p>"]
        if stop is not None:
            out.append(f"<p><strong>{markup.message(say, stop)}</strong></p>")
        if known := [(escape(label), escape(value)) for label, value in self._facts(say)]:
            out.append(markup.folded(say("All that is known of it"), markup.table(known)))
        if trainings := self._trainings(say):
            listed = ([escape(cell) for cell in training] for training in trainings)
            out.append(markup.section(self._listed(say), markup.table(listed)))
        if verdicts := self._verdicts():
            head = _fit_head(say)
            fits = [[*map(escape, _fit_row(say, item)), markup.message(say, item.reason)] for item in verdicts]
            out.append(markup.folded(say("Where it fits"), markup.table(fits, head), opened=self.opened))
        for words, option in self._decided(say):
            out.append(f"<p>{escape(words)}{f' <code>{escape(option)}</code>' if option else ''}</p>")
        out += [f"<p>{escape(line)}</p>" for line in self._largest(say)]
        if changes := self._changes(say):
            rows = ([escape(cell) for cell in change] for change in changes)
            out.append(markup.section(say("What would save memory"), markup.table(rows)))
            out += [f"<p><small>{escape(line)}</small></p>" for line in unsuited(self.data.remedies, say)]
        if self._inside:
            out.append(step_view.html(self.data, say))
        for one in self._lacking():
            where = escape(self._place(say, one.where))
            out.append(f"<p><strong>{escape(one.module)}</strong> {where}<br>{markup.message(say, one.why)}</p>")
        for question in self.data.questions:
            where = escape(self._place(say, question.where))
            out.append(
                f"<p><strong>{escape(question.name)}</strong> {where}<br>{markup.message(say, question.why)}"
                + (f"<br><code>{escape(answer)}</code></p>" if (answer := self._answer(question)) else "</p>")
            )
        out += [f"<p>{markup.message(say, note)}</p>" for note in self.data.notes]
        return "".join(out)


def _on_device(figure: Estimate | DeviceFigure, device: str | None, say: Speech) -> str:
    """A figure of a device with its range."""
    peak, device = size(figure.peak_bytes), device or say("a GPU")
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return say("{peak} on {device}", peak=peak, device=device)
    low, high = size(figure.low), size(figure.high)
    return say("{peak} on {device} (between {low} and {high})", peak=peak, device=device, low=low, high=high)


def _fit_table(say: Speech, verdicts: list[Verdict]) -> RenderableType:
    from rich.text import Text

    from ..drawing import FittingTable

    rows = []
    for verdict in verdicts:
        index, device, fit, free = _fit_row(say, verdict)
        reason = verdict.reason.render(say.translate)
        rows.append([Text(index), Text(device), Text(fit, style=_FIT_STYLES[verdict.fit]), Text(free), Text(reason)])
    # Known cards have no number: only those that are here do.
    first = 0 if any(verdict.device_title for verdict in verdicts) else 1
    rows = [row[first:] for row in rows]
    return FittingTable(_fit_head(say)[first:], rows, folding=(4 - first,), title=say("Where it fits"))


def _fit_head(say: Speech) -> tuple[str, ...]:
    return "#", say("Device"), say("Fit"), say("Free"), say("Why")


def _fit_row(say: Speech, verdict: Verdict) -> tuple[str, str, str, str]:
    name = marked(say, verdict.device_name, simulated=verdict.simulated, checked=verdict.checked)
    return verdict.device_title or "–", name, say(_FITS[verdict.fit]), size(verdict.free_bytes)


def _note(say: Speech, note: Message) -> RenderableType:
    from ..drawing import sentence

    return sentence(f"· {together(note.render(say.translate), note.render_hint(say.translate))}", "dim")


_PLACEHOLDERS: dict[QuestionKind, str] = {
    "value": "VALUE",
    "environment": "VALUE",
    "path": "PATH",
    "batch": "float32[...] int64[...]",
}
_WITHOUT = {
    "no_model": "No training of Paddle was found in this notebook.",
    "no_package": "The kernel's Python lacks a package that the training needs.",
    "static_graph": "A static graph trains here, of which there is no figure.",
}
"""The headline where there is no figure, by status."""
_WITHOUT_IN_SCRIPT = _WITHOUT | {"no_model": "No training of Paddle was found in this script."}
_EVIDENCE = {"trace": "traced step", "measured": "small real steps", "scan": "only read"}
_KINDS = {
    "parameters": "Parameters",
    "gradients": "Gradients",
    "optimizer_state": "Optimizer state",
    "activations": "Activations",
    "inputs": "Inputs",
    "workspace": "Workspace",
    "context": "Context",
}
_FITS = {"fits": "fits", "tight": "tight", "short": "not now", "never": "too small", "unknown": "unknown"}
_FIT_STYLES = {"fits": "green", "tight": "yellow", "short": "red", "never": "red", "unknown": "dim"}
