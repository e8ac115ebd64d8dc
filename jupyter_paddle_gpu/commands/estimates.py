"""`estimate`, `fit`, `explain`, `apply`: what a notebook's training takes, and what changes that."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from ..domain.changes import Changes
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.messages import Message
from ..domain.what_ifs import EstimateRequest
from . import options
from .arguments import ENGINE, IMAGE, NOTEBOOK, WHAT, WHAT_OR_JOB, AsTyped, meant, wants_json
from .face import Face, View
from .views import decision as decision_view
from .views.changes import ChangesView, bound_later
from .views.estimate import EstimateView
from .views.explain import ExplainView
from .views.fit import FitView
from .views.match import MatchView


@click.command(cls=AsTyped)
@WHAT
@options.for_estimates
@ENGINE
@IMAGE
@options.json_option
@click.pass_obj
def estimate(face: Face, /, what: tuple[str, ...], engine: str, image: str, **asked: Any) -> View:
    """Say what a training step takes, without running it.

    Exit status: 0 estimated, 3 a question is open, 4 nothing trains, 5 no Paddle, 6 it would stop, 7 a package is
    missing, 8 a static graph that is not followed, 9 it goes no further, 1 or 2 an error.
    """
    request, place = options.request(**asked), {"engine": engine, "image": image}
    if (live := face.live(what, request, **place)) is not None:
        return live
    source = meant(face, what)
    if wants_json():
        with face.working():
            found = face.services.estimate(source, request, **place)
        held = _held(face, what, found)
        return EstimateView(face.services.estimate(source, held(request), **place) if held else found)
    match = partial(face.services.match, source, engine=engine, image=image)
    with face.working():
        matched = match(request)
        if held := _held(face, what, matched.estimate):
            matched = match(held(request))
    while answers := face.answers(matched.estimate):
        request = msgspec.structs.replace(request, answers={**request.answers, **answers})
        with face.working():
            matched = match(request)
    placement = matched.placement
    if not decision_view.is_searched(placement.decision):
        with face.working():
            placement = match(msgspec.structs.replace(request, details=True)).placement
    return EstimateView(matched.estimate, placement, inside=request.details, request=request)


@click.command(cls=AsTyped)
@WHAT
@options.for_fits
@ENGINE
@IMAGE
@options.json_option
@click.pass_obj
def fit(
    face: Face, /, what: tuple[str, ...], accelerators: tuple[str, ...], engine: str, image: str, **asked: Any
) -> View:
    """Find the largest batch that fits each device.

    Each is sought by the training's own steps, so that one sample more would not fit.
    """
    request, place = options.request(**asked), {"engine": engine, "image": image}
    live = face.live_fits(what, request, accelerators, **place)
    if live is not None:
        fitting = live
    else:
        source = meant(face, what)
        with face.working():
            fitting = face.services.fits(source, request, accelerators, **place)
    most = max((fit.largest_batch or 1 for fit in fitting.fits), default=None)
    if most is not None and not wants_json():

        def at(batch: int) -> View:
            asked = msgspec.structs.replace(request, batch_size=batch)
            if live is None or (view := face.live(what, asked, **place)) is None:
                matched = face.services.match(source, asked, engine=engine, image=image)
                view = EstimateView(matched.estimate, matched.placement)
            if isinstance(view, EstimateView):
                view.opened = True
            return view

        face.explore(at, fitting.batch_size or 1, most)
    return FitView(fitting)


@click.command(cls=AsTyped)
@WHAT_OR_JOB
@options.for_estimates
@ENGINE
@IMAGE
@options.json_option
@click.pass_obj
def explain(face: Face, /, what: tuple[str, ...], engine: str, image: str, **asked: Any) -> View:
    """Say why a step takes what it does, or where a job is and why."""
    if len(what) == 1 and face.services.is_job(what[0]):
        return MatchView(face.services.explain_job(what[0]))
    request, place = msgspec.structs.replace(options.request(**asked), details=True), {"engine": engine, "image": image}
    if (live := face.live(what, request, **place)) is not None and isinstance(live, EstimateView):
        return ExplainView(live.data, live.placement)
    if len(what) == 1 and not Path(what[0]).suffix and not Path(what[0]).exists():
        raise PaddleGpuError(
            "neither_notebook_nor_job",
            "“{name}” is neither a notebook nor a job.",
            hint="`jupyter paddle-gpu jobs` lists the jobs; a notebook is named with its ending.",
            status=404,
            name=what[0],
        )
    source = meant(face, what)
    with face.working():
        matched = face.services.match(source, request, engine=engine, image=image)
    return ExplainView(matched.estimate, matched.placement)


@click.command()
@NOTEBOOK
@options.for_jobs
@click.option("--write", is_flag=True, help="Write it into the notebook, instead of only showing it.")
@options.json_option
@click.pass_obj
def apply(face: Face, /, notebook: str | None, write: bool, **asked: Any) -> View:
    """Show what advice changes in the cells, or write it into them.

    Exit status: 0, or 1 where something cannot be changed.
    """
    from ..services import Submission

    source, request = face.source(notebook), options.request(**asked)
    changes = face.services.changes(source, Submission(request=request), runs=True)
    done = face.write(source, changes) if write and changes.difference else ""
    return ChangesView(changes, done, tuple(_unwritten(notebook, request, changes, done)))


def _unwritten(notebook: str | None, request: EstimateRequest, changes: Changes, done: str) -> Iterator[Message]:
    """What is not in the cells although nothing refuses it."""
    if request == EstimateRequest():
        text = "Name what is to change, for example `jupyter paddle-gpu apply {what}`."
        words = shlex.join([*filter(None, [notebook]), "--batch-size", "32"])
        yield Message(code="no_change_named", text=text, params={"what": words})
    if changes.difference and not done:
        yield Message(code="only_shown", text="Nothing is written yet: `--write` writes it into the notebook.")
    yield from bound_later(request, changes)


def _held(face: Face, what: tuple[str, ...], estimate: Estimate) -> Callable[[EstimateRequest], EstimateRequest] | None:
    """Puts what the place holds by the names of open questions into a request; None where it holds nothing of them, or
    where another notebook is meant."""
    held = {} if what or estimate.status != "needs_input" else face.held(estimate)
    return partial(msgspec.structs.replace, held=held) if held else None
